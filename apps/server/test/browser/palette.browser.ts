import { invoke } from '@postrider/core';
import { createSuppressions } from '@postrider/core/suppressions';
import { words as holds } from '@postrider/dashboard/strings/pages/operations/holds';
import { words as apiKeys } from '@postrider/dashboard/strings/pages/settings/api-keys';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Visitor } from '@postrider/testing/chromium';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

const { palette } = shell;
/** `npm run test:browser -- --all` opens it 50 times. */
const ROUNDS = inject('leaves_nothing_out') ? 50 : 12;
/** Milliseconds between keys, from a fast typist to a slow one. */
const SPEEDS = [20, 60, 120];
const TYPED = ['gmail.com', 'spamtrap@yahoo.com', 'm d e k s'];

let stage: Stage;
let visitor: Visitor;
let page: Page;
beforeAll(async () => {
  stage = await startStage();
  visitor = await stage.visitor('operator');
  ({ page } = await visitor.open());
});
afterAll(async () => {
  await visitor.stop();
  await stage.stop();
});

async function openWith(text: string): Promise<void> {
  await page.goto('/emails');
  await page.locator('.nav').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type(text);
}

describe('the palette', () => {
  it(`loses no key and acts on none, in ${ROUNDS} openings on a page that has just loaded`, async () => {
    // With a route, the browser caches no script, so that each opening has to load the palette.
    await page.route('**/assets/*', (route) => route.continue());
    for (let round = 0; round < ROUNDS; round++) {
      const typed = TYPED[round % TYPED.length] ?? '';
      await page.goto('/emails', { waitUntil: 'commit' });
      await page.locator('.nav').waitFor();
      const url = page.url();
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed, { delay: SPEEDS[round % SPEEDS.length] ?? 0 });

      const field = page.getByRole('combobox', { name: palette.title });
      await expect.poll(() => field.inputValue(), { message: `round ${round}` }).toBe(typed);
      expect(page.url(), `round ${round}`).toBe(url);
    }
    await page.unroute('**/assets/*');
  });

  it('answers an address with its suppression, its holds and how its newest emails ended', async () => {
    const { world } = stage;
    await sendMail(stage, { to: 'ada@gmail.com', subject: 'Delivered to Ada' });
    await world.drain();
    await invoke(world.as(world.workspace_id), createSuppressions, { email: 'ada@gmail.com', reason: 'Asked' });
    await openWith('ada@gmail.com');

    const card = page.locator('.address-card');
    await card.getByText(palette.address.suppressed.manual).waitFor();
    await card.getByText(palette.address.notHeld).waitFor();
    const rows = card.getByRole('option');
    await rows.filter({ hasText: 'Delivered to Ada' }).getByText('Captured').waitFor();
    await rows.filter({ hasText: palette.address.all }).click();
    await page.waitForURL('**/emails?q=to*');
  });

  it('opens the record of a pasted ID, although Enter comes before the result', async () => {
    const id = await sendMail(stage, { subject: 'Pasted' });
    await openWith(id);
    await page.keyboard.press('Enter');

    await page.waitForURL(`**/emails/${id}`);
  });

  it('loses no text that is pasted on a page that has just loaded', async () => {
    const id = await sendMail(stage, { subject: 'From the clipboard' });
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.origin });
    await page.goto('/emails');
    await page.evaluate(`navigator.clipboard.writeText('${id}')`);
    await page.route('**/assets/*', (route) => route.continue());
    for (let round = 0; round < 5; round++) {
      await page.goto('/emails', { waitUntil: 'commit' });
      await page.locator('.nav').waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.press('Control+v');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/w/*/emails/${id}`);
    }
    await page.unroute('**/assets/*');
  });

  it('selects the first result, even if it came after the actions', async () => {
    await sendMail(stage, { to: 'bob@gmail.com', subject: 'gmail.com is slow' });
    await openWith('gmail.com');
    await page.getByRole('listbox').getByRole('option').filter({ hasText: 'gmail.com is slow' }).waitFor();

    await expect
      .poll(() => page.getByRole('listbox').getByRole('option').first().getAttribute('aria-selected'))
      .toBe('true');
    expect(await page.getByRole('option', { name: palette.hold('gmail.com') }).getAttribute('aria-selected')).toBe(
      'false',
    );
    await page.keyboard.press('Escape');
  });

  it('runs actions: hold a destination, and create a key', async () => {
    await openWith('hold gmail.com');
    await page.getByRole('option', { name: palette.hold('gmail.com') }).click();
    await page.getByRole('dialog', { name: holds.creating.titleOf('gmail.com') }).waitFor();

    await openWith('new api key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: apiKeys.dialog.title }).waitFor();
  });

  it('finds documentation, and pages by what people come for', async () => {
    await openWith('verify signature');
    const doc = page.getByRole('listbox').getByRole('option').filter({ hasText: palette.doc }).first();
    await doc.click();
    await page.waitForURL('**/docs/**');

    await openWith('rotate key');
    await page.getByRole('listbox').getByRole('option').first().click();
    await page.waitForURL('**/settings/api-keys');
  });

  it('leaves / to the search of a page that has one', async () => {
    await page.goto('/emails');
    const search = page.getByRole('main').getByRole('searchbox');
    await search.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('to:ada@gmail.com');

    expect(await search.inputValue()).toBe('to:ada@gmail.com');
    expect(await page.getByRole('combobox', { name: palette.title }).count()).toBe(0);
  });
});
