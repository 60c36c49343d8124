import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { startChromium, type Visitor, visit } from '@postrider/testing/chromium';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type DatabaseProxy, openDatabaseProxy } from '../database-proxy.ts';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';
import { loadAll } from './long-list.ts';
import { anyCount } from './words-around.ts';

const operator = { ADMIN_EMAIL: 'ops@good.test', ADMIN_PASSWORD: 'correct horse: battery' };
/** `npm run test:browser -- --all` runs the full number of restarts. */
const ALL = inject('leaves_nothing_out');
const RESTARTS = ALL ? 10 : 2;
/** Each message has three events: accepted, sending, and delivered. */
const EMAILS_PER_SECOND = 17;
const UP_MS = 1500;

let journey: Journey;
let browser: Browser;
beforeAll(async () => {
  journey = await openJourney(operator);
  browser = await startChromium();
});
afterAll(async () => {
  await browser.close();
  await journey.stop();
});

async function signedIn(port: string | number): Promise<{ readonly visitor: Visitor; readonly page: Page }> {
  const visitor = await visit(browser, Number(port));
  const { page } = await visitor.open();
  await page.goto('/login?next=/emails');
  await page.getByLabel(signIn.email).fill(operator.ADMIN_EMAIL);
  await page.getByLabel(signIn.password).fill(operator.ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: emails.title }).waitFor();
  return { visitor, page };
}

const send = (server: ServerProcess, subject: string) =>
  server.call('POST', '/v1/email/send', { body: { ...hello, subject } });

/** Returns the list as shown, from its first row to its last: each subject with its state. */
function shownIn(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(async () => {
    const rows = new Map();
    for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
      scrollTo(0, top);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (const row of document.querySelectorAll('main tbody tr[data-row]'))
        rows.set(row.dataset.row, [row.querySelector('a').textContent, row.querySelector('.badge').textContent].join(' '));
    }
    return [...rows.values()];
  })()`);
}

describe('the admin process', () => {
  it(`survives ${RESTARTS} kills and restarts under load, after which the list matches the database`, async () => {
    const api = await journey.start({ ROLES: 'rest,worker' });
    let admin = await journey.start({ ROLES: 'admin' });
    const PORT = String(admin.port);
    await send(api, 'Mail 0');
    const { visitor, page } = await signedIn(PORT);
    await page.getByRole('link', { name: 'Mail 0' }).waitFor();
    let count = 1;
    const responses: Promise<unknown>[] = [];
    const load = setInterval(() => responses.push(send(api, `Mail ${count++}`)), 1000 / EMAILS_PER_SECOND);
    try {
      for (let turn = 0; turn < RESTARTS; turn++) {
        await page.waitForTimeout(UP_MS);
        await admin.kill();
        admin = await journey.start({ PORT, ROLES: 'admin' });
      }
      await page.waitForTimeout(UP_MS);
    } finally {
      clearInterval(load);
    }
    await Promise.all(responses);
    const open = () => journey.sql`select 1 from recipients where state <> 'delivered' limit 1`;
    await expect.poll(async () => (await open()).length).toBe(0);

    // The tab was never reloaded, so it learns of new rows automatically.
    await page.getByRole('button', { name: anyCount(emails.fresh) }).click();
    await page.getByRole('link', { name: `Mail ${count - 1}` }).waitFor();
    await loadAll(page);
    const stored = await journey.sql<{ subject: string; state: keyof typeof parts.statuses }[]>`
      select m.subject, r.state::text as state from messages m join recipients r on r.message_id = m.id
      order by m.id desc`;
    await expect
      .poll(() => shownIn(page))
      .toEqual(stored.map(({ subject, state }) => `${subject} ${parts.statuses[state][0]}`));
    expect(stored).toHaveLength(count);
    await visitor.stop();
    await Promise.all([api.kill(), admin.kill()]);
  }, 400_000);

  it('reports a missing worker on every page and beside the email, until one starts', async () => {
    const admin = await journey.start({ ROLES: 'admin,rest' });
    await send(admin, 'Waits for a worker');
    const { visitor, page } = await signedIn(admin.port);
    const notice = page.getByText(shell.noWorker);
    await notice.waitFor();
    await page.getByRole('link', { name: 'Waits for a worker' }).click();
    await page.getByRole('dialog').getByText(detail.waiting.no_worker, { exact: false }).first().waitFor();
    await page.keyboard.press('Escape');

    const worker = await journey.start({ ROLES: 'worker' });

    await notice.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'Waits for a worker' });
    await row.getByText(parts.statuses.delivered[0]).waitFor();
    await visitor.stop();
    await Promise.all([admin.kill(), worker.kill()]);
  });
});

describe('a database outage', () => {
  let proxy: DatabaseProxy;
  beforeAll(async () => {
    proxy = await openDatabaseProxy(journey.env.DATABASE_URL ?? '');
  });
  afterAll(() => proxy.close());

  it('is reported on every page, and every page recovers automatically', async () => {
    const server = await journey.start({ DATABASE_URL: proxy.url });
    await send(server, 'Before');
    const { visitor, page } = await signedIn(server.port);
    const links = page.locator('.nav').getByRole('link');
    await links.first().waitFor();
    const every = await links.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
    const places = ALL ? every : every.slice(0, 4);
    // One tab per page, opened while everything works, so that each has to report the failure on its own.
    const tabs: Page[] = [];
    for (const path of places) {
      const { page: tab } = await visitor.open();
      tabs.push(tab);
      await tab.goto(path);
      await tab.locator('main h1:visible').waitFor();
    }
    await proxy.close();
    const silent: string[] = [];
    const untilAlert = (tab: Page) => tab.getByRole('alert').first().waitFor({ timeout: 45_000 });
    // Pages that poll report the failure on their own. Other pages send a request when opened.
    const { page: opened } = await visitor.open();
    for (const path of places) {
      await opened.goto(path);
      await untilAlert(opened).catch(() => silent.push(path));
    }
    expect(silent).toEqual([]);

    await proxy.open();

    const stuck: string[] = [];
    for (const [at, tab] of [...tabs.entries(), [places.length, opened] as const]) {
      const healed = tab.locator('main').getByRole('alert').first().waitFor({ state: 'detached', timeout: 60_000 });
      await healed.catch(() => stuck.push(places[at] ?? 'the page that was opened meanwhile'));
      await tab.close();
    }
    expect(stuck).toEqual([]);
    await visitor.stop();
    await server.kill();
  }, 400_000);
});
