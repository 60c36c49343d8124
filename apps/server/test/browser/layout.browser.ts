import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

/** Returns whether all of an element is inside the window. */
const is_in_sight = (element: Locator) =>
  element.evaluate((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  });

describe('the dialog of shortcuts', () => {
  it.each([
    { width: 1440, height: 900 },
    { width: 390, height: 700 },
  ])('opens at its top in a window of $width × $height', async (size) => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize(size);
    await page.goto('/emails');
    await page.getByRole('heading', { name: emails.title }).waitFor();

    await page.keyboard.press('?');

    const dialog = page.getByRole('dialog', { name: shell.shortcuts.title });
    await dialog.waitFor();
    const title = dialog.getByRole('heading', { name: shell.shortcuts.title });
    await expect.poll(() => is_in_sight(title)).toBe(true);
    expect(await is_in_sight(dialog.getByText(shell.shortcuts.rows))).toBe(true);
    expect(await is_in_sight(page.locator(':focus'))).toBe(true);
    expect(await dialog.locator('dt').filter({ hasText: /^g/ }).count()).toBeGreaterThan(20);
    if (size.width > 1000) expect(await dialog.evaluate((one) => one.scrollHeight <= one.clientHeight + 1)).toBe(true);
    await visitor.stop();
  });
});

describe('the sidebar', () => {
  it('fits the window below the notice that no worker is running, wherever the page is scrolled', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/instance/health');
    await page.getByText(shell.noWorker).waitFor();
    const account = page.getByRole('button', { name: shell.account.menu('operator@people.test') });

    expect(await is_in_sight(account)).toBe(true);
    expect(await is_in_sight(page.getByText(shell.noWorker))).toBe(true);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    expect(await is_in_sight(account)).toBe(true);
    await visitor.stop();
  });
});
