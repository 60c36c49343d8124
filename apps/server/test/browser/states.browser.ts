import type { Visitor } from '@postrider/testing/chromium';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { axeProblems, type Stage, startStage } from './dashboard.ts';
import { type Ids, openPage, pages, placed, seedMany, seedOne } from './pages.ts';

/**
 * `npm run test:browser -- --all` checks every state of every page in both themes. Without it, only empty pages are
 * checked.
 */
const ALL = inject('leaves_nothing_out');
const themes = ALL ? ['light', 'dark'] : ['light'];

let empty: Stage;
let one: Stage;
let ids: Ids;
beforeAll(async () => {
  empty = await startStage();
  one = await startStage();
  ids = await seedOne(one);
});
afterAll(() => Promise.all([empty.stop(), one.stop()]));

const plain = pages.filter(([path]) => !path.includes('?'));
const ofNavigation = plain.filter(([path]) => !/[A-Z]{4}|acme|nowhere|login/.test(path));
type Problems = Record<string, string[]>;

/** Adds the problems that axe finds in each theme, under the state's name. */
async function look(page: Page, name: string, problems: Problems): Promise<void> {
  for (const theme of themes) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
    const violations = await axeProblems(page, null);
    if (violations.length > 0) problems[`${name}, ${theme}`] = violations;
  }
}

async function openTab(stage: Stage) {
  const visitor = await stage.visitor('operator');
  const { page } = await visitor.open();
  // With animations, a color halfway between two themes could be measured.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  return { visitor, page };
}

const whoIsAsking = (url: string) => url.includes('people.me');

/** Responds with an error to everything except the query for the signed-in user. */
function refuse(route: Route): Promise<void> {
  const { pathname } = new URL(route.request().url());
  const path = pathname.split('/').at(-1) ?? '';
  const data = { code: 'not_found', reason: 'email_not_found', request_id: 'req_x', docs_url: '/docs/errors' };
  const error = { error: { message: 'There is no such thing.', code: -32004, data: { ...data, path } } };
  return route.fulfill({ status: 404, json: path.split(',').map(() => error) });
}

describe('axe', () => {
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    ({ visitor, page } = await openTab(empty));
  });
  afterAll(() => visitor.stop());

  it.each(ofNavigation)('finds no issues on %s while it is empty', async (path) => {
    const problems: Problems = {};
    await page.goto(path);
    await page.locator('main h1').first().waitFor();
    await page.waitForLoadState('networkidle');
    await look(page, `${path} empty`, problems);

    expect(problems).toEqual({});
  });
});

describe.each(ALL ? ['loading', 'refused'] : [])('axe', (state) => {
  it(`finds no issues on any page that is ${state}`, async () => {
    const { visitor, page } = await openTab(one);
    const problems: Problems = {};
    await page.route('**/trpc/**', (route) => {
      if (whoIsAsking(route.request().url())) return route.continue();
      return state === 'refused' ? refuse(route) : undefined;
    });
    let waited = 0;
    for (const [path] of plain) {
      await page.goto(placed(path, ids));
      await page.locator('main h1').first().waitFor();
      if (state === 'loading') {
        const skeleton = page.locator('.skeleton').first();
        // The skeleton is in the DOM immediately and fades in after 300 ms.
        await page.waitForTimeout(400);
        if (await skeleton.isVisible()) waited += 1;
      } else await page.waitForLoadState('networkidle');
      await look(page, `${path} ${state}`, problems);
    }

    expect(problems).toEqual({});
    if (state === 'loading') expect(waited).toBeGreaterThan(20);
    await visitor.stop();
  });
});

describe.each(ALL ? ['full'] : [])('axe', (state) => {
  it(`finds no issues on any page that is ${state}`, async () => {
    await seedMany(empty);
    const own = await seedOne(empty);
    const { visitor, page } = await openTab(empty);
    const problems: Problems = {};
    for (const [path, shows] of plain) {
      await openPage(page, placed(path, own), shows);
      await look(page, `${path} ${state}`, problems);
    }

    expect(problems).toEqual({});
    await visitor.stop();
  });
});

interface StatesReport {
  readonly problems: Problems;
  /** The menus and dialogs that were opened. */
  readonly opened: Set<string>;
  /** Everything that could not be done by keyboard. */
  readonly stuck: string[];
}

const OPENED = 'dialog:modal, [role="menu"]:popover-open';

/** Opens each button's menu or dialog on a page by keyboard, and checks it. Changes no data. */
async function openAll(page: Page, path: string, shows: string, results: StatesReport): Promise<void> {
  await openPage(page, path, shows);
  const inside = (await page.locator('dialog:modal').count()) > 0 ? 'dialog:modal .body' : 'main';
  const buttons = page.locator(`${inside} button:not([aria-disabled="true"]):visible`);
  const names = await buttons.evaluateAll((all) =>
    all.map((one) => one.getAttribute('aria-label') ?? one.textContent ?? ''),
  );
  for (const [at, name] of names.entries()) {
    // A list has the same button in every row.
    if (names.indexOf(name) < at) continue;
    const before = await page.locator(OPENED).count();
    await buttons.nth(at).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(120);
    if ((await page.locator(OPENED).count()) > before) {
      const title = await titleOf(page);
      if (!results.opened.has(title)) {
        results.opened.add(title);
        await look(page, title, results.problems);
        if (title.startsWith('menu')) await openItems(page, path, shows, { at, inside }, results);
      }
    }
    await openPage(page, path, shows);
  }
}

async function openItems(
  page: Page,
  path: string,
  shows: string,
  { at, inside }: { readonly at: number; readonly inside: string },
  results: StatesReport,
): Promise<void> {
  const items = page.locator('[role="menu"]:popover-open [role^="menuitem"]:not([aria-disabled="true"])');
  const count = await items.count();
  for (let item = 0; item < count; item++) {
    await openPage(page, path, shows);
    await page.locator(`${inside} button:not([aria-disabled="true"]):visible`).nth(at).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(120);
    const before = await page.locator('dialog:modal').count();
    await items.nth(item).focus();
    await page.keyboard.press('Enter');
    await page.waitForTimeout(200);
    if ((await page.locator('dialog:modal').count()) <= before) continue;
    const title = await titleOf(page);
    if (results.opened.has(title)) continue;
    results.opened.add(title);
    await look(page, title, results.problems);
    await page.keyboard.press('Escape');
    await page.waitForTimeout(120);
    if ((await page.locator('dialog:modal').count()) > before) results.stuck.push(`${title} does not close`);
  }
}

async function titleOf(page: Page): Promise<string> {
  const last = page.locator(OPENED).last();
  const role = (await last.getAttribute('role')) === 'menu' ? 'menu' : 'dialog';
  const title = (await last.getAttribute('aria-label')) ?? (await last.locator('h2').first().innerText());
  return `${role} ${title}`;
}

describe.each(ALL ? [null] : [])('axe', () => {
  it('finds no issues in any menu or dialog on a page, each opened by keyboard', async () => {
    const { visitor, page } = await openTab(one);
    await page.route('**/trpc/**', (route) => (route.request().method() === 'POST' ? refuse(route) : route.continue()));
    const results: StatesReport = { problems: {}, opened: new Set(), stuck: [] };
    for (const [path, shows] of pages) await openAll(page, placed(path, ids), shows, results);

    expect(results.problems).toEqual({});
    expect(results.stuck).toEqual([]);
    // A smaller number would mean that this test no longer finds the elements that open.
    expect(results.opened.size, [...results.opened].join('\n')).toBeGreaterThan(40);
    await visitor.stop();
  }, 900_000);
});
