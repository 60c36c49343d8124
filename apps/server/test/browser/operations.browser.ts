import { type ActorContext, invoke } from '@postrider/core';
import { recordAudit } from '@postrider/core/audit';
import { workOff } from '@postrider/core/bulk';
import { rollUpFailures } from '@postrider/core/failures';
import { createHold, releaseHold } from '@postrider/core/holds';
import { getMessage } from '@postrider/core/messages';
import { measureQueues, queueNames } from '@postrider/core/queues';
import { words as api } from '@postrider/dashboard/strings/api';
import { words as domains } from '@postrider/dashboard/strings/pages/domains';
import { words as backlog } from '@postrider/dashboard/strings/pages/operations/backlog';
import { words as bulk } from '@postrider/dashboard/strings/pages/operations/bulk';
import { words as holds } from '@postrider/dashboard/strings/pages/operations/holds';
import { words as incident } from '@postrider/dashboard/strings/pages/operations/incident';
import { words as jobs } from '@postrider/dashboard/strings/pages/operations/jobs';
import { words as operators } from '@postrider/dashboard/strings/pages/operations/operators';
import { words as queues } from '@postrider/dashboard/strings/pages/operations/queues';
import { words as storage } from '@postrider/dashboard/strings/pages/operations/storage';
import { words as workers } from '@postrider/dashboard/strings/pages/operations/workers';
import { words as workspaces } from '@postrider/dashboard/strings/pages/operations/workspaces';
import { words as audit } from '@postrider/dashboard/strings/pages/settings/audit';
import { words as members } from '@postrider/dashboard/strings/pages/settings/members';
import { words as stats } from '@postrider/dashboard/strings/pages/stats';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { words as dock } from '@postrider/dashboard/strings/shell/dock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';
import { anyCount, wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  stage.world.smtp.script(({ to }) =>
    to.endsWith('@slow.test') ? { kind: 'reply', code: 450, text: '4.7.1 come back later' } : { kind: 'accept' },
  );
});
afterAll(() => stage.stop());

describe('an incident', () => {
  it('can be handled by keyboard alone: find, hold, give up, and verify the receipts', async () => {
    const { world } = stage;
    for (const name of ['ada', 'bob']) await sendMail(stage, { to: `${name}@slow.test` });
    const flows = await sendMail(stage, { to: 'eve@fine.test' });
    const tomorrow = new Date(world.clock.now() + 86_400_000).toISOString();
    const scheduled = await sendMail(stage, { to: 'zoe@slow.test', scheduled_at: tomorrow });
    await world.drain();
    await world.clock.advance(120_000);
    await rollUpFailures(world.services);
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    await page.goto('/');
    await page.getByRole('slider', { name: stats.mail }).waitFor();
    await press('g', 'i');
    await page.getByRole('heading', { name: incident.title }).waitFor();
    await page.getByRole('table', { name: incident.groups }).getByText('slow.test', { exact: true }).waitFor();

    await press('g', 'b');
    const cell = page.getByRole('button', { name: backlog.cell(2, 'slow.test', backlog.menu.all) });
    // The menu focuses its first item.
    const choose = async (item: string) => {
      // A closing dialog returns the focus once it is hidden.
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await cell.focus();
      await press('Enter');
      await expect.poll(focused).toBe(backlog.menu.show);
      for (let step = 0; step < 4 && (await focused()) !== item; step++) await press('ArrowDown');
      expect(await focused()).toBe(item);
      await press('Enter');
    };
    await choose(backlog.menu.hold);
    await page.getByText(holds.creating.mailAbout(true)).waitFor();
    await page.getByLabel(parts.reason.label).waitFor();
    await page.keyboard.type('Their server is full');
    await press('Enter');
    await page.getByText(holds.creating.done('slow.test')).waitFor();
    await page
      .getByRole('row', { name: /slow\.test/ })
      .getByText(backlog.held)
      .waitFor();

    await world.drain();
    expect((await invoke(world.as(world.workspace_id), getMessage, { id: flows })).status).toBe('delivered');
    await choose(backlog.menu.release);
    await page.getByText(holds.releasing.about(2, 'Their server is full', 'operator@people.test')).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('rate');
    await press('Control+a');
    await page.keyboard.type('30');
    await press('Enter');
    await page.getByText(holds.releasing.ramped('slow.test', 30)).waitFor();

    await choose(backlog.menu.give_up);
    await page.getByText(bulk.dialog.matched('2', true)).waitFor();
    await page.getByText(bulk.dialog.entireEmails).waitFor();
    await page.keyboard.type('Too old to be of use');
    await press('Enter');
    await page.waitForURL(/\/delivery\/bulk-actions\/\w+$/);
    const bulk_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    for (const turn of [0, 1, 2]) {
      await workOff(world.services, { bulk_id, turn });
      await world.clock.advance(1000);
    }
    await page.getByText(bulk.detail.answer(2, 2, true)).waitFor();
    const receipts = page.getByRole('table', { name: bulk.detail.receipts });
    await expect.poll(() => receipts.getByRole('row').count()).toBe(3);
    expect((await invoke(world.as(world.workspace_id), getMessage, { id: scheduled })).status).toBe('scheduled');

    await press('g', 'a');
    await page.getByRole('table').getByText(audit.actions['bulk.started']).waitFor();
    await page.goto('/instance/audit-log');
    await page.getByRole('table').getByText(audit.actions['hold.created']).waitFor();
    await page.getByRole('table').getByText(audit.actions['hold.released']).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('shows an admin that only an operator can hold a destination', async () => {
    await sendMail(stage, { to: 'ivy@full.test' });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/delivery/backlog');
    await page.getByRole('button', { name: backlog.cell(1, 'full.test', backlog.menu.all) }).click();
    const menu = page.getByRole('menu', { name: backlog.cell(1, 'full.test', backlog.menu.all) });

    const hold = menu.getByRole('menuitem', { name: backlog.menu.hold, exact: true });
    await hold.getByText(api.refusal(api.rolesWith.operator, api.instance, 'admin')).waitFor();
    await hold.click({ force: true });

    expect(await hold.getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await axeProblems(page, null)).toEqual([]);
    expectQuiet(tab);
    await visitor.stop();
  });

  it('keeps focus in an open menu when another operator releases the hold', async () => {
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
    await page.goto('/delivery/backlog');
    await page.getByRole('button', { name: backlog.cell(1, 'menu.test', backlog.menu.all) }).click();
    await page.getByRole('menuitem', { name: backlog.menu.release, exact: true }).focus();

    await invoke(operator, releaseHold, { hold_id: id, at_once: true });

    const hold = page.getByRole('menuitem', { name: backlog.menu.hold, exact: true });
    await hold.waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe(backlog.menu.hold);
    await visitor.stop();
  });

  it('can be contained with a destination limit, which is shown again and then removed', async () => {
    await sendMail(stage, { to: 'kim@narrow.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const limits = () => stage.world.services.sql`
      select connections, messages_per_minute from destination_limits where destination = 'narrow.test'`;
    const open = async () => {
      await page.getByRole('button', { name: backlog.cell(1, 'narrow.test', backlog.menu.all) }).click();
      await page.getByRole('menuitem', { name: backlog.menu.limit }).click();
    };
    await page.goto('/delivery/backlog');

    await open();
    await page.getByLabel(backlog.limiting.rate).fill('30');
    await page.getByRole('button', { name: backlog.limiting.submit }).click();
    await page.getByText(backlog.limiting.done('narrow.test')).waitFor();
    expect(await limits()).toEqual([{ connections: null, messages_per_minute: 30 }]);

    await page
      .getByRole('listitem')
      .filter({ hasText: backlog.limits.rate(30) })
      .waitFor();
    await page.getByRole('button', { name: backlog.limits.changeOf('narrow.test') }).click();
    expect(await page.getByLabel(backlog.limiting.rate).inputValue()).toBe('30');
    await page.getByLabel(backlog.limiting.rate).fill('');
    await page.getByRole('button', { name: backlog.limiting.submit }).click();
    await page.getByText(backlog.limiting.removed('narrow.test')).waitFor();
    expect(await limits()).toEqual([]);
    await page.getByText(backlog.limits.none).waitFor();

    await page.getByRole('button', { name: backlog.limits.create }).click();
    await page.getByLabel(backlog.limits.destination, { exact: true }).fill('narrow.test');
    await page.getByLabel(backlog.limiting.connections).fill('2');
    await page.getByRole('button', { name: backlog.limiting.submit }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: backlog.limits.connections(2) })
      .waitFor();
    expect(await limits()).toEqual([{ connections: 2, messages_per_minute: null }]);

    // A new limit without a number is rejected, and removes none.
    await page.getByRole('button', { name: backlog.limits.create }).click();
    await page.getByLabel(backlog.limits.destination, { exact: true }).fill('narrow.test');
    await page.getByRole('button', { name: backlog.limiting.submit }).click();
    await page.getByText('Set connections, messages_per_minute or both.').waitFor();
    expect(await limits()).toEqual([{ connections: 2, messages_per_minute: null }]);
    await visitor.stop();
  });

  it('can be contained with a hold on a sending domain in a single workspace', async () => {
    await sendMail(stage, { to: 'joe@full.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const cell = page.getByRole('button', {
      name: anyCount((count) => backlog.cell(count, 'sandbox.test', backlog.menu.all)),
    });
    const hold = page.getByRole('menuitem', { name: backlog.menu.hold, exact: true });

    await page.goto('/instance/delivery/backlog?by=sender_domain');
    await cell.click();
    await hold.getByText(backlog.menu.ownDomain).waitFor();
    expect(await hold.getAttribute('aria-disabled')).toBe('true');

    await page.goto('/delivery/backlog?by=sender_domain');
    await cell.click();
    await hold.click();
    await page.getByRole('dialog', { name: holds.creating.titleOf('sandbox.test') }).waitFor();
    await visitor.stop();
  });

  it('changes to the instance without an error while the next page loads', async () => {
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/delivery/backlog');
    await page.getByRole('heading', { level: 1, name: backlog.title }).waitFor();

    await page.getByRole('button', { name: wordsAround(shell.workspace.menu) }).click();
    await page.getByRole('menuitemradio', { name: shell.instance }).click();
    await page.waitForURL('**/instance/status');

    expectQuiet(tab);
    await visitor.stop();
  });

  it('stores its time range in the URL', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/delivery/incidents');
    await page.getByRole('button', { name: incident.fix }).click();
    await page.getByRole('button', { name: incident.moving }).waitFor();

    const { searchParams } = new URL(page.url());
    // The server's clock is ahead of the browser's here.
    const until = new Date(Date.parse(searchParams.get('until') ?? '') + 600_000).toISOString();
    const { world } = stage;
    const ctx = world.as(world.workspace_id) as ActorContext;
    await world.services.sql.begin((tx) =>
      recordAudit(tx, ctx, [
        { action: 'message.content_read', target_id: 'em_read' },
        { action: 'message.retried', target_id: 'em_retried' },
      ]),
    );
    await page.goto(`/delivery/incidents?since=${searchParams.get('since')}&until=${until}`);

    await page.getByRole('table', { name: incident.groups }).getByText('slow.test', { exact: true }).waitFor();
    await page
      .getByRole('table', { name: incident.happened })
      .getByText(incident.held('slow.test', 'Their server is full'))
      .waitFor();
    const changes = page.getByRole('table', { name: incident.happened });
    await changes.getByText(`${audit.actions['message.retried']} · em_retried`).waitFor();
    expect(await changes.getByText(audit.actions['message.content_read']).count()).toBe(0);
    await visitor.stop();
  });
});

describe('the Jobs page', () => {
  it("shows a job's attempts, and why the job cannot be canceled", async () => {
    const { world } = stage;
    const id = await sendMail(stage, { to: 'grace@slow.test' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto(`/instance/jobs?subject=${id}`);
    await page.getByRole('link', { name: 'delivery.attempt' }).click();
    const drawer = page.getByRole('dialog', { name: 'delivery.attempt' });
    await drawer.getByText(id).first().waitFor();

    await drawer.getByRole('button', { name: jobs.detail.cancel }).click();

    await drawer.getByText(`This job delivers ${id}`).waitFor();
    await world.drain();
    await visitor.stop();
  });
});

describe('the job filters', () => {
  it('are shown as chips that can be removed, above jobs with their attempts and payload', async () => {
    const { sql } = stage.world.services;
    await sql`
      insert into pgboss.job (name, data, state, retry_count, started_on, completed_on)
      values ('erasure.run', '{"turn": 3}', 'completed', 0, pgboss.job_now(), pgboss.job_now())`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/jobs?queue=erasure.run&state=completed');
    const row = page.getByRole('row', { name: /erasure\.run/ });
    await row.getByRole('cell').nth(2).getByText('turn 3').waitFor();
    expect(await row.getByRole('cell').nth(3).innerText()).toBe('1');

    const remove = (name: string) => page.getByRole('button', { name: parts.filters.remove(name), exact: true });
    await remove(jobs.chips.state(jobs.states.completed)).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?queue=erasure.run');
    await remove(jobs.chips.queue('erasure.run')).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the Workers page', () => {
  it('shows how to start a worker while none runs, and then each worker with links to its jobs', async () => {
    const { sql } = stage.world.services;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/workers');
    await page.getByText(workers.workers.start.command).waitFor();

    const id = '00000000-0000-4000-8000-000000000001';
    await sql`
      insert into pgboss.instance (id, name, host, pid, version, node_version, heartbeat_seconds, supervise, schedule,
        migrate, persist_queue_stats, persist_warnings, heartbeat_on)
      values (${id}, 'worker-1', 'host-a', 7, '12', '26', 60, true, true, true, true, true, pgboss.job_now())`;
    await sql`
      insert into worker_queues (worker_id, queue, active, concurrency, job_ids, noted_at)
      values (${id}, 'delivery.attempt', 34, 600, '{}', clock_now())`;
    await page.getByText(workers.workers.answer.some(1, 34, 0)).waitFor();
    await page.getByRole('link', { name: 'worker-1' }).click();
    const drawer = page.getByRole('dialog', { name: 'worker-1' });
    await drawer.getByText('host-a').waitFor();
    await drawer.getByRole('link', { name: 'delivery.attempt' }).click();

    await page.waitForURL(/\/instance\/jobs\?queue=delivery\.attempt&state=active$/);
    expectQuiet(tab);
    await sql`delete from worker_queues where worker_id = ${id}`;
    await sql`delete from pgboss.instance where id = ${id}`;
    await visitor.stop();
  });
});

describe('the Schedules page', () => {
  it('shows the purpose, the next runs and the last run of a schedule', async () => {
    const { sql } = stage.world.services;
    const [job] = await sql<{ id: string }[]>`
      insert into pgboss.job (name, data, state, started_on, completed_on)
      values ('numbers.roll_up', '{}', 'completed', pgboss.job_now() - interval '1.5 seconds', pgboss.job_now())
      returning id`;
    await sql`update pgboss.schedule set last_job_id = ${job?.id ?? null} where name = 'numbers.roll_up'`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/schedules');
    const row = page.getByRole('row', { name: /numbers\.roll_up/ });
    await row.getByText(jobs.states.completed).waitFor();
    await row.getByText('1.5 s').waitFor();
    await row.getByText(workers.schedules.purposes['numbers.roll_up']).waitFor();
    await row.getByRole('link', { name: 'numbers.roll_up' }).click();
    const drawer = page.getByRole('dialog', { name: 'numbers.roll_up' });
    await drawer.getByText('* * * * * UTC').waitFor();
    // The last run and the next three.
    await expect.poll(() => drawer.locator('time').count()).toBe(7);

    await drawer.getByRole('link', { name: workers.schedules.jobs }).click();
    await page.waitForURL(/\/instance\/jobs\?queue=numbers\.roll_up$/);
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('a queue', () => {
  it('can be held, released and changed on its page, with each action marked in its history', async () => {
    const { world } = stage;
    await world.services.sql`update sessions set authenticated_at = clock_now()`;
    await measureQueues(world.services.sql, queueNames, 0);
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/queues');
    await page.getByRole('link', { name: 'webhook.close' }).click();
    await page.getByRole('slider', { name: queues.detail.depth }).waitFor();
    await page.getByRole('button', { name: queues.hold, exact: true }).click();
    await page.getByLabel(parts.reason.label).fill('Their side is down');
    await page.getByRole('dialog').getByRole('button', { name: holds.creating.submit }).click();
    await page.getByText(queues.detail.held('operator@people.test', 'Their side is down')).waitFor();

    await page.getByRole('button', { name: queues.resume }).click();
    await page.getByRole('dialog').getByRole('button', { name: holds.releasing.submit }).click();
    await page.getByText(holds.released('webhook.close')).waitFor();
    await page.getByRole('button', { name: queues.detail.change }).click();
    await page.getByLabel(queues.detail.setting.label).fill('7');
    await page.getByRole('dialog').getByRole('button', { name: queues.detail.setting.submit }).click();
    await page.getByText(queues.detail.setting.done('webhook.close', 7)).waitFor();

    await page.reload();
    const marks = page.getByRole('table', { name: queues.detail.marks });
    for (const text of [queues.detail.created, queues.detail.released, queues.detail.actions['queue.concurrency_set']])
      await marks.getByText(text, { exact: true }).waitFor();
    const chart = page.getByRole('slider', { name: queues.detail.depth });
    await chart.press('End');
    await expect.poll(() => chart.getAttribute('aria-valuetext')).toContain(queues.detail.released);
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the Storage page', () => {
  it('shows the size of an email and of each table, and any data retained without limit', async () => {
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/storage');

    await page.getByText(storage.figures.perEmail).waitFor();
    await page.getByRole('table', { name: storage.tables }).getByText('messages', { exact: true }).waitFor();
    await page.getByText(storage.always.setting('RETENTION_MESSAGES')).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('instance administration', () => {
  it('creates, changes and deletes a plan, unless a workspace uses it', async () => {
    await stage.world.services.sql`update sessions set authenticated_at = clock_now()`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/plans?open=plan');
    await page.getByLabel(workspaces.plans.name).fill('campus');
    await page.getByLabel(workspaces.plans.columns.monthly).fill('50000');
    await page.getByRole('dialog').getByRole('button', { name: workspaces.plans.submitNew }).click();
    await page.getByText(workspaces.plans.made('campus')).waitFor();
    const plans = page.getByRole('table', { name: workspaces.plans.title });
    await plans
      .getByRole('row', { name: /campus/ })
      .getByText('50,000')
      .waitFor();

    await page.getByRole('button', { name: workspaces.plans.actions('campus') }).click();
    await page.getByRole('menuitem', { name: workspaces.plans.edit }).click();
    await page.getByLabel(workspaces.plans.columns.monthly).fill('');
    await page.getByLabel(workspaces.plans.workspaceRate).fill('600');
    await page.getByRole('button', { name: workspaces.plans.submit, exact: true }).click();
    await plans
      .getByRole('row', { name: /campus/ })
      .getByText(workspaces.unlimited)
      .waitFor();
    const stored = await stage.world.services.sql`select workspace_rate from plans where name = 'campus'`;
    expect(stored).toEqual([{ workspace_rate: 600 }]);
    await page.getByRole('button', { name: workspaces.plans.actions('campus') }).click();
    await page.getByRole('menuitem', { name: workspaces.plans.remove }).click();
    await page.getByRole('button', { name: workspaces.plans.removing.submit }).click();
    await page.getByText(workspaces.plans.removed('campus')).waitFor();
    expectQuiet(tab);

    await page.goto('/instance/plans?open=delete&plan=business');
    await page.getByRole('button', { name: workspaces.plans.removing.submit }).click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'Move them to another plan first' }).waitFor();
    await visitor.stop();
  });

  it('creates a workspace with a key shown once, and moves it to another plan', async () => {
    await stage.world.services.sql`update sessions set authenticated_at = clock_now()`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/workspaces?open=new');
    await page.getByLabel(workspaces.creating.name).fill('Shop');
    await page.getByRole('dialog').getByRole('button', { name: workspaces.creating.submit }).click();
    const secret = await page.getByRole('region', { name: parts.texts.firstKey }).innerText();
    await page.getByLabel(workspaces.secret.stored).check();
    await page.getByRole('button', { name: workspaces.secret.done }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: workspaces.actions('Shop') }).click();
    await page.getByRole('menuitemradio', { name: workspaces.setPlan('business') }).click();

    await page.getByText(workspaces.planSet('Shop', 'business')).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('lists a workspace with its members and usage, and opens it', async () => {
    const { world } = stage;
    const { workspace_id } = await world.workspace('free');
    await stage.visitor('admin').then((member) => member.stop());
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/workspaces');
    const row = (id: string) => page.locator(`tr[data-row="${id}"]`);
    await row(workspace_id).getByRole('meter').waitFor();
    const [own] = await world.services.sql<{ count: string }[]>`
      select count(*)::text as count from members where workspace_id = ${world.workspace_id}`;
    await row(world.workspace_id)
      .getByRole('cell', { name: own?.count ?? '', exact: true })
      .waitFor();

    await row(workspace_id).getByRole('link').click();
    await page.waitForURL(`**/w/${workspace_id}`);
    expectQuiet(tab);
    await visitor.stop();
  });

  it('invites an operator with a link shown once, and then revokes the invitation', async () => {
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/operators?open=new');
    await page.getByLabel(operators.adding.email).fill('second@people.test');
    await page.getByRole('dialog').getByRole('button', { name: operators.adding.submit }).click();
    expect(await page.getByRole('region', { name: parts.texts.firstSignIn }).innerText()).toContain(
      '/login/invitation/',
    );
    await page.getByLabel(members.sent.stored).check();
    await page.getByRole('button', { name: members.sent.done }).click();
    await page.getByRole('button', { name: members.pending.actions('second@people.test') }).click();
    await page.getByRole('menuitem', { name: members.pending.revoke }).click();
    await page.getByRole('button', { name: members.pending.revoking.submit, exact: true }).click();

    await page.getByText(members.pending.revoking.done('second@people.test')).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the Find box', () => {
  it('leads from an id, a subject and a tag to the matching object', async () => {
    const id = await sendMail(stage, { subject: 'Quarterly figures', tags: ['finance'] });
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await page.goto('/');
    for (const text of [id, 'Quarterly']) {
      await page.getByRole('navigation', { name: shell.menu }).waitFor();
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
  it('shows events as they happen on any page, and runs GraphQL queries without a key', async () => {
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/domains');
    await page.getByRole('heading', { name: domains.title }).waitFor();
    await page.keyboard.press('Control+j');
    const panel = page.getByRole('complementary', { name: dock.title });
    await panel.getByRole('tab', { name: dock.tabs.events }).waitFor();
    const id = await sendMail(stage, { subject: 'Seen below' });
    await panel.getByRole('link', { name: id }).first().waitFor();

    await panel.getByRole('tab', { name: dock.tabs.graphql }).click();
    await panel.getByRole('button', { name: dock.graphql.run }).click();

    await panel.getByText('Seen below').waitFor();
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('pr_sess_');
    await page.keyboard.press('Control+j');
    await panel.waitFor({ state: 'detached' });
    expectQuiet(tab);
    await visitor.stop();
  });
});
