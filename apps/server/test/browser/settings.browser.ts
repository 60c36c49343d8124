import { newId } from '@postrider/core';
import { runErasure } from '@postrider/core/erasures';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('A domain', () => {
  it('gets a second signature with a record of its own, and loses it', async () => {
    await stage.world.domain('acme.test');
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/domains/acme.test');

    await page.getByRole('button', { name: 'Turn on Ed25519' }).click();
    await page.getByRole('button', { name: 'Turn off Ed25519' }).waitFor();
    await page.getByText('pr1-ed25519._domainkey').first().waitFor();
    await page.getByRole('button', { name: 'Turn off Ed25519' }).click();
    await page.getByRole('button', { name: 'Turn on Ed25519' }).waitFor();

    expectQuiet(watched);
    await visitor.stop();
  });
});

describe('The account', () => {
  it('gets another password, with which it signs in again', async () => {
    const { sql } = stage.world.services;
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('needs at least 10 characters').waitFor();
    await page.getByLabel('New password').fill('correct horse: battery');
    await page.getByRole('button', { name: 'Change password' }).click();

    await page.getByLabel('Email address').fill('member@people.test');
    await page.getByLabel('Password').fill('correct horse: battery');
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Account' }).waitFor();
    const [entry] = await sql`select action from audit_log where action = 'user.password_changed'`;
    expect(entry).toBeDefined();
    await visitor.stop();
  });
});

describe('Settings', () => {
  it('renames the workspace, and shows its plan and its month', async () => {
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/workspace');
    await page.getByText('Recipients of one mail').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Acme Ltd');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The workspace is changed.').waitFor();

    await page.getByRole('button', { name: 'Acme Ltd: switch workspace' }).waitFor();
    await page.reload();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Acme Ltd');
    expect(await page.getByRole('button', { name: 'Stop', exact: true }).getAttribute('aria-pressed')).toBe('true');
    expectQuiet(watched);
    await visitor.stop();
  });

  it('shows how long what is kept, and whether mail is captured', async () => {
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/workspace');

    const kept = page.getByRole('table', { name: 'Retention' });
    await kept.getByRole('row', { name: /Mail .*without limit RETENTION_MESSAGES/ }).waitFor();
    await kept.getByRole('row', { name: /Captured mail .*7 d RETENTION_CAPTURES/ }).waitFor();
    await page.getByText('Mail is captured: it ends in the test inbox').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('erases an address that is typed twice, and shows a receipt without it', async () => {
    const { world } = stage;
    await sendMail(stage, { to: 'forget@example.com' });
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/erasures');
    await page.getByRole('button', { name: 'Erase an address' }).click();
    await page.getByLabel('Address', { exact: true }).fill('forget@example.com');
    await page.getByLabel('The same address again').fill('other@example.com');
    await page.getByRole('button', { name: 'Erase it' }).click();
    await page.getByText('The two addresses differ.').waitFor();
    await page.getByLabel('The same address again').fill('forget@example.com');
    await page.getByRole('button', { name: 'Erase it' }).click();
    const receipt = page.getByRole('dialog', { name: 'Receipt of an erasure' });
    await receipt.getByText('Queued').waitFor();

    await runErasure(world.services, { erasure_id: new URL(page.url()).searchParams.get('open') ?? '' });

    await receipt.getByText('Completed').waitFor();
    await receipt.getByRole('row', { name: 'Recipients 1' }).waitFor();
    await receipt.getByText('backups, replicas and log files').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 address was erased.').waitFor();
    expect(await page.content()).not.toContain('forget@example.com');
    expectQuiet(watched);
    await visitor.stop();
  });

  it('invites a person with a link shown once, changes their role, and removes them', async () => {
    const visitor = await stage.visitor('admin');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/members');
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email address').fill('not an address');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    watched.problems.splice(0);
    await page.getByLabel('Email address').fill('grace@people.test');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    const link = await page.getByRole('region', { name: 'the first sign-in' }).innerText();
    expect(link).toContain('/login/link/');
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText('Hand it over first').waitFor();
    await page.getByLabel('I have handed it over').check();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(link);

    await page.getByRole('button', { name: 'Actions for grace@people.test' }).click();
    await page.getByRole('menuitem', { name: 'Make viewer' }).click();
    await page.getByText('grace@people.test is viewer now').waitFor();
    await page.getByRole('button', { name: 'Actions for grace@people.test' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Remove the member' }).click();
    await page.getByText('grace@people.test has no access any more.').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('says where notices of alarms go, and what is wrong with an address', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/settings/alarms');
    await page.getByText('No notice of an alarm is sent yet').waitFor();
    await page.getByLabel('Email addresses').fill('ada');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('ada is not one address').waitFor();
    await page.getByLabel('Email addresses').fill('ops@example.com');
    await page.getByRole('button', { name: 'Save' }).click();

    await page.getByText('Notices of alarms go to ops@example.com.').waitFor();
    await visitor.stop();
  });

  it('shows a viewer the month, and who may change the workspace', async () => {
    const visitor = await stage.visitor('viewer');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/workspace');

    await page.getByText('Only an admin of the workspace sees its plan').waitFor();
    await page.getByRole('slider', { name: 'This month' }).waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });
});

describe('Health', () => {
  it('tells what does not work, and acknowledges an alarm', async () => {
    const { sql, clock } = stage.world.services;
    await sql`
      insert into alarms (id, workspace_id, rule, subject, status, value, detail, page, seen_since, started_at)
      values (${newId('alarm', clock.now())}, no_id(), 'queue_waits', 'delivery.attempt', 'active', 400,
        'The oldest job waits for 400 s.', '/operations/queues', clock_now(), clock_now())`;
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/health');
    await page
      .getByRole('table', { name: 'Machine, database and network' })
      .getByText('migrations', { exact: true })
      .waitFor();
    await page.getByRole('table', { name: 'Mail and workspace' }).getByText('Delivery', { exact: true }).waitFor();
    const alarms = page.getByRole('table', { name: 'Alarms' });
    await alarms.getByText('The oldest job waits for 400 s.').waitFor();

    await alarms.getByRole('button', { name: 'Acknowledge' }).click();

    await page.getByText('No further reminder is sent').waitFor();
    await alarms.getByText('operator@people.test').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('leads from an alarm to its page as the alarm names it, with what is chosen there', async () => {
    const { sql, clock } = stage.world.services;
    const named = '/operations/jobs?queue=delivery.attempt&state=dead';
    await sql`
      insert into alarms (id, workspace_id, rule, subject, status, value, detail, page, seen_since, started_at)
      values (${newId('alarm', clock.now())}, no_id(), 'dead_jobs', 'delivery.attempt', 'active', 3,
        '3 jobs are dead.', ${named}, clock_now(), clock_now())`;
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/operations/health');
    const row = page.getByRole('table', { name: 'Alarms' }).getByRole('row', { name: /3 jobs are dead/ });

    await row.getByRole('link').click();

    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    const { pathname, search } = new URL(page.url());
    expect(pathname + search).toBe(named);
    expectQuiet(watched);
    await visitor.stop();
  });
});
