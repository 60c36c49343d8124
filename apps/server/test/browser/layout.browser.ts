import { invoke } from '@postrider/core';
import { createHold } from '@postrider/core/holds';
import { measureQueues, queueNames } from '@postrider/core/queues';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as queues } from '@postrider/dashboard/strings/pages/operations/queues';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  const { world } = stage;
  await measureQueues(world.services.sql, queueNames, 0);
  const hold = { scope: 'queue', value: 'domain.cancel_mail', reason: 'Their server is full' };
  await invoke(world.as(world.workspace_id), createHold, hold);
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
    expect(await dialog.locator('dt').filter({ hasText: /^g/ }).count()).toBeGreaterThan(10);
    if (size.width > 1000) expect(await dialog.evaluate((one) => one.scrollHeight <= one.clientHeight + 1)).toBe(true);
    await visitor.stop();
  });
});

describe('the sidebar', () => {
  it('fits the window below the notice that no worker is running, wherever the page is scrolled', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/instance/status');
    await page.getByText(shell.noWorker).waitFor();
    const account = page.getByRole('button', { name: shell.account.menu('operator@people.test') });

    expect(await is_in_sight(account)).toBe(true);
    expect(await is_in_sight(page.getByText(shell.noWorker))).toBe(true);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    expect(await is_in_sight(account)).toBe(true);
    await visitor.stop();
  });
});

describe('the Queues page', () => {
  it.each([1440, 1280, 1024, 800, 390])('clips no queue name and no control in a window of %i px', async (width) => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.setViewportSize({ width, height: 900 });
    await page.goto('/instance/queues');
    await page.getByText(queues.held, { exact: true }).waitFor();

    const clipped = await page.locator('main .table').evaluate((table) => {
      const { left, right } = table.closest('.table-wrap')?.getBoundingClientRect() ?? { left: 0, right: 0 };
      const names = [...table.querySelectorAll('tbody td:has(a)')].filter(
        (cell) => cell.scrollWidth > cell.clientWidth,
      );
      const outside = [...table.querySelectorAll('tbody :is(a, button)')].filter((one) => {
        const box = one.getBoundingClientRect();
        return box.left < left || box.right > right;
      });
      return [...names, ...outside].map((one) => one.textContent);
    });

    expect(await page.getByRole('button', { name: queues.resume, exact: true }).count()).toBe(1);
    expect(await page.getByRole('button', { name: queues.hold }).count()).toBeGreaterThan(3);
    expect(clipped).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await visitor.stop();
  });
});
