import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, test } from 'node:test';
import { Postrider } from '@postrider/sdk';
import { Accounts } from './accounts.ts';
import { createApp } from './app.ts';

const HOUR_MS = 60 * 60_000;
let now = Date.now();

const postrider = new Postrider();
const accounts = new Accounts(() => now);
const { server, settle } = createApp(accounts, postrider, 'https://app.example.com');
const url = await listen(server);

after(async () => {
  close(server);
  await settle();
});

test('the link in the email changes the password, once', async () => {
  const email = await addAccount();

  const request = await post('/forgot', { email });
  const link = await linkTo(email);
  const page = await fetch(`${url}${link.pathname}${link.search}`);
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page.text()) ?? [];
  const reset = await post('/reset', { token, password: 'note G of 1843' });

  assert.equal(request.status, 202);
  assert.equal(reset.status, 200);
  assert.equal((await post('/sign-in', { email, password: 'note G of 1843' })).status, 200);
  assert.equal((await post('/sign-in', { email, password: 'the first program' })).status, 401);
  assert.equal((await post('/reset', { token, password: 'a later attacker' })).status, 410);
  assert.equal((await post('/sign-in', { email, password: 'note G of 1843' })).status, 200);
});

test('one of two simultaneous resets with a link succeeds', async () => {
  const email = await addAccount();
  await post('/forgot', { email });
  const token = (await linkTo(email)).searchParams.get('token') ?? '';

  const resets = ['the first choice', 'the second choice'].map((password) => post('/reset', { token, password }));

  const statuses = (await Promise.all(resets)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 410]);
});

test('the link expires after an hour', async () => {
  const email = await addAccount();
  await post('/forgot', { email });
  const token = (await linkTo(email)).searchParams.get('token') ?? '';

  now += HOUR_MS;

  assert.equal((await post('/reset', { token, password: 'note G of 1843' })).status, 410);
  assert.equal((await post('/sign-in', { email, password: 'the first program' })).status, 200);
});

test('an unknown address gets the same response and no email', async () => {
  const email = await addAccount();
  const stranger = newAddress();

  const responses = [await post('/forgot', { email }), await post('/forgot', { email: stranger })];

  await settle();
  const [known, unknown] = await Promise.all(responses.map(comparable));
  assert.deepEqual(unknown, known);
  assert.equal((await postrider.email.logs({ to: email })).data.length, 1);
  assert.deepEqual((await postrider.email.logs({ to: stranger })).data, []);
});

test('a second request within a minute sends no second email', async () => {
  const email = await addAccount();

  await post('/forgot', { email });
  await post('/forgot', { email });

  await settle();
  assert.equal((await postrider.email.logs({ to: email })).data.length, 1);
});

test('the response does not wait for Postrider', async () => {
  const unresponsive = createServer();
  const slow_postrider = new Postrider({ url: await listen(unresponsive), key: 'unused', max_retries: 0 });
  const app = createApp(accounts, slow_postrider, 'https://app.example.com');
  const slow_url = await listen(app.server);
  const body = new URLSearchParams({ email: await addAccount() });

  const [response] = await Promise.all([
    fetch(`${slow_url}/forgot`, { method: 'POST', body }),
    once(unresponsive, 'request'),
  ]);

  assert.equal(response.status, 202);
  close(unresponsive);
  await app.settle();
  close(app.server);
});

function newAddress(): string {
  return `ada-${crypto.randomUUID()}@example.com`;
}

async function addAccount(): Promise<string> {
  const email = newAddress();
  await accounts.add(email, 'the first program');
  return email;
}

async function listen(target: Server): Promise<string> {
  await once(target.listen(0, '127.0.0.1'), 'listening');
  const address = target.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

function close(target: Server): void {
  target.closeAllConnections();
  target.close();
}

function post(path: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url + path, { method: 'POST', body: new URLSearchParams(fields) });
}

/** Returns the link in the email to an address, as a CI job reads it from the test inbox. */
async function linkTo(email: string): Promise<URL> {
  const [capture] = (await postrider.captures.list({ to: email, wait: 30 })).data;
  assert.ok(capture, 'no email arrived');
  const { subject, links } = await postrider.captures.get(capture.id);
  assert.equal(subject, 'Reset your password');
  assert.equal(links.length, 1);
  const link = new URL(links[0] ?? '');
  assert.equal(link.origin, 'https://app.example.com');
  return link;
}

async function comparable(response: Response) {
  const headers = [...response.headers].filter(([name]) => name !== 'date');
  return { status: response.status, headers, body: await response.text() };
}
