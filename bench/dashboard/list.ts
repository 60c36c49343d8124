import type { Sql } from '@postrider/db';
import { startChromium } from '@postrider/testing/chromium';
import { freePort } from '@postrider/testing/free-port';
import type { Browser, Page } from 'playwright-core';
import { ascending, percentile } from '../measure/statistics.ts';
import { onBenchServer } from '../product/database.ts';
import { prepareProduct, secretOf, startProduct } from '../product/product.ts';
import { receipt } from '../product/sample.ts';
import { seeded, seedMessages, workspaceIds } from '../product/seed.ts';
import { vacuum } from '../product/vacuum.ts';

const PAGE_GOAL_MS = 300;
const PAINT_GOAL_MS = 100;
const EMAILS_PER_SECOND = 200;
const TICK_MS = 20;
const PAGES = 12;
const MOVES = 120;
/** The repeat rate of a key that is held down. */
const MOVE_EVERY_MS = 60;
const searches = [
  '',
  'status:delivered',
  'status:bounced',
  `tag:${seeded.common_tag}`,
  `to:${seeded.common_recipient}`,
];
const operator = { ADMIN_EMAIL: 'ops@example.com', ADMIN_PASSWORD: 'correct horse: battery' };

/**
 * Measures how fast a very long list pages, and how quickly keys respond while messages are being sent; returns true if
 * within the goals.
 */
export function measureList(messages: number): Promise<boolean> {
  return onBenchServer(async (server) => {
    const product = await prepareProduct(await server.database('dashboard'), 1);
    await seedMessages(product.sql, messages, await workspaceIds(product.sql));
    await endOpen(product.sql);
    await vacuum(product.sql);
    const [request] = product.requests;
    if (!request) throw new Error('no key was made');
    const ports = { CAPTURE_PORT: String(await freePort()), INBOUND_PORT: String(await freePort()) };
    const env = { ROLES: 'rest,admin,worker', DELIVERY: 'capture', ...ports, ...operator };
    const running = await startProduct(product, env);
    const browser = await startChromium();
    try {
      const page = await signedIn(browser, running.port);
      const paged = await timesToPage(page);
      const painted = await timesToPaint(page, { port: running.port, secret: secretOf(request) });
      return [
        report(
          `a further page of ${messages.toLocaleString('en')} messages, from the click to its rows`,
          paged,
          PAGE_GOAL_MS,
        ),
        report(
          `a key on the list, to its paint, beside ${painted.rate.toFixed(0)} messages/s`,
          painted.times,
          PAINT_GOAL_MS,
        ),
      ].every(Boolean);
    } finally {
      await browser.close();
      await running.stop();
      await product.stop();
    }
  });
}

/** Cancels open messages, because the worker would send pending seeded messages during the measurement. */
async function endOpen(sql: Sql): Promise<void> {
  await sql`set statement_timeout = 0`;
  await sql`update recipients set state = 'canceled' where is_open`;
  await sql`update messages set status = 'canceled' where status in ('scheduled', 'queued', 'deferred', 'sending')`;
}

function report(label: string, times: readonly number[], goal_ms: number): boolean {
  const sorted = ascending(times);
  const [p50, p95, max] = [50, 95, 100].map((percent) => percentile(sorted, percent).toFixed(0));
  console.log(`${label}: p50 ${p50} ms, p95 ${p95} ms, most ${max} ms of ${sorted.length}; goal ${goal_ms} ms at p95`);
  return percentile(sorted, 95) <= goal_ms;
}

async function signedIn(browser: Browser, port: number): Promise<Page> {
  const context = await browser.newContext({ baseURL: `http://127.0.0.1:${port}` });
  const page = await context.newPage();
  await page.goto('/login?next=/emails');
  await page.getByLabel('Email address').fill(operator.ADMIN_EMAIL);
  await page.getByLabel('Password').fill(operator.ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('main tbody tr').first().waitFor();
  return page;
}

/** Presses Older and waits inside the page until there are more rows, so that no inter-process latency is measured. */
const OLDER = `new Promise((done) => {
  const rows = () => document.querySelectorAll('main tbody tr').length;
  const before = rows();
  const started = performance.now();
  new MutationObserver((_, observer) => {
    if (rows() <= before) return;
    observer.disconnect();
    requestAnimationFrame(() => done(performance.now() - started));
  }).observe(document.querySelector('main'), { childList: true, subtree: true });
  document.querySelector('.list-foot button').click();
})`;

async function timesToPage(page: Page): Promise<number[]> {
  const times: number[] = [];
  for (const search of searches) {
    await page.goto(`/emails?q=${encodeURIComponent(search)}`);
    await page.locator('.list-foot button').waitFor();
    for (let number = 0; number < PAGES && (await page.locator('.list-foot button').isVisible()); number++)
      times.push(await page.evaluate<number>(OLDER));
  }
  return times;
}

/** Records from now on how long each key press took until its effect was painted, as measured by the browser. */
const OBSERVE = `(() => {
  window.taken = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration, name } of list.getEntries())
      if (interactionId && name === 'keydown') window.taken.push(duration);
  }).observe({ type: 'event', durationThreshold: 16 });
})()`;

async function timesToPaint(
  page: Page,
  to: { readonly port: number; readonly secret: string },
): Promise<{ readonly times: number[]; readonly rate: number }> {
  await page.goto('/emails');
  await page.locator('main tbody tr').first().waitFor();
  await page.evaluate(OBSERVE);
  const responses: Promise<unknown>[] = [];
  const started = performance.now();
  // If the timer fires late, the messages that were due in the meantime are sent immediately.
  const load = setInterval(() => {
    const owed = ((performance.now() - started) / 1000) * EMAILS_PER_SECOND;
    while (responses.length < owed) responses.push(sendOne(to));
  }, TICK_MS);
  for (let move = 0; move < MOVES; move++) {
    await page.keyboard.press(['j', 'x', 'j', 'k'][move % 4] ?? 'j');
    await page.waitForTimeout(MOVE_EVERY_MS);
  }
  clearInterval(load);
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(responses);
  // The browser does not report events under 16 ms, so each missing event counts as 16 ms.
  const slow = await page.evaluate<number[]>('window.taken');
  const quick = Array.from({ length: Math.max(0, MOVES - slow.length) }, () => 16);
  return { times: [...slow, ...quick], rate: responses.length / seconds };
}

async function sendOne({ port, secret }: { readonly port: number; readonly secret: string }): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/email/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...receipt, from: 'app@mail0.example.com', reply_to: 'help@mail0.example.com' }),
  });
  await response.text();
  if (response.status !== 202) throw new Error(`an email was rejected with ${response.status}`);
}
