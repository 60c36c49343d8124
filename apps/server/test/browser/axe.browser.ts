import { invoke } from '@postrider/core';
import { recordCapture } from '@postrider/core/captures';
import { createHold } from '@postrider/core/holds';
import { createWebhook } from '@postrider/core/webhooks';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { axeProblems, refusedMail, type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
let email: string;
let capture: string;
let request: string;
let webhook: string;
let hold: string;
beforeAll(async () => {
  stage = await startStage();
  email = await sendMail(stage, { html: '<h1>Hello</h1>', tags: ['invoice'] });
  await stage.world.drain();
  const { services } = stage.world;
  const raw = Buffer.from(
    'From: shop@sandbox.test\r\nTo: ada@example.com\r\nSubject: Code\r\n\r\nYour code is 493817\r\n',
  );
  await recordCapture(services, { envelope_from: 'shop@sandbox.test', envelope_to: ['ada@example.com'], raw });
  capture = (await services.sql<{ id: string }[]>`select id from captures limit 1`)[0]?.id ?? '';
  request = await refusedMail(stage, { to: 'nobody' });
  await sendMail(stage, { to: 'bob@example.com', subject: 'Waits' });
  await stage.world.domain('acme.test');
  const ctx = stage.world.as(stage.world.workspace_id);
  webhook = (await invoke(ctx, createWebhook, { url: 'https://acme.test/hooks' })).id;
  const reason = 'Their server is full';
  hold = (await invoke(ctx, createHold, { scope: 'destination', value: 'slow.test', reason })).id;
});
afterAll(() => stage.stop());

/** Every page with what is opened on it; a page that is not here fails the test at the end. */
const states: readonly (readonly [path: string, shows: string])[] = [
  ['/', 'The last 24 hours'],
  ['/emails', 'Emails'],
  ['/emails?q=to%3Anobody%40example.com', 'Nothing matches'],
  ['/emails/EMAIL', 'Trace'],
  ['/emails?open=EMAIL', 'Trace'],
  ['/inbox', 'Test inbox'],
  ['/inbox?q=nothing+such', 'Nothing matches'],
  ['/inbox?open=CAPTURE', 'Found in it'],
  ['/compose', 'The same by the API'],
  ['/domains', 'Domains'],
  ['/domains?open=new', 'Add the domain'],
  ['/domains/acme.test', 'Records'],
  ['/domains/acme.test?open=remove', 'Remove the domain'],
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
  ['/operations/backlog', 'Each cell is a menu'],
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
  ['/operations/workers', 'Workers'],
  ['/operations/schedules', 'Schedules'],
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

const placed = (path: string) =>
  Object.entries({ EMAIL: email, CAPTURE: capture, REQUEST: request, WEBHOOK: webhook, HOLD: hold }).reduce(
    (text, [name, id]) => text.replace(name, id),
    path,
  );

/** In the second theme only colours differ; `npm run test:browser -- --all` asks for every rule in both. */
const ALL = inject('leaves_nothing_out');

describe.each([
  ['light', null],
  ['dark', ALL ? null : ['color-contrast']],
] as const)('in the %s theme', (theme, rules) => {
  it('axe finds nothing wrong on any page, with its dialogs open', async () => {
    const visitor = await stage.visitor('operator');
    await visitor.context.addCookies([{ name: 'theme', value: theme, url: stage.origin }]);
    const { page } = await visitor.open();
    const problems: Record<string, string[]> = {};
    for (const [path, shows] of states) {
      await page.goto(placed(path));
      await page.locator('main, dialog').getByText(shows).first().waitFor();
      await page.waitForLoadState('networkidle');
      const found = await axeProblems(page, rules);
      if (found.length > 0) problems[path] = found;
    }
    for (const keys of ['?', 'Control+k']) {
      await page.goto('/emails');
      await page.getByRole('heading', { name: 'Emails' }).waitFor();
      await page.keyboard.press(keys);
      await page.getByRole('dialog').waitFor();
      const found = await axeProblems(page, rules);
      if (found.length > 0) problems[keys] = found;
    }
    await page.goto('/emails');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menu').waitFor();
    const found = await axeProblems(page, rules);
    if (found.length > 0) problems.menu = found;

    expect(problems).toEqual({});
    await visitor.stop();
  });
});

describe('the pages', () => {
  it('are all looked at by axe', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');

    const links = page.getByRole('navigation').getByRole('link');
    await links.first().waitFor();
    const linked = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));

    const seen = new Set(states.map(([path]) => path));
    expect(linked.filter((path) => !seen.has(path))).toEqual([]);
    await visitor.stop();
  });

  it('fit a window of 320 pixels without scrolling sideways', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: 320, height: 640 });
    const wide: string[] = [];
    for (const [path, shows] of states) {
      await page.goto(placed(path));
      await page.locator('main, dialog').getByText(shows).first().waitFor();
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (width > 320) wide.push(`${path} ${width}`);
    }

    expect(wide).toEqual([]);
    await visitor.stop();
  });
});
