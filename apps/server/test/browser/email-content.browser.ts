import { invoke } from '@postrider/core';
import { createWebhook } from '@postrider/core/webhooks';
import { words as compose } from '@postrider/dashboard/strings/pages/compose';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as webhooks } from '@postrider/dashboard/strings/pages/webhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
});
afterAll(() => stage.stop());

describe('an email', () => {
  it('has content checks, and the webhooks that were notified of it', async () => {
    const { world } = stage;
    await invoke(world.as(world.workspace_id), createWebhook, { url: 'http://127.0.0.1:4999/hooks' });
    const id = await sendMail(stage, {
      subject: 'Checked',
      html: '<p>Hello Grace, read <a href="http://example.com">this</a>.</p><img src="cid:logo">',
      text: 'Hello, read this.',
      metadata: { order: '88174' },
    });
    await world.drain();
    await world.postWebhooks();
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`/emails/${id}?tab=checks`);

    const checks = page.getByRole('table', { name: detail.checks.label });
    const rowOf = (name: keyof typeof detail.checks.names) =>
      checks.getByRole('row').filter({ hasText: detail.checks.names[name] });
    await rowOf('same_words').getByText(detail.checks.missing(1, 'grace')).waitFor();
    await rowOf('links').getByText(detail.checks.insecure('http://example.com')).waitFor();
    await rowOf('images').getByText(detail.checks.undescribed(1)).waitFor();
    await page.getByText('88174').waitFor();

    await page.getByRole('link', { name: 'email.delivered' }).click();
    await page.getByRole('dialog').getByText(webhooks.delivery.each).waitFor();
    expect(new URL(page.url()).pathname).toContain('/webhooks/');
    await page.keyboard.press('Escape');
    // The column needs a wide window.
    await page.setViewportSize({ width: 1600, height: 900 });
    await page.getByRole('link', { name: 'Checked', exact: true }).first().waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the New email page', () => {
  it('links to the domain that is not verified yet, and names the button by what it does', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/domains?open=new');
    await page.getByRole('dialog').getByRole('textbox').fill('pending.example');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/domains/pending.example');
    await page.goto('/emails/new');
    await page.getByLabel(compose.from, { exact: true }).fill('hello@pending.example');
    await page.getByLabel(compose.schedule).fill('2099-01-01T10:00');
    await page.getByRole('button', { name: compose.scheduleEmail }).click();

    const message = page.getByText('pending.example is not verified', { exact: false });
    await page.getByRole('link', { name: compose.openDomain('pending.example') }).waitFor();
    await expect.poll(() => message.count()).toBeLessThanOrEqual(1);
    await page.getByLabel(compose.schedule).fill('');
    await page.getByRole('button', { name: compose.submit }).waitFor();
    await visitor.stop();
  });
});
