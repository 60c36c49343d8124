import { invoke } from '@postrider/core';
import { workOff } from '@postrider/core/bulk';
import { rollUpFailures } from '@postrider/core/failures';
import { createHold, releaseHold } from '@postrider/core/holds';
import { getMessage } from '@postrider/core/messages';
import { measureQueues, queueNames } from '@postrider/core/queues';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  stage.world.smtp.script(({ to }) =>
    to.endsWith('@slow.test') ? { kind: 'reply', code: 450, text: '4.7.1 come back later' } : { kind: 'accept' },
  );
});
afterAll(() => stage.stop());

describe('an incident', () => {
  it('is found, held, given up and read in its receipts, by keyboard alone', async () => {
    const { world } = stage;
    for (const name of ['ada', 'bob']) await sendMail(stage, { to: `${name}@slow.test` });
    const flows = await sendMail(stage, { to: 'eve@fine.test' });
    const tomorrow = new Date(world.clock.now() + 86_400_000).toISOString();
    const scheduled = await sendMail(stage, { to: 'zoe@slow.test', scheduled_at: tomorrow });
    await world.drain();
    await world.clock.advance(120_000);
    await rollUpFailures(world.services);
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    await page.goto('/');
    await page.getByRole('slider', { name: 'What became of mail' }).waitFor();
    await press('g', 'f');
    await page.getByText('attempts failed in').waitFor();
    await page.getByRole('table', { name: 'What failed alike' }).getByText('slow.test', { exact: true }).waitFor();

    await press('g', 'u');
    const cell = page.getByRole('button', { name: '2 of slow.test, all that waits: actions' });
    // The menu focuses its first item.
    const choose = async (item: string) => {
      // A dialog that closes returns the focus when it is gone.
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await cell.focus();
      await press('Enter');
      await expect.poll(focused).toBe('Show the mail');
      for (let step = 0; step < 4 && (await focused()) !== item; step++) await press('ArrowDown');
      expect(await focused()).toBe(item);
      await press('Enter');
    };
    await choose('Hold');
    await page.getByText('A hold on a destination is for all workspaces.').waitFor();
    await page.getByLabel('Reason').waitFor();
    await page.keyboard.type('Their server is full');
    await press('Enter');
    await page.getByText('slow.test is held.').waitFor();
    await page
      .getByRole('row', { name: /slow\.test/ })
      .getByText('Held')
      .waitFor();

    await world.drain();
    expect((await invoke(world.as(world.workspace_id), getMessage, { id: flows })).status).toBe('delivered');
    await choose('Release');
    await page.getByText('operator@people.test held it: Their server is full').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('rate');
    await press('Control+a');
    await page.keyboard.type('30');
    await press('Enter');
    await page.getByText('slow.test goes on with 30 a minute.').waitFor();

    await choose('Give up');
    await page.getByText('2 items match.').waitFor();
    await page.getByText('Whole mails are given up').waitFor();
    await page.keyboard.type('Too old to be of use');
    await press('Enter');
    await page.waitForURL(/\/operations\/bulk\/\w+$/);
    const bulk_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    for (const turn of [0, 1, 2]) {
      await workOff(world.services, { bulk_id, turn });
      await world.clock.advance(1000);
    }
    await page.getByText('2 of 2 are done.').waitFor();
    const receipts = page.getByRole('table', { name: 'Receipts' });
    await expect.poll(() => receipts.getByRole('row').count()).toBe(3);
    expect((await invoke(world.as(world.workspace_id), getMessage, { id: scheduled })).status).toBe('scheduled');

    await press('g', 'a');
    await page.getByText('bulk.started').waitFor();
    await page.getByRole('button', { name: 'Instance' }).focus();
    await press('Enter');
    await page.getByText('hold.created').waitFor();
    await page.getByText('hold.released').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('says to an admin that only an operator holds a destination', async () => {
    await sendMail(stage, { to: 'ivy@full.test' });
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/backlog');
    await page.getByRole('button', { name: '1 of full.test, all that waits: actions' }).click();
    const menu = page.getByRole('menu', { name: '1 of full.test, all that waits: actions' });

    const hold = menu.getByRole('menuitem', { name: 'Hold', exact: true });
    await hold.getByText('Only an operator of this instance may do this').waitFor();
    await hold.click({ force: true });

    expect(await hold.getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await axeProblems(page, null)).toEqual([]);
    expectQuiet(watched);
    await visitor.stop();
  });

  it('keeps the focus in an open menu when another operator releases the hold', async () => {
    const { world } = stage;
    await sendMail(stage, { to: 'una@menu.test' });
    const operator = world.as(world.workspace_id);
    const { id } = await invoke(operator, createHold, {
      scope: 'destination',
      value: 'menu.test',
      reason: 'Their server is full',
    });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/operations/backlog');
    await page.getByRole('button', { name: '1 of menu.test, all that waits: actions' }).click();
    await page.getByRole('menuitem', { name: 'Release', exact: true }).focus();

    await invoke(operator, releaseHold, { hold_id: id, at_once: true });

    const hold = page.getByRole('menuitem', { name: 'Hold', exact: true });
    await hold.waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Hold');
    await visitor.stop();
  });

  it('limits a destination, shows the limit again, and removes it', async () => {
    await sendMail(stage, { to: 'kim@narrow.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const limits = () => stage.world.services.sql`
      select connections, messages_per_minute from destination_limits where destination = 'narrow.test'`;
    const open = async () => {
      await page.getByRole('button', { name: '1 of narrow.test, all that waits: actions' }).click();
      await page.getByRole('menuitem', { name: 'Limit rate' }).click();
    };
    await page.goto('/operations/backlog');

    await open();
    await page.getByLabel('Emails per minute').fill('30');
    await page.getByRole('button', { name: 'Save limit' }).click();
    await page.getByText('Limit saved for narrow.test').waitFor();
    expect(await limits()).toEqual([{ connections: null, messages_per_minute: 30 }]);

    await open();
    expect(await page.getByLabel('Emails per minute').inputValue()).toBe('30');
    await page.getByLabel('Emails per minute').fill('');
    await page.getByRole('button', { name: 'Save limit' }).click();
    await page.getByText('Limit removed for narrow.test').waitFor();
    expect(await limits()).toEqual([]);
    await visitor.stop();
  });

  it('holds a sending domain in the own workspace alone', async () => {
    await sendMail(stage, { to: 'joe@full.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const cell = page.getByRole('button', { name: /of sandbox\.test, all that waits: actions/ });
    const hold = page.getByRole('menuitem', { name: 'Hold', exact: true });

    await page.goto('/operations/backlog?by=sender_domain&reach=instance');
    await cell.click();
    await hold.getByText('A sending domain is held in its own workspace').waitFor();
    expect(await hold.getAttribute('aria-disabled')).toBe('true');

    await page.goto('/operations/backlog?by=sender_domain');
    await cell.click();
    await hold.click();
    await page.getByRole('dialog', { name: 'Hold sandbox.test' }).waitFor();
    await visitor.stop();
  });

  it('keeps its time in its address', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/operations/incident');
    await page.getByRole('button', { name: 'Keep this time' }).click();
    await page.getByRole('button', { name: 'Follow again' }).waitFor();

    const { searchParams } = new URL(page.url());
    // The clock of the server is ahead of that of the browser here.
    const until = new Date(Date.parse(searchParams.get('until') ?? '') + 600_000).toISOString();
    await page.goto(`/operations/incident?since=${searchParams.get('since')}&until=${until}`);

    await page.getByRole('table', { name: 'What failed alike' }).getByText('slow.test', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'What else happened' }).getByText('slow.test was held').waitFor();
    await visitor.stop();
  });
});

describe('Jobs', () => {
  it('shows a job with its attempts, and why it may not be canceled', async () => {
    const { world } = stage;
    const id = await sendMail(stage, { to: 'grace@slow.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto(`/operations/jobs?subject=${id}`);
    await page.getByRole('link', { name: 'delivery.attempt' }).click();
    const drawer = page.getByRole('dialog', { name: 'delivery.attempt' });
    await drawer.getByText(id).first().waitFor();

    await drawer.getByRole('button', { name: 'Cancel' }).click();

    await drawer.getByText(`It delivers a mail of ${id}`).waitFor();
    await world.drain();
    await visitor.stop();
  });
});

describe('a queue', () => {
  it('is held, released and changed on its page, which marks each in its history', async () => {
    const { world } = stage;
    await world.services.sql`update sessions set authenticated_at = clock_now()`;
    await measureQueues(world.services.sql, queueNames, 0);
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/queues');
    await page.getByRole('link', { name: 'webhook.close' }).click();
    await page.getByRole('slider', { name: 'How many wait' }).waitFor();
    await page.getByRole('button', { name: 'Hold', exact: true }).click();
    await page.getByLabel('Reason').fill('Their side is down');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByText('operator@people.test holds it: Their side is down').waitFor();

    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
    await page.getByText('webhook.close goes on.').waitFor();
    await page.getByRole('button', { name: 'Change concurrency' }).click();
    await page.getByLabel('Jobs at once').fill('7');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('webhook.close runs up to 7 at once').waitFor();

    await page.reload();
    const marks = page.getByRole('table', { name: 'What people did in this time' });
    for (const text of ['Held', 'Hold released', 'Concurrency changed'])
      await marks.getByText(text, { exact: true }).waitFor();
    const chart = page.getByRole('slider', { name: 'How many wait' });
    await chart.press('End');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain('Hold released');
    expectQuiet(watched);
    await visitor.stop();
  });
});

describe('Storage', () => {
  it('says what a mail takes, what each table takes, and what is kept without limit', async () => {
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/storage');

    await page.getByText('A mail takes').waitFor();
    await page.getByRole('table', { name: 'Tables' }).getByText('messages', { exact: true }).waitFor();
    await page.getByText('Set RETENTION_MESSAGES in the environment').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });
});

describe('people and workspaces', () => {
  it('a plan is made, changed and deleted, and not while a workspace is on it', async () => {
    await stage.world.services.sql`update sessions set authenticated_at = clock_now()`;
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/workspaces?open=plan');
    await page.getByLabel('Name').fill('campus');
    await page.getByLabel('Mails per month').fill('50000');
    await page.getByRole('button', { name: 'Make the plan' }).click();
    await page.getByText('The plan campus can be given to workspaces.').waitFor();
    const plans = page.getByRole('table', { name: 'Plans' });
    await plans
      .getByRole('row', { name: /campus/ })
      .getByText('50,000')
      .waitFor();

    await page.getByRole('button', { name: 'Actions for the plan campus' }).click();
    await page.getByRole('menuitem', { name: 'Change limits' }).click();
    await page.getByLabel('Mails per month').fill('');
    await page.getByLabel('Requests/min, all keys').fill('600');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await plans
      .getByRole('row', { name: /campus/ })
      .getByText('no limit')
      .waitFor();
    const stored = await stage.world.services.sql`select workspace_rate from plans where name = 'campus'`;
    expect(stored).toEqual([{ workspace_rate: 600 }]);
    await page.getByRole('button', { name: 'Actions for the plan campus' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the plan' }).click();
    await page.getByText('The plan campus is deleted.').waitFor();
    expectQuiet(watched);

    await page.goto('/operations/workspaces?open=delete&plan=business');
    await page.getByRole('button', { name: 'Delete the plan' }).click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'put them on another plan first' }).waitFor();
    await visitor.stop();
  });

  it('a workspace is made with a key shown once, and put on another plan', async () => {
    await stage.world.services.sql`update sessions set authenticated_at = clock_now()`;
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/workspaces?open=new');
    await page.getByLabel('Name').fill('Shop');
    await page.getByRole('button', { name: 'Make the workspace' }).click();
    const secret = await page.getByRole('region', { name: 'the first key' }).innerText();
    await page.getByLabel('I have stored the key').check();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Actions for Shop' }).click();
    await page.getByRole('menuitemradio', { name: 'Put on the plan business' }).click();

    await page.getByText('Shop is on the plan business').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('an operator is added with a link shown once, and removed', async () => {
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/operators?open=new');
    await page.getByLabel('Email address').fill('second@people.test');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    expect(await page.getByRole('region', { name: 'the first sign-in' }).innerText()).toContain('/login/link/');
    await page.getByLabel('I have handed it over').check();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Remove second@people.test' }).click();
    await page.getByRole('button', { name: 'Remove the operator' }).click();

    await page.getByText('second@people.test is no operator any more.').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });
});

describe('Find', () => {
  it('leads from an id, a subject and a tag to the thing', async () => {
    const id = await sendMail(stage, { subject: 'Quarterly figures', tags: ['finance'] });
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await page.goto('/');
    for (const text of [id, 'Quarterly']) {
      await page.getByRole('navigation').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill(text);
      await page.getByRole('option', { name: 'Quarterly figures' }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/emails/${id}`);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('finance');
    await page.getByRole('option', { name: /finance/ }).click();

    await page.waitForURL('**/emails?q=tag*');
    await page.getByRole('link', { name: 'Quarterly figures' }).waitFor();
    await visitor.stop();
  });
});

describe('the dock', () => {
  it('shows events as they happen over any page, and asks GraphQL without a key', async () => {
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/domains');
    await page.getByRole('heading', { name: 'Domains' }).waitFor();
    await page.keyboard.press('Control+j');
    const dock = page.getByRole('complementary', { name: 'Dock' });
    await dock.getByRole('tab', { name: 'Events' }).waitFor();
    const id = await sendMail(stage, { subject: 'Seen below' });
    await dock.getByRole('link', { name: id }).first().waitFor();

    await dock.getByRole('tab', { name: 'GraphQL' }).click();
    await dock.getByRole('button', { name: 'Run' }).click();

    await dock.getByText('Seen below').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('pr_sess_');
    await page.keyboard.press('Control+j');
    await dock.waitFor({ state: 'detached' });
    expectQuiet(watched);
    await visitor.stop();
  });
});
