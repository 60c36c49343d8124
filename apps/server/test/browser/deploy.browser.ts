import { words as shell } from '@postrider/dashboard/strings/shell';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('a tab running the previous release', () => {
  it('reports the new release, stays on its page, and is never blank', async () => {
    await sendMail(stage, { subject: 'Before' });
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/emails');
    await page.getByRole('link', { name: 'Before' }).waitFor();

    stage.deploy();
    await sendMail(stage, { subject: 'After' });

    await page.getByText(shell.updated).waitFor();
    await page.getByRole('link', { name: 'Before' }).waitFor();
    // This page's chunk belongs to the old release and no longer exists.
    await page.getByRole('link', { name: shell.places.webhooks }).click();
    await page.getByRole('navigation').first().waitFor();
    await page.getByRole('button', { name: shell.reload }).waitFor();
    expect((await page.locator('body').innerText()).length).toBeGreaterThan(100);
    await visitor.stop();
  });
});
