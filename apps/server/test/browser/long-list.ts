import { words as parts } from '@postrider/dashboard/strings/parts';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Returns how many rows are loaded, whether or not they are rendered. */
export const countLoaded = (page: Page) =>
  page.evaluate<number>(`(() => {
    const table = document.querySelector('main table');
    return Number(table.getAttribute('aria-rowcount') ?? table.rows.length) - 1;
  })()`);

export async function loadAll(page: Page): Promise<void> {
  const older = page.getByRole('button', { name: parts.older });
  while ((await older.count()) > 0) {
    const before = await countLoaded(page);
    await older.click();
    await expect.poll(() => countLoaded(page)).toBeGreaterThan(before);
    await page.waitForLoadState('networkidle');
  }
}
