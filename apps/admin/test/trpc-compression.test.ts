import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
const COUNT = 40;

interface RawResponse {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Sends a request over node:http, because fetch decompresses responses. */
function send(path: string, headers: Readonly<Record<string, string>>, input?: object): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const method = input === undefined ? 'GET' : 'POST';
    const to = { host: '127.0.0.1', port: admin.port, path, method, agent: false };
    const json = { 'x-postrider': '1', 'content-type': 'application/json' };
    const outgoing = request(
      { ...to, headers: input === undefined ? headers : { ...headers, ...json } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(input === undefined ? undefined : JSON.stringify(input));
  });
}

const listPath = `/trpc/emails.list?input=${encodeURIComponent(JSON.stringify({ limit: COUNT }))}`;

async function sendMany(): Promise<void> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', text: 'Hi' };
  for (let number = 0; number < COUNT; number++)
    await invoke(world.as(world.workspace_id), sendMessage, { ...mail, subject: `Hello ${number}` });
}

it('a large query response is compressed for clients that accept gzip', async () => {
  const { cookie } = await signedIn(world, admin, 'viewer');
  await sendMany();

  const plain = await send(listPath, { cookie });
  const gzipped = await send(listPath, { cookie, 'accept-encoding': 'gzip, deflate, br' });

  expect(plain.headers).not.toHaveProperty('content-encoding');
  expect(gzipped.headers).toMatchObject({ 'content-encoding': 'gzip' });
  for (const { headers } of [plain, gzipped]) expect(headers.vary).toMatch(/accept-encoding/i);
  expect(JSON.parse(gunzipSync(gzipped.body).toString())).toEqual(JSON.parse(plain.body.toString()));
  expect(gzipped.body.length).toBeLessThan(plain.body.length / 4);
});

it('a small query response is sent uncompressed, with its length', async () => {
  const { cookie } = await signedIn(world, admin, 'viewer');

  const { headers, body } = await send('/trpc/nothing.such', { cookie, 'accept-encoding': 'gzip' });

  expect(headers).not.toHaveProperty('content-encoding');
  expect(headers['content-length']).toBe(String(body.length));
});

it('a mutation response is never compressed, because it may contain a secret', async () => {
  const { cookie } = await signedIn(world, admin, 'admin');
  const name = 'a long name '.repeat(5).trim();
  const names = Array.from({ length: 10 }, () => 'apiKeys.create').join(',');
  const inputs = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [at, { name, scopes: ['email:send'] }]));

  const { headers, body } = await send(`/trpc/${names}?batch=1`, { cookie, 'accept-encoding': 'gzip' }, inputs);

  expect(headers).not.toHaveProperty('content-encoding');
  expect(body.length).toBeGreaterThan(1024);
  expect(body.toString()).toContain('"secret":');
});

it('an event stream is sent uncompressed and immediately', async () => {
  const { cookie } = await signedIn(world, admin, 'viewer');
  const headers = { cookie, accept: 'text/event-stream', 'accept-encoding': 'gzip' };

  const first = await new Promise<{ encoding: string | undefined; text: string }>((resolve, reject) => {
    const to = { host: '127.0.0.1', port: admin.port, path: '/trpc/live', headers, agent: false };
    const subscription = request(to, (response) => {
      response.once('data', (chunk: Buffer) => {
        resolve({ encoding: response.headers['content-encoding'], text: chunk.toString() });
        subscription.destroy();
      });
      response.on('error', () => undefined);
    });
    subscription.on('error', reject);
    subscription.end();
  });

  expect(first).toEqual({ encoding: undefined, text: expect.stringContaining('connected') });
});
