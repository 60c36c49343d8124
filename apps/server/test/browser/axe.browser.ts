import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { axeProblems, type Stage, startStage } from './dashboard.ts';
import { type Ids, openPage, pages, placed, seedOne } from './pages.ts';

let stage: Stage;
let ids: Ids;
beforeAll(async () => {
  stage = await startStage();
  ids = await seedOne(stage);
});
afterAll(() => stage.stop());

/** In the second theme only colours differ; `npm run test:browser -- --all` asks for every rule in both. */
const ALL = inject('leaves_nothing_out');

describe.each([
  ['light', null],
  ['dark', ALL ? null : ['color-contrast']],
] as const)('the %s theme', (theme, rules) => {
  let visitor: Visitor;
  let page: Page;
  beforeAll(async () => {
    visitor = await stage.visitor('operator');
    await visitor.context.addCookies([{ name: 'theme', value: theme, url: stage.origin }]);
    ({ page } = await visitor.open());
  });
  afterAll(() => visitor.stop());

  it.each(pages)('has nothing wrong on %s', async (path, shows) => {
    await openPage(page, placed(path, ids), shows);

    expect(await axeProblems(page, rules)).toEqual([]);
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
});

describe('the pages', () => {
  it('are all looked at by axe', async () => {
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

  // A window of 1,280 pixels is 640 wide at a zoom of 200 %.
  it.each([320, 640])('fit a window of %s pixels without scrolling sideways', async (room) => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: room, height: 640 });
    const wide: string[] = [];
    for (const [path, shows] of pages) {
      await openPage(page, placed(path, ids), shows);
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (width > room) wide.push(`${path} ${width}`);
    }

    expect(wide).toEqual([]);
    await visitor.stop();
  });
});
