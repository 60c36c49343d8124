import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';
import { countLoaded, loadAll } from './long-list.ts';

const COUNT = 320;
/** More rows than the window and the rows around it contain, so that j leaves what was rendered first. */
const STEPS = 120;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  const { world } = stage;
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', text: 'Hi' };
  for (let number = 1; number <= COUNT; number++)
    await invoke(world.as(world.workspace_id), sendMessage, { ...mail, subject: `Email ${number}` });
});
afterAll(() => stage.stop());

async function openAll(page: Page): Promise<void> {
  await page.goto('/emails');
  await page.getByRole('link', { name: `Email ${COUNT}`, exact: true }).waitFor();
  await loadAll(page);
}

const rendered = (page: Page) => page.locator('main tbody tr').count();
const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');
const has_focus_in_sight = (page: Page) =>
  page.evaluate<boolean>(`(() => {
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  })()`);

describe('a list of more than 200 rows', () => {
  it('renders only the rows in sight, and scrolls to its last row', async () => {
    const visitor = await stage.visitor('viewer');
    const tab = await visitor.open();
    const { page } = tab;

    await openAll(page);
    expect(await countLoaded(page)).toBe(COUNT);
    await expect.poll(() => rendered(page)).toBeLessThan(100);

    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('link', { name: `Email ${COUNT}`, exact: true }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Email 1', exact: true }).count()).toBe(0);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const last = page.getByRole('link', { name: 'Email 1', exact: true });
    await last.waitFor();

    expect(await page.getByRole('row').filter({ has: last }).getAttribute('aria-rowindex')).toBe(String(COUNT + 1));
    expect(await rendered(page)).toBeLessThan(100);
    expectQuiet(tab);
    await visitor.stop();
  });

  it('moves the focus with j past the rendered rows, and renders the focused row wherever the page scrolls', async () => {
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await openAll(page);
    await page.evaluate('document.activeElement.blur(), scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByRole('link', { name: 'Email 1', exact: true }).waitFor();

    await page.keyboard.press('j');
    await expect.poll(() => focused(page)).toBe(`Email ${COUNT}`);
    for (let step = 1; step <= STEPS; step++) {
      await page.keyboard.press('j');
      await expect.poll(() => focused(page), { interval: 5 }).toBe(`Email ${COUNT - step}`);
    }
    expect(await has_focus_in_sight(page)).toBe(true);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('link', { name: `Email ${COUNT}`, exact: true }).waitFor();
    expect(await focused(page)).toBe(`Email ${COUNT - STEPS}`);
    await page.keyboard.press('ArrowUp');

    await expect.poll(() => focused(page)).toBe(`Email ${COUNT - STEPS + 1}`);
    await expect.poll(() => has_focus_in_sight(page)).toBe(true);
    await visitor.stop();
  });

  it('returns the focus of a closing drawer to its row, even if the row was not rendered', async () => {
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await openAll(page);
    await page.evaluate('scrollTo(0, 0)');
    await page.getByRole('link', { name: `Email ${COUNT}`, exact: true }).click();
    await page.getByRole('dialog').waitFor();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');

    await page.keyboard.press('Escape');

    await expect.poll(() => focused(page)).toBe(`Email ${COUNT}`);
    await expect.poll(() => has_focus_in_sight(page)).toBe(true);
    expect(await page.getByRole('table', { name: emails.title }).count()).toBe(1);
    await visitor.stop();
  });
});
