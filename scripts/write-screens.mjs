// Writes docs/screens/*.png, each page in light and dark, from a running Postrider: npm run docs:screens --
// http://localhost:3000 operator@example.com password The script sends sample email there, so use an instance that
// captures email.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './pinned-node.mjs';

const [url = 'http://localhost:3000', email = '', password = ''] = process.argv.slice(2);
const folder = join(root, 'docs/screens');
const SETTLE_MS = 700;
const ROLL_UP_MS = 150_000;

const invoice = `<div style="font-family:sans-serif;max-width:560px;margin:auto"><h1 style="color:#1f5da8">Your invoice</h1>
<p>Hello Ada,</p><p>thank you for your order. The invoice over <b>€ 118.00</b> is ready.</p>
<p style="color:#666;font-size:13px">Acme Ltd, 1 Engine Street</p></div>`;
const samples = [
  ['ada', 'Your invoice 2026-118', 'invoice'],
  ['grace', 'Welcome to Acme', 'welcome'],
  ['alan', 'Reset your password', 'security'],
  ['barbara', 'Your parcel is on its way', 'shipping'],
  // The label makes the address new on each run: the last one's is suppressed.
  [`bounce+5.1.1+${process.pid}`, 'Receipt for order 1815', 'invoice'],
  ['defer+3', 'New sign-in from Lisbon', 'security'],
  ['edsger', 'Your trial ends tomorrow', 'news'],
];

const pages = [
  ['overview', '/'],
  ['emails', '/emails'],
  ['email', '/emails/EMAIL'],
  ['bounced', '/emails/BOUNCED'],
  ['inbox', '/emails/test-inbox'],
  ['compose', '/emails/new'],
  ['domains', '/domains'],
  ['domain', '/domains/acme-mail.com'],
  ['webhooks', '/webhooks'],
  ['verify', '/webhooks/WEBHOOK?open=verify&in=python'],
  ['requests', '/logs'],
  ['request', '/logs?open=REQUEST'],
  ['stats', '/metrics'],
  ['suppressions', '/suppressions'],
  ['workspace', '/settings/general'],
  ['members', '/settings/members'],
  ['alarms', '/settings/alerts'],
  ['api-keys', '/settings/api-keys'],
  ['new-api-key', '/settings/api-keys?open=new'],
  ['audit', '/settings/audit-log'],
  ['erasures', '/settings/retention?open=ERASURE'],
  ['health', '/instance/status'],
  ['incident', '/delivery/incidents'],
  ['backlog', '/delivery/backlog'],
  ['queues', '/instance/queues'],
  ['queue', '/instance/queues/delivery.attempt'],
  ['jobs', '/instance/jobs'],
  ['bulk', '/delivery/bulk-actions'],
  ['holds', '/delivery/holds'],
  ['workers', '/instance/workers'],
  ['schedules', '/instance/schedules'],
  ['storage', '/instance/storage'],
  ['workspaces', '/instance/workspaces'],
  ['operators', '/instance/operators'],
];

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const browser = await chromium.launch({
  executablePath: places.find((path) => existsSync(path)),
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
});
const context = await browser.newContext({ baseURL: url, viewport: { width: 1200, height: 760 } });
const page = await context.newPage();
await page.goto('/login');
await page.getByLabel('Email address').fill(email);
await page.getByLabel('Password').fill(password);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.waitForURL((at) => !at.pathname.startsWith('/login'));

async function call(procedure, input) {
  const answer = await context.request.post(`/trpc/${procedure}`, { headers: { 'x-postrider': '1' }, data: input });
  return (await answer.json()).result?.data;
}

async function counted() {
  const answer = await context.request.get('/trpc/stats.get?input={}', { headers: { 'x-postrider': '1' } });
  const series = (await answer.json()).result?.data.series ?? [];
  return ['accepted', 'delivered'].every((metric) =>
    series.some((one) => one.metric === metric && one.points.some(({ value }) => value > 0)),
  );
}

let shown = '';
let bounced = '';
for (const [name, subject, tag] of samples) {
  const to = `${name}@simulator.test`;
  const sent = await call('test.send', {
    from: 'Acme <billing@sandbox.test>',
    to,
    subject,
    html: invoice,
    tags: [tag],
  });
  shown ||= sent?.id ?? '';
  if (name.startsWith('bounce')) bounced = sent?.id ?? '';
}
const key = await call('apiKeys.create', { name: 'Shop', scopes: ['email:send'] });
let refused = '';
for (const body of [{ to: ['ada@simulator.test', 'nobody'] }, { to: 'nobody' }, { subject: undefined }]) {
  const mail = {
    from: 'billing@sandbox.test',
    to: 'ada@simulator.test',
    subject: 'Your invoice',
    text: 'Hello.',
    ...body,
  };
  const answer = await context.request.post('/v1/email/send', {
    headers: { authorization: `Bearer ${key?.secret}` },
    data: mail,
  });
  refused ||= answer.headers()['x-request-id'] ?? '';
}
await call('domains.create', { name: 'acme-mail.com' });
const webhook = await call('webhooks.create', { url: 'http://localhost:4000/hooks' });
const erasure = await call('erasures.start', { email: 'edsger@simulator.test' });
// The numbers are rolled up every minute; until then, the charts would be empty.
for (let waited_ms = 0; waited_ms < ROLL_UP_MS && !(await counted()); waited_ms += 1000)
  await page.waitForTimeout(1000);

mkdirSync(folder, { recursive: true });
for (const theme of ['light', 'dark']) {
  await context.addCookies([{ name: 'theme', value: theme, url }]);
  for (const [name, path] of pages) {
    const ids = {
      EMAIL: shown,
      BOUNCED: bounced,
      REQUEST: refused,
      WEBHOOK: webhook?.id ?? '',
      ERASURE: erasure?.id ?? '',
    };
    await page.goto(Object.entries(ids).reduce((text, [word, id]) => text.replace(word, id), path));
    await page.locator('main h1, dialog h2').first().waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
  }
}
await browser.close();
