import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRaw, requestHead } from './raw-http.ts';
import { type RestServer, startRest } from './rest-server.ts';

let world: World;
let rest: RestServer;

beforeAll(async () => {
  world = await createWorld();
  rest = await startRest(world.services, world.secret);
});
afterAll(async () => {
  await rest.stop();
  await world.stop();
});

const mail = { from: 'shop@sandbox.test', to: 'a@example.com', subject: 'Hello', text: 'Hi' };

describe('403', () => {
  it('lets no sandbox key make a live one, whatever its scopes', async () => {
    const { secret } = await world.key({ scopes: ['admin'], mode: 'sandbox' });
    const body = { name: 'More', scopes: ['email:send'] };

    const live = await rest.call('POST', '/api-keys', { key: secret, body: { ...body, mode: 'live' } });
    const sandbox = await rest.call('POST', '/api-keys', { key: secret, body: { ...body, mode: 'sandbox' } });

    expect(live.status).toBe(403);
    expect(sandbox.status).toBe(201);
  });
});

describe('404', () => {
  it('keeps live mail out of reach of a sandbox key', async () => {
    const { secret } = await world.key({ scopes: ['email:send'], mode: 'sandbox' });
    const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
    const sent = await rest.call('POST', '/email/send', { body: { ...mail, scheduled_at } });

    const moved = await rest.call('PATCH', `/email/${sent.body.id}`, {
      key: secret,
      body: { scheduled_at: new Date(world.clock.now()).toISOString() },
    });
    const canceled = await rest.call('POST', `/email/${sent.body.id}/cancel`, { key: secret });

    expect([moved.status, canceled.status]).toEqual([404, 404]);
    expect(await world.drain()).toEqual([]);
  });
});

describe('401', () => {
  it('refuses a large body of an unknown key before it is sent', async () => {
    const connection = await openRaw(rest.port);
    const head = {
      authorization: `Bearer pr_live_${'0'.repeat(64)}`,
      'content-type': 'application/json',
      'content-length': '10000000',
    };

    connection.write(requestHead('POST', '/v1/email/send', head));
    const answer = await connection.answer();

    expect(answer).toMatchObject({ status: 401 });
  });
});
