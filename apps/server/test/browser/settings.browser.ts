import { readFile } from 'node:fs/promises';
import { type ActorContext, invoke, newId } from '@postrider/core';
import { createKey } from '@postrider/core/api-keys';
import { recordAudit } from '@postrider/core/audit';
import { runErasure } from '@postrider/core/erasures';
import { words as domains } from '@postrider/dashboard/strings/pages/domains';
import { words as health } from '@postrider/dashboard/strings/pages/operations/health';
import { words as jobs } from '@postrider/dashboard/strings/pages/operations/jobs';
import { words as account } from '@postrider/dashboard/strings/pages/settings/account';
import { words as alarms } from '@postrider/dashboard/strings/pages/settings/alarms';
import { words as audit } from '@postrider/dashboard/strings/pages/settings/audit';
import { words as erasures } from '@postrider/dashboard/strings/pages/settings/erasures';
import { words as members } from '@postrider/dashboard/strings/pages/settings/members';
import { words as workspace } from '@postrider/dashboard/strings/pages/settings/workspace';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as webhooks } from '@postrider/dashboard/strings/pages/webhooks';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { startWebhookSink, totpCode } from '@postrider/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, stage_totp_secret, startStage } from './dashboard.ts';
import { layoutProblems } from './layout-problems.ts';
import { routePath } from './route-path.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('a domain in Settings', () => {
  it('can add and remove a second signature with its own record', async () => {
    await stage.world.domain('acme.test');
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/domains/acme.test');

    await page.getByRole('button', { name: domains.second.turnOn }).click();
    await page.getByRole('button', { name: domains.second.turnOff }).waitFor();
    await page.getByText('pr1-ed25519._domainkey').first().waitFor();
    await page.getByRole('button', { name: domains.second.turnOff }).click();
    await page.getByRole('button', { name: domains.second.turnOn }).waitFor();

    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the Account page', () => {
  it('changes the password, which then works for signing in', async () => {
    const { sql } = stage.world.services;
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('button', { name: wordsAround(shell.account.menu) }).click();
    await page.getByRole('menuitem', { name: shell.account.settings }).click();
    await page.getByLabel(account.next).fill('short');
    await page.getByRole('button', { name: account.password }).click();
    await page.getByText('must have at least 10 characters').waitFor();
    await page.getByLabel(account.next).fill('correct horse: battery');
    await page.getByRole('button', { name: account.password }).click();

    await page.getByLabel(signIn.email).fill('member@people.test');
    await page.getByLabel(signIn.password).fill('correct horse: battery');
    await page.keyboard.press('Enter');
    await page.getByLabel(shell.session.code).fill(totpCode(stage_totp_secret, stage.world.clock.now()));
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: account.title }).waitFor();
    const [entry] = await sql`select action from audit_log where action = 'user.password_changed'`;
    expect(entry).toBeDefined();
    await visitor.stop();
  });
});

describe('the Settings pages', () => {
  it('rename the workspace, and show its plan and monthly usage', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/general');
    await page.getByText(workspace.planFacts.recipients).waitFor();
    await page.getByText(workspace.planFacts.held('0', '10'), { exact: true }).waitFor();
    await page.getByLabel(workspace.name, { exact: true }).fill('Acme Ltd');
    await page.getByRole('button', { name: workspace.policies.stop[0], exact: true }).click();
    await page.getByRole('button', { name: workspace.save, exact: true }).click();
    await page.getByText(workspace.saved).waitFor();

    await page.getByRole('button', { name: shell.workspace.menu('Acme Ltd') }).waitFor();
    await page.reload();
    expect(await page.getByLabel(workspace.name, { exact: true }).inputValue()).toBe('Acme Ltd');
    expect(
      await page.getByRole('button', { name: workspace.policies.stop[0], exact: true }).getAttribute('aria-pressed'),
    ).toBe('true');
    expectQuiet(tab);
    await visitor.stop();
  });

  it('show retention periods, and whether email is captured', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/retention');

    const retention = page.getByRole('table', { name: erasures.kept.title });
    await retention
      .getByRole('row', {
        name: new RegExp(`${erasures.kept.kinds.messages[0]} .*${erasures.kept.always} RETENTION_MESSAGES`),
      })
      .waitFor();
    await retention
      .getByRole('row', { name: new RegExp(`${erasures.kept.kinds.captures[0]} .*7 d RETENTION_CAPTURES`) })
      .waitFor();
    await page.goto('/settings/general');
    await page.getByText(workspace.capture.on).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('erase an address that is typed twice, and omit it from the receipt', async () => {
    const { world } = stage;
    await sendMail(stage, { to: 'forget@example.com' });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/retention');
    await page.getByRole('button', { name: erasures.create }).click();
    await page.getByLabel(erasures.creating.email, { exact: true }).fill('forget@example.com');
    await page.getByLabel(erasures.creating.again).fill('other@example.com');
    await page.getByRole('dialog').getByRole('button', { name: erasures.creating.submit }).click();
    await page.getByText(erasures.creating.mismatch).waitFor();
    await page.getByLabel(erasures.creating.again).fill('forget@example.com');
    await page.getByRole('dialog').getByRole('button', { name: erasures.creating.submit }).click();
    const receipt = page.getByRole('dialog', { name: erasures.receipt.title });
    await receipt.getByText(erasures.statuses.queued).waitFor();

    await runErasure(world.services, { erasure_id: new URL(page.url()).searchParams.get('open') ?? '' });

    await receipt.getByText(erasures.statuses.completed).waitFor();
    await receipt.getByRole('row', { name: `${erasures.kinds.recipients} 1` }).waitFor();
    await receipt.getByText('backups, replicas and log files').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText(erasures.answer.done(1, false)).waitFor();
    expect(await page.content()).not.toContain('forget@example.com');
    expectQuiet(tab);
    await visitor.stop();
  });

  it("invite a person with a link shown once, change the person's role, and remove the person", async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/members');
    await page.getByRole('button', { name: members.invite }).click();
    await page.getByLabel(members.inviting.email).fill('not an address');
    await page.getByRole('dialog').getByRole('button', { name: members.inviting.submit }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    tab.problems.splice(0);
    await page.getByLabel(members.inviting.email).fill('grace@people.test');
    await page.getByRole('dialog').getByRole('button', { name: members.inviting.submit }).click();
    const link = await page.getByRole('region', { name: parts.texts.firstSignIn }).innerText();
    expect(link).toContain('/login/invitation/');
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText(members.sent.guard).waitFor();
    await page.getByLabel(members.sent.stored).check();
    await page.getByRole('button', { name: members.sent.done }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(link);
    const guest = await stage.visitor(null);
    const { page: guestPage } = await guest.open();
    await guestPage.goto(new URL(link.trim()).pathname);
    await guestPage.getByLabel(signIn.reset.password).fill('correct horse: battery');
    await guestPage.getByRole('button', { name: signIn.invitation.submit }).click();
    await guestPage.getByRole('navigation', { name: shell.menu }).waitFor();
    await guest.stop();
    await page.reload();

    const viewer = members.roles.viewer[0]?.toLowerCase() ?? '';
    await page.getByRole('button', { name: members.actions('grace@people.test') }).click();
    await page.getByRole('menuitem', { name: members.makeRole(viewer) }).click();
    await page.getByText(members.changed('grace@people.test', viewer)).waitFor();
    await page.getByRole('button', { name: members.actions('grace@people.test') }).click();
    await page.getByRole('menuitem', { name: members.remove }).click();
    await page.getByRole('button', { name: members.removing.submit }).click();
    await page.getByText(members.removing.done('grace@people.test')).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('show alarm notification targets, with any errors in their addresses', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/settings/alerts');
    await page.getByText(alarms.answer.none).waitFor();
    await page.getByLabel(alarms.emails).fill('ada');
    await page.getByRole('button', { name: alarms.save }).click();
    await page.getByText('ada is not a valid email address').waitFor();
    await page.getByLabel(alarms.emails).fill('ops@example.com');
    await page.getByRole('button', { name: alarms.save }).click();

    await page.getByText(alarms.answer.some('ops@example.com')).waitFor();
    await visitor.stop();
  });

  it('show the secret of a new alert webhook once, and what a test alert reached', async () => {
    const receiver = await startWebhookSink();
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/alerts');

    await page.getByLabel(alarms.webhook).fill('https://hooks.slack.com/services/T0/B0/x');
    const slack = page.getByRole('button', { name: alarms.formats.slack.name, exact: true });
    await expect.poll(() => slack.getAttribute('aria-pressed')).toBe('true');
    await page.getByLabel(alarms.webhook).fill(receiver.url);
    await expect.poll(() => slack.getAttribute('aria-pressed')).toBe('false');
    await page.getByRole('button', { name: alarms.save }).click();
    const dialog = page.getByRole('dialog', { name: webhooks.secret.title });
    const secret = /whsec_[\w+/=]+/.exec(await dialog.innerText())?.[0] ?? '';
    await dialog.getByLabel(webhooks.secret.stored).check();
    await dialog.getByRole('button', { name: webhooks.secret.done }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(alarms.secret.signed(secret.slice(-4))).waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: alarms.test.send }).click();
    const outcomes = page.getByRole('list', { name: alarms.test.title });
    await outcomes.getByText(/Webhook returned 200 in \d+ ms/).waitFor();
    const [request] = receiver.requests;
    expect(String(request?.headers['webhook-signature'])).toMatch(/^v1,/);
    expect(JSON.parse(String(request?.body))).toMatchObject({ alarms: [{ notice: 'test' }] });

    await page.getByRole('button', { name: alarms.secret.rotate }).click();
    const rotating = page.getByRole('dialog', { name: alarms.secret.rotating.title });
    await rotating.getByRole('button', { name: alarms.secret.rotating.submit }).click();
    await page.getByLabel(webhooks.secret.stored).check();
    await page.getByRole('button', { name: webhooks.secret.done }).click();

    const rules = page.getByRole('table', { name: alarms.rules.title });
    await rules.getByText('At least 80% of the monthly quota is used.').waitFor();
    expectQuiet(tab);
    await visitor.stop();
    await receiver.stop();
  });

  it.each([1440, 1024, 390])('keep alert controls in sight and readable at %i px', async (width) => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['/settings/alerts', '/instance/status']) {
      await page.goto(path);
      await page.getByRole('table', { name: alarms.rules.title }).getByRole('row').nth(3).waitFor();

      const controls = page.locator('main :is(input, button, fieldset)');
      const outside = await controls.evaluateAll((all) =>
        all
          .map((one) => one.getBoundingClientRect())
          .filter(({ width: own, left, right }) => own > 0 && (left < 0 || right > innerWidth || own > 600)),
      );
      expect(outside).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    await visitor.stop();
  });

  it('explain to a viewer who can change the workspace', async () => {
    const visitor = await stage.visitor('viewer');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/general');

    await page.getByText(shell.forbidden.title(shell.places.general)).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the status of the instance', () => {
  it('shows failures, and lets an alarm be acknowledged', async () => {
    const { sql, clock } = stage.world.services;
    await sql`
      insert into alarms (id, workspace_id, rule, subject, status, value, detail, page, seen_since, started_at)
      values (${newId('alarm', clock.now())}, no_id(), 'queue_waits', 'delivery.attempt', 'active', 400,
        'The oldest job waits for 400 s.', '/instance/queues', clock_now(), clock_now())`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/status');
    await page.getByRole('table', { name: health.machine }).getByText('migrations', { exact: true }).waitFor();
    await page
      .getByRole('table', { name: health.checks })
      .getByText(health.checkNames.delivery ?? '', { exact: true })
      .waitFor();
    const list = page.getByRole('table', { name: alarms.list.title });
    await list.getByText('The oldest job waits for 400 s.').waitFor();

    await list.getByRole('button', { name: alarms.list.acknowledge }).click();

    await page.getByText(alarms.list.acknowledged).waitFor();
    await list.getByText('operator@people.test').waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('links an alarm to its page, where the affected item is selected', async () => {
    const { sql, clock } = stage.world.services;
    const path = '/instance/jobs?queue=delivery.attempt&state=dead';
    await sql`
      insert into alarms (id, workspace_id, rule, subject, status, value, detail, page, seen_since, started_at)
      values (${newId('alarm', clock.now())}, no_id(), 'dead_jobs', 'delivery.attempt', 'active', 3,
        '3 jobs are dead.', ${path}, clock_now(), clock_now())`;
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/instance/status');
    const row = page.getByRole('table', { name: alarms.list.title }).getByRole('row', { name: /3 jobs are dead/ });

    await row.getByRole('link').click();

    await page.getByRole('heading', { name: jobs.title }).waitFor();
    expect(routePath(page.url())).toBe(path);
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the audit log', () => {
  const actionsIn = (page: Page) =>
    page
      .getByRole('table', { name: audit.title })
      .locator('a.row-link')
      .evaluateAll((all) => all.map((one) => one.getAttribute('title')));

  it('filters by person, action, time and target, and exports what it shows', async () => {
    const { world } = stage;
    const key_ctx = world.as(world.workspace_id);
    const key = await invoke(key_ctx, createKey, { name: 'Printer', scopes: ['email:send'] });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/audit-log');
    const filter = (label: string) => page.getByLabel(label, { exact: true });

    await filter(audit.person.label).selectOption({ label: audit.person.key('Printer', key.last4) });
    await page.getByText(audit.none.title).waitFor();
    await filter(audit.person.label).selectOption({ label: 'admin@people.test' });
    await page.waitForURL(/actor=usr_/);
    await filter(audit.person.label).selectOption({ label: audit.person.system });
    await page.waitForURL(/actor=system/);
    await filter(audit.action).selectOption({ label: audit.actions['api_key.created'] });
    await page.waitForURL(/action=api_key.created/);
    await filter(audit.time).selectOption({ label: audit.ranges.day });
    await page.waitForURL(/range=day/);
    await filter(audit.target).fill(key.id);
    await filter(audit.target).press('Enter');
    await page.waitForURL(/target=key_/);
    await expect.poll(() => actionsIn(page)).toEqual(['api_key.created']);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: audit.exporting.submit }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\r\n');
    await page.getByText(audit.exporting.done(1)).waitFor();

    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe(Object.values(audit.exporting.columns).join(','));
    expect(lines[1]).toContain(`,${audit.person.system},system,api_key.created,${key.id},`);
    await page.getByRole('link', { name: audit.clear }).click();
    await expect.poll(async () => (await actionsIn(page)).length).toBeGreaterThan(1);
    expect(new URL(page.url()).search).toBe('');
    await filter(audit.time).selectOption({ label: audit.ranges.dates });
    await filter(audit.from).pressSequentially('01022001');
    await filter(audit.until).pressSequentially('01032001');
    await page.getByText(audit.none.title).waitFor();
    await page.reload();
    await page.getByText(audit.none.title).waitFor();
    expect(await filter(audit.from).inputValue()).toBe('2001-01-02');
    expect(await filter(audit.until).inputValue()).toBe('2001-01-03');
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => layoutProblems(page), { message: `the layout at ${width} px` }).toEqual([]);
    }
    expectQuiet(tab);
    await visitor.stop();
  });

  it('shows reads only on request, and says in words what an entry changed', async () => {
    const id = await sendMail(stage, { subject: 'Confidential' });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    const { sql } = stage.world.services;
    await page.goto(`/emails/${id}`);
    await expect
      .poll(async () => (await sql`select 1 from audit_log where action = 'message.content_read'`).length)
      .toBeGreaterThan(0);
    const ctx = stage.world.as(stage.world.workspace_id) as ActorContext;
    await sql.begin((tx) =>
      recordAudit(tx, ctx, [
        {
          action: 'alarm.settings_changed',
          target_id: stage.world.workspace_id,
          diff: { emails: [[], ['a@acme.test', 'b@acme.test']], quiet_from: [null, 90], odd: [[{}], 1] },
        },
      ]),
    );
    await page.goto('/settings/audit-log');

    await page.getByRole('link', { name: audit.actions['alarm.settings_changed'] }).first().waitFor();
    expect(await actionsIn(page)).not.toContain('message.content_read');
    await page.getByRole('button', { name: audit.kinds.reads, exact: true }).click();
    await page.waitForURL(/kind=reads/);
    await expect.poll(async () => [...new Set(await actionsIn(page))]).toEqual(['message.content_read']);
    await page.getByRole('button', { name: audit.kinds.all, exact: true }).click();
    await expect
      .poll(() => actionsIn(page))
      .toEqual(expect.arrayContaining(['message.content_read', 'alarm.settings_changed']));
    await page.getByRole('link', { name: audit.actions['alarm.settings_changed'] }).first().click();
    const rows = page.getByRole('dialog').getByRole('table', { name: audit.diff.title }).getByRole('row');
    await expect
      .poll(() => rows.allInnerTexts())
      .toEqual([
        [audit.diff.field, audit.diff.before, audit.diff.after].join('\t'),
        ['Emails', audit.diff.none, '…@acme.test, …@acme.test'].join('\t'),
        [audit.fields.quiet_from, audit.diff.none, '01:30'].join('\t'),
      ]);
    await page.getByRole('dialog').getByText('"odd"').waitFor();
    await page.getByRole('dialog').getByText('alarm.settings_changed', { exact: true }).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});
