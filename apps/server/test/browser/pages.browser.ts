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
