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
  it('axe finds nothing wrong on any page, with its dialogs open', async () => {
    const visitor = await stage.visitor('operator');
    await visitor.context.addCookies([{ name: 'theme', value: theme, url: stage.origin }]);
    const { page } = await visitor.open();
    const problems: Record<string, string[]> = {};
    for (const [path, shows] of pages) {
      await openPage(page, placed(path, ids), shows);
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
