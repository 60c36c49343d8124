import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordCapture } from '@postrider/core/captures';
import { words as inbox } from '@postrider/dashboard/strings/pages/inbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';

let stage: Stage;
let other: Server;
const paths: string[] = [];
beforeAll(async () => {
  stage = await startStage();
  other = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await stage.stop();
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
});

async function capture(subject: string, html: string, to = 'ada@example.com'): Promise<void> {
  const lines = [
    'From: bob@sandbox.test',
    `To: ${to}`,
    `Subject: ${subject}`,
    'Content-Type: text/html; charset=utf-8',
  ];
  await recordCapture(stage.world.services, {
    envelope_from: 'bounce@sandbox.test',
    envelope_to: [to],
    raw: Buffer.from([...lines, '', html, ''].join('\r\n')),
  });
}

describe('the test inbox', () => {
  it('finds an email, shows its code and link, releases it, and deletes it', async () => {
    await capture('Sign in', '<p>Your code is 493817.</p><a href="https://shop.test/in">Sign in</a>');
    await capture('Another', '<p>Hello</p>', 'grace@example.com');
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/emails/test-inbox');
    await page.getByRole('link', { name: 'Another' }).waitFor();
    await page.getByRole('searchbox').fill('to:ada@example.com sign');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Another' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Sign in' }).focus();
    await page.keyboard.press('Enter');

    const drawer = page.getByRole('dialog', { name: inbox.title });
    await drawer.getByText('493817', { exact: true }).waitFor();
    await drawer.getByText('https://shop.test/in').waitFor();
    await page.frameLocator('iframe').getByText('Your code is').waitFor();

    await drawer.getByRole('button', { name: inbox.detail.release }).click();
    await page.getByLabel(inbox.releasing.to, { exact: true }).fill('grace@example.com');
    await page.getByRole('button', { name: inbox.releasing.submit }).click();
    await page.waitForURL('**/emails/msg_*');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/emails/test-inbox?q=sign');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await drawer.getByRole('button', { name: inbox.detail.remove }).click();
    await page.getByText(inbox.detail.removed).waitFor();
    await page.getByText(inbox.empty.none).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('shows a member that an email exists, but not its content', async () => {
    await capture('Reset', '<p>secret</p>');
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/emails/test-inbox');

    await page.getByRole('link', { name: 'Reset' }).click();

    await page.getByText(inbox.detail.denied).waitFor();
    await visitor.stop();
  });
});

const ELSEWHERE = 'http://127.0.0.1:0';
const marked = (marker: string) => `top.document.title='${marker}';document.title='${marker}';alert('${marker}')`;

describe('the preview of captured email', () => {
  it.each([
    ['a script', `<script>${marked('script')}</script>`],
    ['a handler of errors', `<img src="x:" onerror="${marked('onerror')}">`],
    ['a base', `<base href="${ELSEWHERE}/"><img src="pixel.png">`],
    ['a refresh', `<meta http-equiv="refresh" content="0; url=${ELSEWHERE}/">`],
    ['a script in a drawing', `<svg xmlns="http://www.w3.org/2000/svg"><script>${marked('svg')}</script></svg>`],
    ['a drawing that loads', `<svg onload="${marked('onload')}"></svg>`],
    ['an address that is a script', `<iframe src="javascript:${marked('address')}"></iframe>`],
    ['a page within', `<iframe src="${ELSEWHERE}/"></iframe><object data="${ELSEWHERE}/"></object>`],
    [
      'a pixel that tells of its reader',
      `<img src="${ELSEWHERE}/pixel.png"><link rel="stylesheet" href="${ELSEWHERE}/a.css">`,
    ],
    [
      'a style that fetches',
      `<style>@import url(${ELSEWHERE}/a.css); body { background: url(${ELSEWHERE}/b.png) }</style>`,
    ],
    [
      'a form that sends itself',
      `<form action="${ELSEWHERE}/" autofocus><input autofocus onfocus="${marked('onfocus')}"></form>`,
    ],
  ])('runs and fetches nothing for %s', async (label, hostile) => {
    const html = hostile.replaceAll(ELSEWHERE, `http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    await capture(label, `<p>Read me</p>${html}<p>To the end</p>`);
    const visitor = await stage.visitor('admin');
    const { page, dialogs } = await visitor.open();
    await page.goto('/emails/test-inbox');
    await page.getByRole('link', { name: label, exact: true }).click();

    await page.frameLocator('iframe').getByText('Read me').waitFor();
    await page.waitForLoadState('networkidle');

    expect(dialogs).toEqual([]);
    expect(paths).toEqual([]);
    expect(await page.title()).toBe(`${label} · Default · Postrider`);
    await visitor.stop();
  });
});
