import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { axeProblems, type Stage, startStage } from './dashboard.ts';
import { layoutProblems } from './layout-problems.ts';
import { type Ids, openPage, pages, placed, seedOne } from './pages.ts';
import { wordsAround } from './words-around.ts';

/** A desktop, a small laptop and a phone. */
const WIDTHS = [1440, 1024, 390];
/** A small laptop shows the page of the desktop. `npm run test:browser -- --all` checks every width. */
const AXE_WIDTHS = inject('leaves_nothing_out') ? WIDTHS : [1440, 390];
/** At 400 % zoom, a window of 1,280 pixels is 320 wide. */
const NARROWEST = 320;
const HEIGHT = 900;
/** The limit of the Web Vitals is 0.1. */
const MAX_SHIFT = 0.02;
/**
 * Only colors differ from the light theme, and none of them by the width. `npm run test:browser -- --all` checks every
 * rule in both themes at every width.
 */
const DARK_RULES = inject('leaves_nothing_out') ? null : ['color-contrast'];
const DARK_WIDTHS = inject('leaves_nothing_out') ? WIDTHS : [1440];

let stage: Stage;
let ids: Ids;
let visitor: Visitor;
let page: Page;
beforeAll(async () => {
  stage = await startStage();
  ids = await seedOne(stage);
  visitor = await stage.visitor('operator');
  await visitor.context.addCookies([{ name: 'theme', value: 'light', url: stage.origin }]);
  ({ page } = await visitor.open());
  // With animations, a color halfway between two themes could be measured.
  await page.emulateMedia({ reducedMotion: 'reduce' });
});
afterAll(async () => {
  await visitor.stop();
  await stage.stop();
});

async function problemsInBothThemes(width = 1440): Promise<Record<'light' | 'dark', string[]>> {
  const light = await axeProblems(page, null);
  if (!DARK_WIDTHS.includes(width)) return { light, dark: [] };
  await page.evaluate(`document.documentElement.dataset.theme = 'dark'`);
  const dark = await axeProblems(page, DARK_RULES);
  await page.evaluate(`document.documentElement.dataset.theme = 'light'`);
  return { light, dark };
}

/** Returns the cumulative layout shift of the page so far. */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let total = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) total += value;
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(total), 50);
  })`);
}

const NONE = { light: [], dark: [] };

describe('axe in both themes', () => {
  it.each(pages)('finds no issues on %s, of which nothing is clipped in any window', async (path, shows) => {
    await openPage(page, placed(path, ids), shows);

    expect(await layoutShift(page), 'the layout shift while the page loads').toBeLessThanOrEqual(MAX_SHIFT);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      if (AXE_WIDTHS.includes(width)) expect(await problemsInBothThemes(width), `axe at ${width} px`).toEqual(NONE);
      await expect.poll(() => layoutProblems(page), { message: `the layout at ${width} px` }).toEqual([]);
    }
    await page.setViewportSize({ width: NARROWEST, height: HEIGHT });
    const width = () => page.evaluate<number>('document.documentElement.scrollWidth');
    await expect.poll(width).toBeLessThanOrEqual(NARROWEST);
    await page.setViewportSize({ width: 1440, height: HEIGHT });
  });

  it.each(['?', 'Control+k'])('finds no issues in the dialog opened by %s', async (keys) => {
    await page.goto('/emails');
    await page.getByRole('heading', { name: emails.title }).waitFor();
    await page.keyboard.press(keys);
    await page.getByRole('dialog').waitFor();

    expect(await problemsInBothThemes()).toEqual(NONE);
  });

  it('finds no issues in the account menu', async () => {
    await page.goto('/emails');
    await page.getByRole('button', { name: wordsAround(shell.account.menu) }).click();
    await page.getByRole('menu').waitFor();

    expect(await problemsInBothThemes()).toEqual(NONE);
  });
});
