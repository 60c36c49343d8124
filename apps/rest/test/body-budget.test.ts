import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it } from 'vitest';
import { errorOf, openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const MIB = 1024 * 1024;

/** Starts a request with a large body, almost none of which arrives. */
async function upload(key: string, bytes: number): Promise<{ response(): string; closed: Promise<unknown> }> {
  const socket = connect(rest.port, '127.0.0.1');
  closing.push(() => socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(
    `POST /v1/email/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n{`,
  );
  await pause(50);
  return { response: () => received, closed };
}

const large = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Large', text: 'x'.repeat(270_000) };

describe('large request bodies', () => {
  it('fairness P11: share memory by workspace, so slow uploads in one do not block another', async () => {
    const neighbor = await world.workspace('business');
    await world.domain('neighbor.test', neighbor.workspace_id);
    const keys = await Promise.all([1, 2].map(() => world.key({ scopes: ['email:send'] })));
    for (const { secret } of keys) for (let count = 0; count < 10; count++) await upload(secret, 8 * MIB);

    const started_at = performance.now();
    const response = await rest.call('POST', '/email/send', {
      key: neighbor.secret,
      body: { ...large, from: 'shop@neighbor.test' },
    });

    expect(response.status).toBe(202);
    expect(performance.now() - started_at).toBeLessThan(5000);
  });

  it('fairness P11: return 429 body_budget with Retry-After when too many uploads in a workspace are waiting', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });
    const uploads = await Promise.all(Array.from({ length: 60 }, () => upload(secret, 14 * MIB)));

    await expect.poll(() => uploads.filter((one) => one.response().includes(' 429 ')).length).toBeGreaterThan(0);
    const rejected = uploads.find((one) => one.response().includes(' 429 '))?.response() ?? '';
    expect(rejected).toContain('"reason":"body_budget"');
    expect(rejected).toMatch(/\r\nRetry-After: \d+\r\n/);
  });

  it('fairness P11: count toward the send window once their headers have arrived', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });
    const first = await rest.call('POST', '/email/send', { key: secret, body: { ...large, text: 'Small' } });
    await upload(secret, MIB);

    const second = await rest.call('POST', '/email/send', { key: secret, body: { ...large, text: 'Small' } });

    const remaining = (response: typeof first) => Number(response.headers.get('x-ratelimit-remaining'));
    expect(remaining(second)).toBe(remaining(first) - 2);
  });

  it('fairness P11: are cut off if they upload too slowly to keep their share of memory', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });
    const slow = await upload(secret, MIB);

    await slow.closed;

    expect(slow.response()).toContain('"reason":"body_timeout"');
  });

  it('are rejected before they are read if the key is invalid', async () => {
    const body = { ...large };

    const response = await rest.call('POST', '/email/send', { key: 'pr_test_unknown', body });

    expect([response.status, errorOf(response).code]).toEqual([401, 'unauthorized']);
  });
});
