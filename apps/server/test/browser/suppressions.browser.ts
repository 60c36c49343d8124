import { invoke } from '@postrider/core';
import { listAudit } from '@postrider/core/audit';
import { words as suppressions } from '@postrider/dashboard/strings/pages/suppressions';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

const RESPONSE = '5.1.1 <gone@example.com>: Recipient address rejected: User unknown';

let stage: Stage;
let bounced: string;
beforeAll(async () => {
  stage = await startStage();
  stage.world.smtp.script(({ to }) =>
    to === 'gone@example.com' ? { kind: 'reply', code: 550, text: RESPONSE } : { kind: 'accept' },
  );
  bounced = await sendMail(stage, { to: 'gone@example.com', subject: 'Your receipt' });
  await stage.world.drain();
});
afterAll(() => stage.stop());

describe('the suppression list', () => {
  it('shows whether an address is suppressed, and keeps the search in the URL', async () => {
    const visitor = await stage.visitor('viewer');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/suppressions?source=manual');
    await page.getByText(suppressions.filtered.title).waitFor();
    const search = page.getByRole('searchbox', { name: suppressions.search.label });

    await search.fill('Gone@Example.com');
    await search.press('Enter');
    await page.getByRole('row', { name: /gone@example\.com/ }).waitFor();
    await page.getByText(suppressions.answer.blocked('Gone@Example.com')).waitFor();
    await search.fill('ada@example.com');
    await search.press('Enter');
    await page.getByText(suppressions.none.about).waitFor();

    await page.reload();
    await page.getByText(suppressions.answer.sent('ada@example.com')).waitFor();
    expect(await search.inputValue()).toBe('ada@example.com');
    await visitor.stop();
  });

  it('opens an address with the server response and its email, and removes it with a reason', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/suppressions');
    await page.getByRole('link', { name: 'gone@example.com' }).click();
    const drawer = page.getByRole('dialog', { name: 'gone@example.com' });
    await drawer.getByText(RESPONSE).waitFor();
    const cause = drawer.getByRole('link', { name: 'Your receipt' });
    await cause.waitFor();
    expect(await cause.getAttribute('href')).toContain(bounced);
    expect(await drawer.getByRole('link', { name: suppressions.detail.emails }).getAttribute('href')).toContain(
      'to%3A',
    );

    await drawer.getByRole('button', { name: suppressions.removing.submit }).click();
    const dialog = page.getByRole('dialog', { name: suppressions.removing.title('gone@example.com') });
    await dialog.getByLabel(parts.confirm.label('gone@example.com')).fill('gone@example.com');
    await dialog.getByLabel(parts.reason.label).fill('New mailbox');
    await dialog.getByRole('button', { name: suppressions.removing.submit }).click();

    await page.getByText(suppressions.removing.done('gone@example.com')).waitFor();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    const { world } = stage;
    const { data } = await invoke(world.as(world.workspace_id), listAudit, { action: 'suppression.removed' });
    expect(data).toMatchObject([{ reason: 'New mailbox' }]);
    expectQuiet(tab);
    await visitor.stop();
  });

  it('adds a pasted list with a result for each address', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/suppressions?open=new');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(suppressions.adding.email).fill('one@example.com\ntwo@example.com, not-an-address');
    await dialog.getByLabel(parts.reason.label).fill('Requested by phone');
    await dialog.getByRole('button', { name: suppressions.adding.submit }).click();

    await page.getByRole('dialog', { name: suppressions.adding.results.title(2, 3) }).waitFor();
    const results = page.getByRole('table', { name: suppressions.adding.results.label });
    await results
      .getByRole('row', { name: /not-an-address/ })
      .getByText(suppressions.adding.results.rejected)
      .waitFor();
    await page.getByRole('button', { name: suppressions.adding.results.close }).click();
    const list = page.getByRole('table', { name: suppressions.title });
    await list
      .getByRole('row', { name: /two@example\.com/ })
      .getByText('Requested by phone')
      .waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});
