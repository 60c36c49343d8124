import { createServer as createHttp, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { provision } from '@postrider/core/workspaces';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as apiKeys } from '@postrider/dashboard/strings/pages/settings/api-keys';
import { words as signInPage } from '@postrider/dashboard/strings/pages/sign-in';
import { mailCertificate } from '@postrider/testing';
import type { BrowserContext } from 'playwright-core';
import { expect, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

const operator = { ADMIN_EMAIL: 'ops@people.test', ADMIN_PASSWORD: 'correct horse: battery' };

/**
 * Starts a reverse proxy on a separate port. Like many proxies, the proxy with TLS sends the server a different Host.
 */
async function openProxy(secure: boolean) {
  let cursor = 0;
  const pass = (incoming: IncomingMessage, response: ServerResponse) => {
    const headers = { ...incoming.headers, ...(secure && { host: 'postrider.internal' }) };
    const forwarded = request(
      { port: cursor, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers },
      (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.pipe(response);
      },
    );
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  };
  const server = secure ? createHttps(mailCertificate, pass) : createHttp(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    to(next: number) {
      cursor = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function signIn(stage: Stage, baseURL: string): Promise<BrowserContext> {
  const context = await stage.browser.newContext({ baseURL, ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto('/login?next=/emails');
  await page.getByLabel(signInPage.email).fill(operator.ADMIN_EMAIL);
  await page.getByLabel(signInPage.password).fill(operator.ADMIN_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: emails.title }).waitFor();
  return context;
}

it.each([
  ['with TLS and PUBLIC_URL, which asks for the server by another Host', true],
  ['on another port', false],
])('the dashboard works behind a proxy %s, including its session, live list and changes', async (_, secure) => {
  const proxy = await openProxy(secure);
  const stage = await startStage({ ...operator, ...(secure && { PUBLIC_URL: proxy.origin }) });
  proxy.to(stage.port);
  await stage.world.services.sql`delete from users`;
  await provision(stage.world.services);
  await sendMail(stage, { subject: 'Before' });

  const context = await signIn(stage, proxy.origin);
  const page = context.pages()[0];
  if (!page) throw new Error('the page was closed');
  await page.getByRole('link', { name: 'Before' }).waitFor();
  await sendMail(stage, { subject: 'After' });
  await page.getByRole('button', { name: emails.fresh(1) }).waitFor();
  await page.goto('/settings/api-keys?open=new');
  await page.getByLabel(apiKeys.dialog.name, { exact: true }).fill('Behind a proxy');
  await page.getByRole('button', { name: apiKeys.dialog.submit }).click();
  await page.getByRole('dialog', { name: apiKeys.secret.title('Behind a proxy') }).waitFor();

  const [cookie] = (await context.cookies()).filter(({ name }) => name.endsWith('sid'));
  expect(cookie).toMatchObject({ name: secure ? '__Host-sid' : 'sid', secure, httpOnly: true });
  await context.close();
  await stage.stop();
  await proxy.stop();
});
