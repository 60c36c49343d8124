import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { recordCapture } from '@postrider/core/captures';
import { startChromium, visit } from '@postrider/testing/chromium';
import { openWorld } from '@postrider/testing/open-world';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from '../admin-server.ts';

const world = await openWorld();
const admin = await openAdmin(world);
let browser: Browser;
let elsewhere: Server;
const asked: string[] = [];
beforeAll(async () => {
  browser = await startChromium();
  elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await browser.close();
  elsewhere.closeAllConnections();
  await new Promise((resolve) => elsewhere.close(resolve));
});

async function capture(subject: string, html: string): Promise<void> {
  await recordCapture(world.services, {
    envelope_from: 'bounce@sandbox.test',
    envelope_to: ['ada@example.com'],
    raw: Buffer.from(
      [
        'From: bob@sandbox.test',
        'To: ada@example.com',
        `Subject: ${subject}`,
        'Content-Type: text/html; charset=utf-8',
        '',
        html,
        '',
      ].join('\r\n'),
    ),
  });
}

const ELSEWHERE = 'http://127.0.0.1:0';
/** What the mail names as elsewhere is a server that notes who asks. */
const there = (html: string) =>
  html.replaceAll(ELSEWHERE, `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
const marked = (how: string) => `top.document.title='${how}';document.title='${how}';alert('${how}')`;

describe('the preview of a captured mail', () => {
  it('shows its HTML', async () => {
    await capture('A friendly one', '<h1 style="color: rgb(0, 128, 0)">Hello Ada</h1>');
    const visitor = await visit(browser, admin.port);
    const { page, problems } = await visitor.open();
    await page.goto('/captured');
    await page.getByRole('link', { name: 'A friendly one' }).click();

    const heading = page.frameLocator('iframe').getByRole('heading', { name: 'Hello Ada' });

    await heading.waitFor();
    expect(await heading.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(0, 128, 0)');
    expect(problems).toEqual([]);
    await visitor.stop();
  });

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
  ])('runs and fetches nothing for %s', async (what, hostile) => {
    const html = there(hostile);
    await capture(what, `<p>Read me</p>${html}<p>To the end</p>`);
    const visitor = await visit(browser, admin.port);
    const { page, dialogs } = await visitor.open();
    await page.goto('/captured');
    await page.getByRole('link', { name: what, exact: true }).click();
    const title = await page.title();

    await page.frameLocator('iframe').getByText('Read me').waitFor();
    await page.waitForLoadState('networkidle');

    expect(dialogs).toEqual([]);
    expect(asked).toEqual([]);
    expect(await page.title()).toBe(title);
    await visitor.stop();
  });
});
