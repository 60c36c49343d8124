import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';
import { type Ids, openPage, pages, placed, seedOne } from './pages.ts';

let stage: Stage;
let ids: Ids;
beforeAll(async () => {
  stage = await startStage();
  ids = await seedOne(stage);
});
afterAll(() => stage.stop());

/** Numbers what Tab must reach (a frame of mail has no controls; its text is in tabs of its own): in the dialog on top if one is open, in the whole page otherwise. */
const NUMBER_STOPS = `(() => {
  const top = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document;
  const all = top.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]');
  const stops = [...all].filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }));
  stops.forEach((one, at) => { one.dataset.stop = String(at); });
  return stops.map((one) => one.getAttribute('aria-label') || one.textContent.trim().slice(0, 40) || one.outerHTML.slice(0, 80));
})()`;

/** Rows that open something, and not by keyboard: it needs a link in the row. */
const CLOSED_ROWS = `[...document.querySelectorAll('tr.opens')].filter((row) => !row.querySelector('a[href]')).map((row) => row.textContent.slice(0, 60))`;

/** Where the focus is, whether it is drawn, and whether any of it can be seen. */
const AT = `(() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
  const drawn = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  const { left, right, top, bottom } = at.getBoundingClientRect();
  const points = [0.1, 0.5, 0.9].flatMap((x) => [0.2, 0.5, 0.8].map((y) => [left + (right - left) * x, top + (bottom - top) * y]));
  const seen = points.some(([x, y]) => { const hit = document.elementFromPoint(x, y); return hit && (at.contains(hit) || hit.contains(at)); });
  return { stop: at.dataset.stop ?? null, drawn, seen };
})()`;

interface Place {
  readonly stop: string | null;
  readonly drawn: boolean;
  readonly seen: boolean;
}

async function unreachable(page: Page): Promise<string[]> {
  const names = await page.evaluate<string[]>(NUMBER_STOPS);
  const left = new Set(names.keys());
  const problems: string[] = [];
  // A field of a date has several places for Tab, and the window itself is one.
  for (let press = 0; press < names.length * 3 + 20 && left.size > 0; press++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate<Place | null>(AT);
    if (at === null || at.stop === null || !left.delete(Number(at.stop))) continue;
    if (!at.drawn) problems.push(`the focus is not drawn: ${names[Number(at.stop)]}`);
    if (!at.seen) problems.push(`the focus is hidden: ${names[Number(at.stop)]}`);
  }
  const rows = await page.evaluate<string[]>(CLOSED_ROWS);
  problems.push(...rows.map((text) => `opens by pointer only: ${text}`));
  return [...problems, ...[...left].map((stop) => `not reached: ${names[stop]}`)];
}

describe('by keyboard alone', () => {
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    visitor = await stage.visitor('operator');
    ({ page } = await visitor.open());
  });
  afterAll(() => visitor.stop());

  it.each(pages)('%s has every control in reach of Tab, with its focus drawn and in view', async (path, shows) => {
    await openPage(page, placed(path, ids), shows);

    expect(await unreachable(page)).toEqual([]);
  });

  it('every page of the navigation is opened by the keys that ? lists, and by the palette', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const links = page.getByRole('navigation').getByRole('link');
    const places = await links.evaluateAll((all) =>
      all.map((one) => ({ path: one.getAttribute('href') ?? '', word: one.textContent?.trim() ?? '' })),
    );
    await page.keyboard.press('?');
    const listed = page.getByRole('dialog');
    const rows = await listed.locator('.body').innerText();
    await page.keyboard.press('Escape');
    await listed.waitFor({ state: 'detached' });

    const opened: string[] = [];
    for (const { path, word } of places) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find' }).fill(word);
      await page.getByRole('option', { name: word }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
      opened.push(path);
    }

    expect(opened).toHaveLength(places.length);
    for (const { word } of places.slice(0, 9)) expect(rows).toContain(word);
    await visitor.stop();
  });
});

describe('the pages', () => {
  it('are all in the list that axe judges', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');

    const links = page.getByRole('navigation').getByRole('link');
    await links.first().waitFor();
    const linked = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));

    const seen = new Set(pages.map(([path]) => path));
    expect(linked.filter((path) => !seen.has(path))).toEqual([]);
    await visitor.stop();
  });
});
