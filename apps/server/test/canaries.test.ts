import { invoke } from '@postrider/core';
import { createKey } from '@postrider/core/api-keys';
import { login } from '@postrider/core/people';
import { createHandler } from '@postrider/rest';
import { listenHttp } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { createExposition } from '../src/telemetry/prometheus.ts';

const CANARY = 'canary-7c1f09';
const world = await openWorld({ LOG_LEVEL: 'debug' });
const server = endAfterTests(await listenHttp(createHandler(world.services)));

async function call(method: string, path: string, key: string, body?: unknown): Promise<number> {
  const response = await fetch(`${server.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  await response.text();
  return response.status;
}

it('keys, passwords and bodies appear in no log line or metric', async () => {
  const { services, workspace_id } = world;
  const ctx = world.as(workspace_id);
  const key = await invoke(ctx, createKey, { name: 'Shop', scopes: ['email:send'] });
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: `Hello ${CANARY}` };
  const body = { ...mail, text: `Body ${CANARY}`, html: `<p>${CANARY}</p>`, headers: { 'X-Note': CANARY } };

  const statuses = [
    await call('POST', '/email/send', key.secret, body),
    // Includes rejected and malformed requests.
    await call('POST', '/email/send', `${key.secret.slice(0, -4)}0000`, body),
    await call('POST', '/email/send', key.secret, { ...body, from: `${CANARY}@nowhere.test` }),
    await call('POST', '/email/send', key.secret, `{"text": "${CANARY}`),
    await call('GET', `/email/logs?limit=${CANARY}`, world.secret),
  ];
  world.smtp.script(() => ({ kind: 'reply', code: 550, text: `5.1.1 No such user ${CANARY}` }));
  await world.drain();
  const arrival = { request_id: 'req_1', address: '127.0.0.1', user_agent: null, replaces: null, device: null };
  const credentials = { email: 'operator@sandbox.test', password: `${CANARY}-wrong` };
  await login(services, credentials, arrival).catch(() => undefined);

  const logged = world.logged.map((line) => JSON.stringify(line)).join('\n');
  const exposed = await createExposition({ role: 'all', instance: 'here:1' })(services.metrics.read());
  expect(statuses).toEqual([202, 401, 422, 400, 400]);
  expect(logged).toContain('mail accepted');
  expect(logged).toContain('mail finished');
  expect(exposed).toContain('postrider_messages_finished_total{status="bounced"');
  for (const secret of [CANARY, key.secret, world.secret, services.secret_key]) {
    expect(logged).not.toContain(secret);
    expect(exposed).not.toContain(secret);
  }
});
