import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invoke } from '@postrider/core';
import { causes } from '@postrider/core/explanations';
import { createHold } from '@postrider/core/holds';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as bulk } from '@postrider/dashboard/strings/pages/operations/bulk';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('the Emails page', () => {
  it('stores the search in the URL, and supports keyboard navigation of the results', async () => {
    await sendMail(stage, { to: 'ada@example.com', subject: 'First', tags: ['invoice'] });
    await sendMail(stage, { to: 'bob@example.com', subject: 'Second' });
    await stage.world.drain();
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/emails');
    await page.getByRole('searchbox').fill('tag:invoice to:ada@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Second' }).waitFor({ state: 'detached' });

    await page.reload();

    expect(await page.getByRole('searchbox').inputValue()).toBe('tag:invoice to:ada@example.com');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'First' }).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog')
      .getByText(wordsAround((took) => detail.answer.captured(1, took)))
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('First');
    expectQuiet(tab);
    await visitor.stop();
  });

  it('announces new email without moving a row, and shows it on request', async () => {
    await sendMail(stage, { subject: 'Before' });
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await page.goto('/emails');
    await page.getByRole('link', { name: 'Before' }).waitFor();
    const top = () => page.getByRole('link', { name: 'Before' }).evaluate((one) => one.getBoundingClientRect().top);
    const before = await top();
    await sendMail(stage, { subject: 'After' });
    await page.getByRole('button', { name: emails.fresh(1) }).waitFor();
    expect(await top()).toBe(before);

    await page.getByRole('button', { name: emails.fresh(1) }).click();

    await page.getByRole('link', { name: 'After' }).waitFor();
    await visitor.stop();
  });

  it('shows why an email is waiting, next to an action that releases it', async () => {
    const id = await sendMail(stage, {
      subject: 'Later',
      scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
    });
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto(`/emails/${id}`);
    const reason = page.getByRole('strong').filter({ hasText: detail.waiting.scheduled });
    await reason.filter({ hasText: detail.waiting.scheduledFor }).waitFor();

    await page.getByRole('button', { name: detail.actions.sendNow }).click();
    await page.getByText(detail.actions.sentNow).waitFor();
    await stage.world.drain();

    await page.getByText(wordsAround((took) => detail.answer.captured(1, took))).waitFor();
    await page.getByText(detail.content.denied).waitFor();
    await visitor.stop();
  });

  it('explains why each recipient was not reached, and links to its suppression', async () => {
    const replies = new Map([
      ['gone@example.com', '5.1.1 User unknown'],
      ['full@example.com', '5.2.2 Mailbox full'],
      ['reader@example.com', '5.7.26 Unauthenticated email is not accepted due to the DMARC policy - gsmtp'],
    ]);
    stage.world.smtp.script(({ to }) => {
      const text = replies.get(to);
      return text === undefined ? { kind: 'accept' } : { kind: 'reply', code: 550, text };
    });
    const id = await sendMail(stage, { to: [...replies.keys()], subject: 'Three reasons' });
    await stage.world.drain();
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto(`/emails/${id}`);

    const reasons = page.getByRole('listitem').filter({ hasText: detail.ended.action });
    const of = (email: string) => reasons.filter({ hasText: detail.ended.titles.bounced(email) });
    await of('gone@example.com').getByText(causes.mailbox_unknown.meaning).waitFor();
    await of('gone@example.com').getByText('550 5.1.1 User unknown').waitFor();
    await of('full@example.com').getByText(causes.mailbox_full.meaning).waitFor();
    await of('full@example.com').getByText(detail.ended.notSuppressed).waitFor();
    await of('reader@example.com').getByText(causes.dmarc_failed.meaning).waitFor();
    await of('reader@example.com').getByText(detail.ended.responseOf('Gmail')).waitFor();
    await of('reader@example.com').getByText(detail.ended.domain.right('sandbox.test')).waitFor();
    await of('reader@example.com').getByRole('link', { name: detail.ended.domain.view }).waitFor();
    await of('gone@example.com').getByRole('link', { name: detail.ended.remove }).click();
    await page.getByRole('dialog').waitFor();
    expect(new URL(page.url()).search).toContain('remove=gone');
    expectQuiet(tab);
    await visitor.stop();
  });

  it('explains a temporary rejection while it is retried, and links to the hold that blocks an email', async () => {
    stage.world.smtp.script(({ to }) =>
      to === 'grey@example.com' ? { kind: 'reply', code: 451, text: '4.7.1 Greylisted' } : { kind: 'accept' },
    );
    const id = await sendMail(stage, { to: 'grey@example.com', subject: 'Grey' });
    await stage.world.drain();
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto(`/emails/${id}`);
    await page.getByText(causes.greylisted.meaning).waitFor();

    const { world } = stage;
    const hold = { scope: 'destination', value: 'held.example', reason: 'Full' } as const;
    await invoke(world.as(world.workspace_id), createHold, hold);
    const held = await sendMail(stage, { to: 'ada@held.example', subject: 'Held' });
    await page.goto(`/emails/${held}`);
    await page.getByRole('link', { name: detail.waiting.viewHold }).click();

    await expect
      .poll(() => page.locator('tr[aria-current="true"]').filter({ hasText: 'held.example' }).count())
      .toBe(1);
    await visitor.stop();
  });

  it('lets an admin give up on an attempted email, with a reason', async () => {
    stage.world.smtp.script(({ to }) =>
      to === 'hopeless@example.com' ? { kind: 'reply', code: 451, text: '4.3.0 Later' } : { kind: 'accept' },
    );
    const id = await sendMail(stage, { to: 'hopeless@example.com', subject: 'Hopeless' });
    await stage.world.drain();
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto(`/emails/${id}`);

    await page.getByRole('button', { name: detail.giveUp.submit }).click();
    await page.getByLabel(parts.reason.label).fill('The mailbox is gone');
    await page.getByRole('dialog').getByRole('button', { name: detail.giveUp.submit }).click();

    await page.getByText(detail.giveUp.done).waitFor();
    await page.getByText(parts.statuses.failed[0], { exact: true }).first().waitFor();
    const [entry] = await stage.world.services.sql`select reason from audit_log where action = 'message.given_up'`;
    expect(entry).toEqual({ reason: 'The mailbox is gone' });
    await visitor.stop();
  });

  it.each(['/emails/', '/emails?open='])('opens a dialog by its URL at %s, and closes it with Back', async (place) => {
    const id = await sendMail(stage, { to: 'back@example.com', subject: 'Back' });
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto(`${place}${id}`);
    await page.getByRole('button', { name: detail.actions.resend }).click();
    const dialog = page.getByRole('dialog', { name: detail.actions.resend });
    await dialog.waitFor();
    const opened = page.url();

    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    expect(page.url()).not.toBe(opened);

    await page.goto(opened);
    await dialog.getByRole('button', { name: parts.cancel }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText(detail.trace.title).first().waitFor();
    await visitor.stop();
  });

  it('forgets a selection when its rows are gone, and acts on everything that a search matches', async () => {
    const scheduled_at = new Date(Date.now() + 86_400_000).toISOString();
    for (const subject of ['All one', 'All two'])
      await sendMail(stage, { to: 'all@example.com', subject, scheduled_at });
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/emails?q=to%3Aall%40example.com');
    await page.getByRole('checkbox', { name: parts.selectAll }).check();
    await page.getByRole('region', { name: emails.bulk.selected(2) }).waitFor();

    await page.getByRole('searchbox').fill('to:nobody@example.com');
    await page.keyboard.press('Enter');
    await page.getByText(emails.empty.none).waitFor();
    expect(await page.getByRole('region', { name: emails.bulk.selected(2) }).count()).toBe(0);
    await page.goBack();
    await page.getByRole('link', { name: 'All two' }).waitFor();
    expect(await page.getByRole('region', { name: /selected$/ }).count()).toBe(0);

    await page.getByRole('checkbox', { name: parts.selectAll }).check();
    await page.getByRole('button', { name: emails.bulk.matching }).click();
    await page.getByRole('menuitem', { name: emails.bulk.matchingTitles.cancel }).click();
    const dialog = page.getByRole('dialog', { name: emails.bulk.matchingTitles.cancel });
    await dialog.getByText(bulk.dialog.matched('2', true)).waitFor();
    await dialog.getByLabel(parts.reason.label).fill('Wrong list');
    await dialog.getByRole('button', { name: bulk.dialog.submit(bulk.actions.cancel, '2') }).click();
    await page.waitForURL('**/delivery/bulk-actions/blk_*');
    await page.getByText('Wrong list').waitFor();
    await visitor.stop();
  });

  it('searches by a time range and by filters from a menu', async () => {
    await sendMail(stage, { to: 'range@example.com', subject: 'In range' });
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await page.goto('/emails');
    await page.getByRole('button', { name: emails.search.filters }).click();
    await page.getByRole('menuitem', { name: 'to:ada@example.com' }).click();
    await page.keyboard.type('range@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Before' }).waitFor({ state: 'detached' });
    await page.getByLabel(emails.search.range).selectOption(emails.search.ranges['24h']);

    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('after:24h to:range@example.com');
    await page.getByRole('link', { name: 'In range' }).waitFor();
    await visitor.stop();
  });

  it('cancels selected emails together', async () => {
    const scheduled_at = new Date(Date.now() + 86_400_000).toISOString();
    for (const subject of ['Stop one', 'Stop two'])
      await sendMail(stage, { to: 'stop@example.com', subject, scheduled_at });
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/emails?q=to%3Astop%40example.com');
    await page.getByRole('link', { name: 'Stop two' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('button', { name: emails.bulk.cancel, exact: true }).click();

    await page.getByRole('button', { name: emails.bulk.cancelTitle(2) }).click();

    await page.getByText(emails.bulk.done(emails.bulk.cancel, 2)).waitFor();
    await expect.poll(() => page.getByRole('row').filter({ hasText: parts.statuses.canceled[0] }).count()).toBe(2);
    await visitor.stop();
  });
});

describe('untrusted text', () => {
  const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>';

  it('runs and fetches nothing, wherever it appears', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const other = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const id = await sendMail(stage, {
      from: `"<script>alert(3)</script>" <hello@sandbox.test>`,
      to: 'hostile@example.com',
      subject: hostile,
      html: `<h1>Read me</h1>${hostile}<img src="${other}/a.png"><style>@import url(${other}/a.css)</style>`,
      text: hostile,
      headers: { 'X-Note': hostile },
      attachments: [{ filename: '<img src=x onerror=alert(4)>.txt', content: 'SGVsbG8=' }],
      tags: ['<script>alert(5)</script>'],
      metadata: { note: hostile },
    });
    const reply = '5.1.1 "><img src=x onerror=alert(6)><script>alert(7)</script>';
    stage.world.smtp.script(({ to }) =>
      to === 'hostile@example.com' ? { kind: 'reply', code: 550, text: reply } : { kind: 'accept' },
    );
    await stage.world.drain();
    const visitor = await stage.visitor('admin');
    const window = await visitor.open();
    const { page } = window;
    await page.goto('/emails?q=to%3Ahostile%40example.com');
    await page.getByRole('link', { name: hostile }).waitFor();
    for (const tab of ['preview', 'text', 'source', 'headers', 'raw', 'code']) {
      await page.goto(`/emails/${id}?tab=${tab}`);
      await page.getByRole('tabpanel').waitFor();
      if (tab === 'preview') await page.frameLocator('iframe').getByRole('heading', { name: 'Read me' }).waitFor();
      await page.waitForLoadState('networkidle');
    }
    await page.getByText('<script>alert(7)</script>').first().waitFor();
    for (const path of [`/emails?open=${id}`, '/suppressions', '/delivery/incidents', '/instance/jobs']) {
      await page.goto(path);
      await page.waitForLoadState('networkidle');
    }
    await page.goto(`/emails/${id}`);
    await page.getByRole('heading', { name: hostile }).waitFor();

    expect(window.dialogs).toEqual([]);
    expect(await page.title()).toBe(`${hostile} · Default · Postrider`);
    expect(paths).toEqual([]);
    await visitor.stop();
    await new Promise((resolve) => server.close(resolve));
  });
});
