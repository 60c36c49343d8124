import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
let first: ServerProcess;
let second: ServerProcess;
beforeAll(async () => {
  journey = await openJourney();
  first = await journey.start({ ROLES: 'rest' });
  second = await journey.start({ ROLES: 'rest' });
});
afterAll(() => journey.stop());

async function makeKey(name: string): Promise<{ id: string; secret: string }> {
  const key = await second.call('POST', '/v1/api-keys', { body: { name, scopes: ['email:send'] } });
  expect(key.status, key.text).toBe(201);
  return { id: String(key.body.id), secret: String(key.body.secret) };
}

it('promise P26: a key revoked after failover to an older standby is rejected despite a cache', async () => {
  const [key, other] = [await makeKey('Shop'), await makeKey('Other')];
  const send = async () => (await first.call('POST', '/v1/email/send', { key: key.secret, body: hello })).status;
  const [replicated] = await journey.sql<{ value: string }[]>`select value::text as value from accept_epoch`;
  await second.call('DELETE', `/v1/api-keys/${other.id}`);
  expect([await send(), await send()]).toEqual([202, 202]);

  // The standby had not received the last accept_epoch when it took over.
  await journey.sql`update accept_epoch set value = ${replicated?.value ?? '0'}`;
  expect((await second.call('DELETE', `/v1/api-keys/${key.id}`)).status).toBe(200);

  expect(await send()).toBe(401);
});
