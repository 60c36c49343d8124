import { invoke } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { createHold } from '@postrider/core/holds';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook } from '@postrider/core/webhooks';
import { words as compose } from '@postrider/dashboard/strings/pages/compose';
import { words as domains } from '@postrider/dashboard/strings/pages/domains';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as inbox } from '@postrider/dashboard/strings/pages/inbox';
import { words as backlog } from '@postrider/dashboard/strings/pages/operations/backlog';
import { words as bulk } from '@postrider/dashboard/strings/pages/operations/bulk';
import { words as health } from '@postrider/dashboard/strings/pages/operations/health';
import { words as holds } from '@postrider/dashboard/strings/pages/operations/holds';
import { words as incident } from '@postrider/dashboard/strings/pages/operations/incident';
import { words as jobs } from '@postrider/dashboard/strings/pages/operations/jobs';
import { words as operators } from '@postrider/dashboard/strings/pages/operations/operators';
import { words as queues } from '@postrider/dashboard/strings/pages/operations/queues';
import { words as storage } from '@postrider/dashboard/strings/pages/operations/storage';
import { words as transports } from '@postrider/dashboard/strings/pages/operations/transports';
import { words as workers } from '@postrider/dashboard/strings/pages/operations/workers';
import { words as workspaces } from '@postrider/dashboard/strings/pages/operations/workspaces';
import { words as overview } from '@postrider/dashboard/strings/pages/overview';
import { words as requests } from '@postrider/dashboard/strings/pages/requests';
import { words as account } from '@postrider/dashboard/strings/pages/settings/account';
import { words as alarms } from '@postrider/dashboard/strings/pages/settings/alarms';
import { words as apiKeys } from '@postrider/dashboard/strings/pages/settings/api-keys';
import { words as audit } from '@postrider/dashboard/strings/pages/settings/audit';
import { words as erasures } from '@postrider/dashboard/strings/pages/settings/erasures';
import { words as members } from '@postrider/dashboard/strings/pages/settings/members';
import { words as workspace } from '@postrider/dashboard/strings/pages/settings/workspace';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as stats } from '@postrider/dashboard/strings/pages/stats';
import { words as suppressions } from '@postrider/dashboard/strings/pages/suppressions';
import { words as webhooks } from '@postrider/dashboard/strings/pages/webhooks';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Page } from 'playwright-core';
import { refusedMail, type Stage, sendMail } from './dashboard.ts';

/** The IDs that appear in page paths as EMAIL, CAPTURE, and so on. */
export type Ids = Readonly<Record<'EMAIL' | 'CAPTURE' | 'REQUEST' | 'WEBHOOK' | 'HOLD', string>>;

/** Creates one of each object that a page shows. */
export async function seedOne(stage: Stage): Promise<Ids> {
  const { world } = stage;
  const { services } = world;
  const EMAIL = await sendMail(stage, { html: '<h1>Hello</h1>', tags: ['invoice'] });
  await world.drain();
  await captureOne(stage, 'Code');
  const [capture] = await services.sql<{ id: string }[]>`select id from captures limit 1`;
  const REQUEST = await refusedMail(stage, { to: 'nobody' });
  await sendMail(stage, { to: 'bob@example.com', subject: 'Waits' });
  await world.domain('acme.test');
  const ctx = world.as(world.workspace_id);
  const { id: WEBHOOK } = await invoke(ctx, createWebhook, { url: 'https://acme.test/hooks' });
  const reason = 'Their server is full';
  const { id: HOLD } = await invoke(ctx, createHold, { scope: 'destination', value: 'slow.test', reason });
  return { EMAIL, CAPTURE: capture?.id ?? '', REQUEST, WEBHOOK, HOLD };
}

const MANY = 60;
const SEVERAL = 9;

/** Creates more than one page of messages, captures, requests, and suppressions, and several of everything else. */
export async function seedMany(stage: Stage): Promise<void> {
  const { world } = stage;
  const ctx = world.as(world.workspace_id);
  const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);
  const long = 'A long line that says more than its column can show, so that it is cut off at its end';
  for (const number of numbers(MANY)) {
    await sendMail(stage, { to: `person${number}@example${number}.test`, subject: `${long} ${number}` });
    await captureOne(stage, `${long} ${number}`);
    await refusedMail(stage, { to: `nobody${number}` });
  }
  await world.drain();
  await invoke(ctx, createSuppressions, {
    suppressions: numbers(MANY).map((number) => ({ email: `gone${number}@example.com` })),
  });
  for (const number of numbers(SEVERAL)) {
    await world.key({ scopes: ['email:send'], name: `${long} ${number}`.slice(0, 60) });
    await world.domain(`a-domain-with-a-long-name-${number}.example.test`);
    await invoke(ctx, createWebhook, { url: `https://a-host-with-a-long-name-${number}.example.test/hooks/${number}` });
    await invoke(ctx, createHold, { scope: 'destination', value: `slow${number}.test`, reason: long });
    await world.workspace('business');
  }
}

async function captureOne(stage: Stage, subject: string): Promise<void> {
  const lines = [
    'From: shop@sandbox.test',
    'To: ada@example.com',
    `Subject: ${subject}`,
    '',
    'Your code is 493817',
    '',
  ];
  const envelope = { envelope_from: 'shop@sandbox.test', envelope_to: ['ada@example.com'] };
  await recordCapture(stage.world.services, { ...envelope, raw: Buffer.from(lines.join('\r\n')) });
}

export function placed(path: string, ids: Ids): string {
  return Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path);
}

/** The parameters of a page's path that open a drawer or a dialog on it. */
const OPENS = /[?&](open|action|release|remove|plan|worker|schedule|address)=/;

/** Opens a page, or what its path opens on it, and waits until it shows its main content. */
export async function openPage(page: Page, path: string, shows: string): Promise<void> {
  await page.goto(path);
  // The button that opens a dialog often reads as the one that submits it.
  const where = OPENS.test(path) ? 'dialog:modal' : 'main';
  await page.locator(where).getByText(shows).first().waitFor();
  await page.waitForLoadState('networkidle');
}

/**
 * Every page, alone and with each drawer or dialog that opens on it, and the text that each of them shows. A test fails
 * if a page is missing here.
 */
export const pages: readonly (readonly [path: string, shows: string])[] = [
  ['/', overview.figures.title],
  ['/emails', emails.title],
  ['/emails?q=to%3Anobody%40example.com', emails.empty.none],
  ['/emails/scheduled', emails.scheduled.empty.title],
  ['/emails/EMAIL', detail.trace.title],
  ['/emails?open=EMAIL', detail.trace.title],
  ['/emails?open=EMAIL&action=resend', detail.actions.resendAbout],
  ['/emails/EMAIL?action=cancel', detail.actions.cancelAbout],
  ['/emails/EMAIL?action=reschedule', detail.actions.whenAbout],
  ['/emails/test-inbox', inbox.title],
  ['/emails/test-inbox/CAPTURE', inbox.detail.found],
  ['/emails/test-inbox/CAPTURE?action=release', inbox.releasing.about],
  ['/emails/test-inbox?action=clear', inbox.clearing.title],
  ['/emails/test-inbox?q=nothing+such', inbox.empty.none],
  ['/emails/test-inbox?open=CAPTURE', inbox.detail.found],
  ['/emails/new', compose.request],
  ['/domains', domains.title],
  ['/domains?open=new', domains.dialog.submit],
  ['/domains/acme.test', domains.detail.records],
  ['/domains/acme.test?open=remove', domains.removing.about],
  ['/domains/acme.test?open=rotate', domains.actions.rotate.about],
  ['/domains/acme.test?open=suspend', domains.actions.suspend.about],
  ['/webhooks', webhooks.title],
  ['/webhooks/WEBHOOK', webhooks.detail.plan],
  ['/webhooks/WEBHOOK?open=verify&in=go', webhooks.verify.about],
  ['/logs', requests.groups],
  ['/logs?reason=nothing_such', requests.empty.none],
  ['/logs?open=REQUEST', requests.detail.corrected],
  ['/metrics', stats.mail],
  ['/metrics?range=month&by=provider&view=table', stats.mail],
  ['/suppressions', suppressions.title],
  ['/suppressions?open=new', suppressions.adding.emailAbout],
  ['/suppressions?email=nobody%40example.com', suppressions.none.about],
  ['/suppressions?address=nobody%40example.com', suppressions.none.about],
  ['/suppressions?remove=nobody%40example.com', suppressions.removing.about],
  ['/instance/status', health.machine],
  ['/delivery/incidents', incident.title],
  ['/delivery/incidents?open=hold&target=example.com', holds.creating.mailAbout(true)],
  ['/delivery/incidents?open=give_up&target=example.com', bulk.dialog.rate],
  ['/delivery/backlog', backlog.heat],
  ['/delivery/backlog?open=limit&target=example.com', backlog.limiting.submit],
  ['/delivery/backlog?by=sender_domain&open=hold&target=sandbox.test', holds.creating.rate],
  ['/delivery/backlog?open=release&target=HOLD', holds.releasing.how],
  ['/delivery/backlog?open=give_up&target=example.com', bulk.dialog.entireEmails],
  ['/instance/jobs', jobs.title],
  ['/instance/jobs?state=dead&queue=webhook.close', jobs.empty.title],
  ['/delivery/bulk-actions', bulk.title],
  ['/instance/workspaces', workspaces.title],
  ['/instance/plans?open=plan', workspaces.plans.submitNew],
  ['/instance/plans?plan=free', workspaces.plans.editingTitle('free')],
  ['/instance/storage', storage.always.title],
  ['/instance/queues/delivery.attempt', queues.detail.marks],
  ['/instance/queues/delivery.attempt?open=hold', holds.creating.queueAbout],
  ['/instance/queues/delivery.attempt?open=concurrency&view=table', queues.detail.setting.label],
  ['/delivery/holds?release=HOLD', holds.releasing.how],
  ['/instance/workspaces?open=new', workspaces.creating.submit],
  ['/instance/plans', workspaces.plans.title],
  ['/instance/operators', operators.title],
  ['/instance/audit-log', audit.title],
  ['/instance/incidents', incident.title],
  ['/instance/delivery/backlog', backlog.heat],
  ['/instance/delivery/holds', holds.title],
  ['/instance/delivery/bulk-actions', bulk.title],
  ['/instance/delivery/transports', transports.preview.about],
  ['/instance/delivery/transports?open=new', transports.form.submitNew],
  ['/instance/delivery/transports?open=test&transport=default', transports.testing.submit],
  ['/instance/delivery/transports?open=rule', transports.rules.submit],
  ['/instance/queues', queues.title],
  ['/delivery/holds', holds.title],
  ['/delivery/holds?open=new', holds.creating.scope],
  ['/instance/workers', workers.workers.title],
  ['/instance/workers?worker=none', workers.workers.detail.gone],
  ['/instance/schedules', workers.schedules.title],
  ['/instance/schedules?schedule=storage.maintain', workers.schedules.cron],
  ['/settings/account', account.password],
  ['/settings/general', workspace.planFacts.recipients],
  ['/settings/retention', erasures.kept.title],
  ['/settings/retention?open=new', erasures.create],
  ['/settings/members', members.title],
  ['/settings/members?open=new', members.inviting.title],
  ['/settings/transports', transports.own.empty.about],
  ['/settings/transports?open=new', transports.form.submitNew],
  ['/settings/alerts', alarms.form],
  ['/settings/audit-log', audit.title],
  ['/settings/api-keys', apiKeys.title],
  ['/settings/api-keys?open=new', apiKeys.dialog.submit],
  ['/login', signIn.title],
  ['/login/code', signIn.code.title],
  ['/nowhere', shell.failed.missing],
];
