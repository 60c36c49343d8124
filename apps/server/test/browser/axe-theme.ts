import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { axeProblems, type Stage, startStage } from './dashboard.ts';
import { type Ids, openPage, pages, placed, seedOne } from './pages.ts';

const VIEWPORT = { width: 1280, height: 720 };

interface Judgement {
  /** The rules of axe; null: all. */
  readonly rules: readonly string[] | null;
  /** Windows of so many pixels must not scroll sideways. */
  readonly widths: readonly number[];
}

/** Judges every page in one theme. */
export function describeTheme(theme: 'light' | 'dark', { rules, widths }: Judgement): void {
  let stage: Stage;
  let ids: Ids;
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    stage = await startStage();
    ids = await seedOne(stage);
    visitor = await stage.visitor('operator');
    await visitor.context.addCookies([{ name: 'theme', value: theme, url: stage.origin }]);
    ({ page } = await visitor.open());
  });
  afterAll(async () => {
    await visitor.stop();
    await stage.stop();
  });

  it.each(pages)('has nothing wrong on %s', async (path, shows) => {
    await openPage(page, placed(path, ids), shows);

    expect(await axeProblems(page, rules)).toEqual([]);
    for (const width of widths) {
      await page.setViewportSize({ ...VIEWPORT, width });
      await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
    await page.setViewportSize(VIEWPORT);
  });

  it.each(['?', 'Control+k'])('has nothing wrong in the dialog of %s', async (keys) => {
    await page.goto('/emails');
    await page.getByRole('heading', { name: 'Emails' }).waitFor();
    await page.keyboard.press(keys);
    await page.getByRole('dialog').waitFor();

    expect(await axeProblems(page, rules)).toEqual([]);
  });

  it('has nothing wrong in the account menu', async () => {
    await page.goto('/emails');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menu').waitFor();

    expect(await axeProblems(page, rules)).toEqual([]);
  });
}
