import { invoke } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { createHold } from '@postrider/core/holds';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook } from '@postrider/core/webhooks';
import type { Page } from 'playwright-core';
import { refusedMail, type Stage, sendMail } from './dashboard.ts';

/** The ids that stand in the paths of pages as EMAIL, CAPTURE and so on. */
export type Ids = Readonly<Record<'EMAIL' | 'CAPTURE' | 'REQUEST' | 'WEBHOOK' | 'HOLD', string>>;

/** One of each thing that a page shows. */
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

/** More than one page of mail, captures, requests and suppressions, and several of the rest. */
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

/** Opens a page and waits until it shows what it is opened for. */
export async function openPage(page: Page, path: string, shows: string): Promise<void> {
  await page.goto(path);
  await page.locator('main, dialog').getByText(shows).first().waitFor();
  await page.waitForLoadState('networkidle');
}

/** Every page with what is opened on it, and what is shown then; a page that is not here fails a test. */
export const pages: readonly (readonly [path: string, shows: string])[] = [
  ['/', 'The last 24 hours'],
  ['/emails', 'Emails'],
  ['/emails?q=to%3Anobody%40example.com', 'Nothing matches'],
  ['/emails/EMAIL', 'Trace'],
  ['/emails?open=EMAIL', 'Trace'],
  ['/emails?open=EMAIL&action=resend', 'Sends the same content'],
  ['/emails/EMAIL?action=cancel', 'What has not been sent is not sent'],
  ['/emails/EMAIL?action=reschedule', 'In the zone of this browser'],
  ['/inbox', 'Test inbox'],
  ['/inbox/CAPTURE', 'Found in it'],
  ['/inbox/CAPTURE?action=release', 'Sends the content as a new mail'],
  ['/inbox?action=clear', 'Delete all captured mail?'],
  ['/inbox?q=nothing+such', 'Nothing matches'],
  ['/inbox?open=CAPTURE', 'Found in it'],
  ['/compose', 'The same by the API'],
  ['/domains', 'Domains'],
  ['/domains?open=new', 'Add the domain'],
  ['/domains/acme.test', 'Records'],
  ['/domains/acme.test?open=remove', 'Remove the domain'],
  ['/domains/acme.test?open=rotate', 'New keys are created under another selector'],
  ['/domains/acme.test?open=suspend', 'New email from this domain is rejected'],
  ['/webhooks', 'Webhooks'],
  ['/webhooks/WEBHOOK', 'How it is tried'],
  ['/webhooks/WEBHOOK?open=verify&in=go', 'Any program can post to your URL'],
  ['/requests', 'By reason, the last 24 hours'],
  ['/requests?reason=nothing_such', 'Nothing matches'],
  ['/requests?open=REQUEST', 'The request corrected'],
  ['/stats', 'What became of mail'],
  ['/stats?range=month&by=provider&view=table', 'What became of mail'],
  ['/suppressions', 'Suppressions'],
  ['/operations/health', 'Machine, database and network'],
  ['/operations/incident', 'Incident'],
  ['/operations/incident?open=hold&target=example.com', 'A hold on a destination is for all workspaces'],
  ['/operations/incident?open=give_up&target=example.com', 'Items a second'],
  ['/operations/backlog', 'Each cell is a menu'],
  ['/operations/backlog?open=limit&target=example.com', 'Save limit'],
  ['/operations/backlog?by=sender_domain&open=hold&target=sandbox.test', 'Release rate (per minute)'],
  ['/operations/backlog?open=release&target=HOLD', 'How it goes on'],
  ['/operations/backlog?open=give_up&target=example.com&age=0', 'Whole mails are given up'],
  ['/operations/jobs', 'Jobs'],
  ['/operations/jobs?state=dead&queue=webhook.close', 'No job'],
  ['/operations/bulk', 'Bulk runs'],
  ['/operations/workspaces', 'Plans'],
  ['/operations/workspaces?open=plan', 'Make the plan'],
  ['/operations/workspaces?plan=free', 'Limits of free'],
  ['/operations/storage', 'Kept without limit'],
  ['/operations/queues/delivery.attempt', 'What people did in this time'],
  ['/operations/queues/delivery.attempt?open=hold', 'Workers stop taking its jobs'],
  ['/operations/queues/delivery.attempt?open=concurrency&view=table', 'Jobs at once'],
  ['/operations/holds?release=HOLD', 'How it goes on'],
  ['/operations/workspaces?open=new', 'Make the workspace'],
  ['/operations/operators', 'Operators'],
  ['/operations/queues', 'Queues'],
  ['/operations/holds', 'Holds'],
  ['/operations/holds?open=new', 'What to hold'],
  ['/operations/workers', 'Workers'],
  ['/operations/schedules', 'Schedules'],
  ['/settings/account', 'Change password'],
  ['/settings/workspace', 'Recipients of one mail'],
  ['/settings/erasures', 'A person may ask to be forgotten'],
  ['/settings/erasures?open=new', 'Erase an address'],
  ['/settings/members', 'Members'],
  ['/settings/members?open=new', 'Invite a person'],
  ['/settings/alarms', 'Where notices go'],
  ['/settings/audit', 'Audit log'],
  ['/settings/api-keys', 'API Keys'],
  ['/settings/api-keys?open=new', 'Create the key'],
  ['/login', 'Sign in'],
  ['/nowhere', 'There is no such page'],
];
