import { words as overview } from '@postrider/dashboard/strings/pages/overview';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';
import { type Ids, openPage, pages, placed, seedOne } from './pages.ts';
import { routePath } from './route-path.ts';

let stage: Stage;
let ids: Ids;
beforeAll(async () => {
  stage = await startStage();
  ids = await seedOne(stage);
});
afterAll(() => stage.stop());

/**
 * Numbers the elements that Tab must reach, and places focus before them: in the topmost dialog if one is open, in the
 * whole document on the first page, and in the content on every other page, because all pages share the sidebar. An
 * email's frame has no controls, and its text is in separate tabs. Before each key, records where the focus is, whether
 * it is drawn, and whether any of it is visible.
 */
const NUMBER_STOPS = `(() => {
  const content = /^\\/w\\/[^/]+$/.test(location.pathname) ? null : document.querySelector('main');
  const top = [...document.querySelectorAll('dialog:modal')].at(-1) ?? content ?? document;
  if (top === content) content.focus();
  const all = top.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  const stops = [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }));
  stops.forEach((one, at) => { one.dataset.stop = String(at); });
  window.places = [];
  window.notePlace = () => {
    const at = document.activeElement;
    if (at?.dataset.stop === undefined) return;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
    const drawn = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
    const { left, right, top, bottom } = at.getBoundingClientRect();
    const points = [0.1, 0.5, 0.9].flatMap((x) => [0.2, 0.5, 0.8].map((y) => [left + (right - left) * x, top + (bottom - top) * y]));
    const visible = points.some(([x, y]) => { const hit = document.elementFromPoint(x, y); return hit && (at.contains(hit) || hit.contains(at)); });
    window.places.push({ stop: Number(at.dataset.stop), drawn, seen: visible });
  };
  document.addEventListener('keydown', window.notePlace, true);
  return stops.map((one) => one.getAttribute('aria-label') || one.textContent.trim().slice(0, 40) || one.outerHTML.slice(0, 80));
})()`;

const PLACES = '(window.notePlace(), window.places)';

/** Rows that open something on click but contain no link, so that the keyboard cannot open it. */
const CLOSED_ROWS = `[...document.querySelectorAll('tr.opens')].filter((row) => !row.querySelector('a[href]')).map((row) => row.textContent.slice(0, 60))`;

interface Place {
  readonly stop: number;
  readonly drawn: boolean;
  readonly seen: boolean;
}

async function unreachable(page: Page): Promise<string[]> {
  const names = await page.evaluate<string[]>(NUMBER_STOPS);
  let reached = new Map<number, Place>();
  // A date field has several tab stops, and the window itself is also a tab stop.
  const max = names.length * 3 + 20;
  for (let presses = 0; presses < max && reached.size < names.length; ) {
    const missing = names.length - reached.size;
    for (let press = 0; press < missing; press++) await page.keyboard.press('Tab');
    presses += missing;
    const places = await page.evaluate<Place[]>(PLACES);
    reached = new Map(places.toReversed().map((place) => [place.stop, place]));
  }
  const rows = await page.evaluate<string[]>(CLOSED_ROWS);
  return [
    ...[...reached.values()].flatMap(({ stop, drawn: is_drawn, seen: is_visible }) => [
      ...(is_drawn ? [] : [`the focus is not drawn: ${names[stop]}`]),
      ...(is_visible ? [] : [`the focus is hidden: ${names[stop]}`]),
    ]),
    ...names.flatMap((name, stop) => (reached.has(stop) ? [] : [`not reached: ${name}`])),
    ...rows.map((text) => `opens by pointer only: ${text}`),
  ];
}

interface Link {
  readonly path: string;
  readonly word: string;
}

/** Returns every page of the navigation: its entries, in the workspace and in the instance, and the tabs of each. */
async function allPlaces(page: Page): Promise<(Link & { readonly section: string })[]> {
  const linksOf = (selector: string) =>
    page
      .locator(`${selector} a[href]`)
      .evaluateAll((all) =>
        all.map((one): Link => ({ path: one.getAttribute('href') ?? '', word: one.textContent?.trim() ?? '' })),
      );
  const places: (Link & { readonly section: string })[] = [];
  for (const start of ['/', '/instance/status']) {
    await page.goto(start);
    await page.locator('main h1:visible').waitFor();
    for (const entry of await linksOf('.nav')) {
      // After a click the page before may still be there, whose tabs would be taken for those of this one.
      await page.goto(entry.path);
      await page.locator('main h1:visible').waitFor();
      const tabs = await linksOf('.page-header > .tabs');
      places.push(...(tabs.length === 0 ? [entry] : tabs).map((link) => ({ ...link, section: entry.path })));
    }
  }
  return places;
}

describe('keyboard navigation', () => {
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    visitor = await stage.visitor('operator');
    ({ page } = await visitor.open());
  });
  afterAll(() => visitor.stop());

  it.each(pages)('reaches every control on %s by Tab, with visible focus', async (path, shows) => {
    await openPage(page, placed(path, ids), shows);

    expect(await unreachable(page)).toEqual([]);
  });

  it('opens every page with the shortcuts listed under ?, and with the command palette', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('heading', { name: overview.title }).waitFor();
    const places = await allPlaces(page);
    await page.goto('/');
    await page.getByRole('heading', { name: overview.title }).waitFor();
    await page.keyboard.press('?');
    const listed = page.getByRole('dialog');
    const rows = await listed.locator('.body').innerText();
    await page.keyboard.press('Escape');
    await listed.waitFor({ state: 'detached' });

    const opened: string[] = [];
    for (const { path, word } of places) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: shell.palette.title }).fill(word);
      await page.locator(`[role=option][data-value="page ${path.replace(/^\/w\/[^/]+/, '') || '/'}"]`).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
      opened.push(path);
    }

    expect(opened).toHaveLength(places.length);
    for (const { word } of places.slice(0, 3)) expect(rows).toContain(word);
    await visitor.stop();
  });
});

describe('the dashboard pages', () => {
  it('are all on the list that axe checks', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();

    const visited = new Set(pages.map(([path]) => path));
    const places = await allPlaces(page);
    expect(places.map(({ path }) => routePath(path)).filter((path) => !visited.has(path))).toEqual([]);
    expect(new Set(places.map(({ section }) => section)).size).toBe(16);
    await visitor.stop();
  });
});
