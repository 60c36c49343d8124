import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoke } from '@postrider/core';
import { createHold, releaseHold } from '@postrider/core/holds';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook, giveUpDeliveries, testWebhook, updateWebhook } from '@postrider/core/webhooks';
import { words as overview } from '@postrider/dashboard/strings/pages/overview';
import { words as suppressions } from '@postrider/dashboard/strings/pages/suppressions';
import { words as webhooks } from '@postrider/dashboard/strings/pages/webhooks';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, refusedMail, type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
let receiver: Server;
let reply = 500;
const posted: string[] = [];
beforeAll(async () => {
  stage = await startStage({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  receiver = createServer((request, response) => {
    posted.push(String(request.headers['webhook-id']));
    response.statusCode = reply;
    response.end('noted');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stage.stop();
  await new Promise((resolve) => receiver.close(resolve));
});

describe('the Webhooks page', () => {
  it('shows each attempt to post to a new webhook, and repeats a failed post', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/webhooks?open=new');
    await page
      .getByLabel(webhooks.fields.url, { exact: true })
      .fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`);
    await page.getByRole('dialog').getByRole('button', { name: webhooks.fields.create }).click();
    await page.getByLabel(webhooks.secret.stored).check();
    await page.getByRole('button', { name: webhooks.secret.done }).click();
    await page.getByRole('link', { name: /127\.0\.0\.1/ }).click();
    await page.getByText(webhooks.formats.postrider).waitFor();
    await page.getByRole('button', { name: webhooks.detail.test }).click();
    await page.getByText(webhooks.detail.tested).waitFor();
    await stage.world.postWebhooks();

    const list = page.getByRole('table', { name: webhooks.detail.deliveries });
    await list.getByText('500').first().waitFor();
    await list.getByRole('row').nth(1).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText(`${webhooks.delivery.attempt(1)}:`).click();
    await drawer.getByText('noted').first().waitFor();
    await drawer.getByRole('region', { name: parts.texts.curl }).waitFor();
    reply = 200;
    await drawer.getByRole('button', { name: webhooks.delivery.replay }).click();
    await page.getByText(webhooks.delivery.replayed).waitFor();
    await stage.world.postWebhooks();

    await drawer.getByText(webhooks.detail.states.delivered, { exact: true }).waitFor();
    expect(new Set(posted).size).toBe(1);
    expectQuiet(tab);
    await visitor.stop();
  });
});

/** The failures in a row after which an endpoint is paused. */
const PAUSING_FAILURES = 5;

/** Adds an endpoint at its own path of the receiver. */
function addEndpoint(path: string, events: readonly string[] = ['email.queued']) {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
  return invoke(stage.world.as(stage.world.workspace_id), createWebhook, { url, events });
}

describe('the page of a webhook', () => {
  it('says that the endpoint is paused or on hold at each delivery that waits for it', async () => {
    reply = 500;
    const { id } = await addEndpoint('/paused', ['domain.verified']);
    const ctx = stage.world.as(stage.world.workspace_id);
    for (let count = 0; count < PAUSING_FAILURES; count++) await invoke(ctx, testWebhook, { id });
    await stage.world.postWebhooks();
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`/webhooks/${id}`);
    const list = page.getByRole('table', { name: webhooks.detail.deliveries });
    await list.getByText(webhooks.waiting.paused).first().waitFor();
    expect(await list.getByText(webhooks.waiting.paused).count()).toBe(PAUSING_FAILURES);

    await list.getByRole('row').nth(1).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('button', { name: webhooks.delivery.replay }).click();
    await page.getByText(webhooks.delivery.replayed).waitFor();
    await drawer.getByText(webhooks.waiting.paused).waitFor();

    await page.keyboard.press('Escape');
    await page.getByText(webhooks.quality.line('0%', '').replace(/ $/, '')).waitFor();
    await page.goto('/webhooks');
    const row = page.getByRole('table', { name: webhooks.title }).getByRole('row', { name: /paused/ });
    await row.getByTitle(webhooks.quality.attempts(PAUSING_FAILURES)).first().waitFor();
    expect(await row.getByText('0%', { exact: true }).count()).toBe(1);
    const unused = await addEndpoint('/unused', ['domain.verified']);
    await page.goto(`/webhooks/${unused.id}`);
    await page.getByText(webhooks.quality.none).waitFor();

    await page.goto(`/webhooks/${id}`);
    await list.getByRole('row').nth(1).click();
    const held = { scope: 'webhook', value: id, reason: 'An outage' } as const;
    const { id: hold_id } = await invoke(ctx, createHold, held);
    const link = drawer.getByRole('link', { name: webhooks.waiting.held });
    await link.waitFor();
    expect(await link.getAttribute('href')).toContain(`/delivery/holds?release=${hold_id}`);
    await invoke(ctx, releaseHold, { hold_id });
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the recovery of a webhook', () => {
  it('is previewed, says why nothing matches, and says what it queued', async () => {
    reply = 500;
    const { id } = await addEndpoint('/recovered', ['suppression.added']);
    const ctx = stage.world.as(stage.world.workspace_id);
    await invoke(ctx, createSuppressions, { email: 'recovered@example.com' });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    const dialog = page.getByRole('dialog');
    const text = webhooks.recovering;
    await page.goto(`/webhooks/${id}?open=recover`);
    await dialog.getByText(text.nothing({ pending: 1, delivered: 0 })).waitFor();
    await invoke(ctx, updateWebhook, { id, status: 'disabled' });
    await giveUpDeliveries(stage.world.services, id);
    await invoke(ctx, updateWebhook, { id, status: 'enabled' });

    await page.goto(`/webhooks/${id}`);
    await page.getByRole('button', { name: webhooks.detail.more }).click();
    await page.getByRole('menuitem', { name: webhooks.detail.recover }).click();
    await dialog.getByText(text.matched(text.count(1, true))).waitFor();
    await dialog.getByRole('button', { name: text.submit }).click();

    await page.getByText(text.done(text.count(1, true))).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the Suppressions page', () => {
  it('adds an address, which then gets no email, and removes it once it is typed to confirm', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/suppressions');
    await page.getByRole('button', { name: suppressions.add }).first().click();
    await page.getByRole('dialog').locator('textarea, input').first().fill('gone@example.com');
    await page.getByRole('dialog').locator('button[type="submit"]').click();
    await page.getByRole('row', { name: /gone@example\.com/ }).waitFor();
    await refusedMail(stage, { to: 'gone@example.com' });

    await page.goto('/suppressions?remove=gone@example.com');
    await page.getByRole('dialog').getByLabel(parts.confirm.label('gone@example.com')).fill('gone@example.com');
    await page.getByRole('dialog').locator('button[type="submit"]').click();

    await page.getByRole('row', { name: /gone@example\.com/ }).waitFor({ state: 'detached' });
    expectQuiet(tab);
    await visitor.stop();
  });
});

describe('the first steps', () => {
  it('are checked off automatically while another program sends', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');
    const steps = page.getByRole('listitem').filter({ hasText: overview.steps.texts.test_send[0] });
    await steps.waitFor();
    expect(await steps.locator('time').count()).toBe(0);

    await sendMail(stage, {});
    await stage.world.drain();

    await steps.locator('time').waitFor();
    await visitor.stop();
  });
});
