import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@postrider/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
let first: ServerProcess;
let second: ServerProcess;
beforeAll(async () => {
  journey = await openJourney();
  first = await journey.start();
  second = await journey.start({ ROLES: 'rest' });
});
afterAll(() => journey.stop());

interface NewKey {
  readonly id: string;
  readonly secret: string;
}

async function makeKey(server: ServerProcess): Promise<NewKey> {
  const key = await server.call('POST', '/v1/api-keys', {
    body: { name: 'Short-lived', scopes: ['email:send', 'email:logs:read'] },
  });
  expect(key.status).toBe(201);
  return key.body as unknown as NewKey;
}

/** Creates another workspace and returns a key with every scope. */
async function foreignKey(): Promise<string> {
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const hash = createHash('sha256').update(secret).digest();
  const foreign = newId('workspace', Date.now());
  await journey.sql`insert into workspaces (id, name, plan, created_at) values (${foreign}, 'Foreign', 'business', clock_now())`;
  await journey.sql`
    insert into api_keys (workspace_id, id, name, secret_hash, prefix, last4, scopes, mode, created_at)
    select ${foreign}, ${newId('api_key', Date.now())}, 'Foreign', ${hash}, 'pr_live_', ${secret.slice(-4)}, scopes, mode, clock_now()
    from api_keys limit 1`;
  return secret;
}

describe('a key revoked on one process', () => {
  it('is rejected by the other process from the next request, with the same response', async () => {
    const key = await makeKey(first);
    const send = () => second.call('POST', '/v1/email/send', { key: key.secret, body: hello });
    expect((await send()).status).toBe(202);

    const revoked = await first.call('DELETE', `/v1/api-keys/${key.id}`);

    expect(revoked).toMatchObject({ status: 200, body: { id: key.id, status: 'revoked' } });
    const responses = await Promise.all(Array.from({ length: 20 }, send));
    for (const response of responses) {
      expect(response).toMatchObject({ status: 401, body: { error: { code: 'unauthorized', reason: 'revoked_key' } } });
    }
    expect((await second.call('GET', '/v1/email/logs', { key: key.secret })).status).toBe(401);
    expect((await first.call('GET', '/v1/email/logs', { key: key.secret })).status).toBe(401);
  });

  it('permits nothing that begins after the revocation response, even with many requests in flight', async () => {
    const key = await makeKey(first);
    let revokedAt = Number.POSITIVE_INFINITY;
    const late_requests: number[] = [];
    const load = Array.from({ length: 10 }, async () => {
      for (let count = 0; count < 200; count++) {
        const began = performance.now();
        const { status } = await second.call('POST', '/v1/email/send', { key: key.secret, body: hello });
        if (began > revokedAt && status !== 401) late_requests.push(status);
        if (status === 401 || status === 429) return;
      }
    });
    const revoked = await first.call('DELETE', `/v1/api-keys/${key.id}`);
    revokedAt = performance.now();

    await Promise.all(load);

    expect(revoked.status).toBe(200);
    expect(late_requests).toEqual([]);
  });
});

describe("another workspace's key", () => {
  it('sees objects outside its own workspace as nonexistent', async () => {
    const foreign = await foreignKey();
    const own = await first.call('POST', '/v1/email/send', { body: hello });
    const absent = `msg_${'0'.repeat(26)}`;

    const foreign_log = await second.call('GET', `/v1/email/logs/${own.body.id}`, { key: foreign });
    const missing = await second.call('GET', `/v1/email/logs/${absent}`, { key: foreign });

    expect([foreign_log.status, missing.status]).toEqual([404, 404]);
    const errorText = (response: typeof foreign_log, id: unknown) =>
      JSON.stringify(response.body.error)
        .replaceAll(String(id), 'ID')
        .replace(/req_[0-9a-z]+/, 'REQ')
        .replace(/localhost:\d+/, 'HOST');
    expect(errorText(foreign_log, own.body.id)).toBe(errorText(missing, absent));
    expect((await second.call('GET', '/v1/email/logs', { key: foreign })).body.data).toEqual([]);
    const key = await makeKey(first);
    expect((await second.call('DELETE', `/v1/api-keys/${key.id}`, { key: foreign })).status).toBe(404);
    expect((await second.call('GET', '/v1/email/logs', { key: key.secret })).status).toBe(200);
    const borrowed = await second.call('POST', '/v1/email/send', { key: foreign, body: hello });
    expect(borrowed).toMatchObject({ status: 422, body: { error: { reason: 'domain_not_verified' } } });
  });
});
