import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { errorOf, openRest } from './rest-server.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
const rest = await openRest(world);
beforeEach(() => world.smtp.script(() => ({ kind: 'accept' })));

const refuseLater = () => world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 Later' }));

async function send(extra: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const body = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi', ...extra };
  const response = await rest.call('POST', '/email/send', { body });
  expect(response.status).toBe(202);
  return String(response.body.id);
}

describe('POST /email/{id}/give-up: 200', () => {
  it('recipients waiting for a retry are marked as permanently failed', async () => {
    refuseLater();
    const id = await send();
    await world.drain();

    const given_up = await rest.call('POST', `/email/${id}/give-up`, { body: { reason: 'Too late' } });

    expect(given_up.status).toBe(200);
    expect(given_up.body).toMatchObject({ id, status: 'failed', recipients: [{ status: 'failed', waiting: null }] });
    const before = world.smtp.messages.length;
    world.smtp.script(() => ({ kind: 'accept' }));
    await world.clock.advance(60 * MINUTE_MS);
    await world.drain();
    expect(world.smtp.messages).toHaveLength(before);
    const { body } = await rest.call('GET', `/email/logs/${id}`);
    expect(body.events).toMatchObject([
      { type: 'email.queued' },
      { type: 'email.delivery_delayed' },
      { type: 'email.failed', data: { reason: 'given_up' } },
    ]);
    const [entry] = await world.services.sql`
      select reason, target_id from audit_log where action = 'message.given_up'`;
    expect(entry).toEqual({ reason: 'Too late', target_id: id });
  });

  it('unattempted recipients are canceled, and their volume is returned', async () => {
    const id = await send({ scheduled_at: new Date(world.clock.now() + 10 * MINUTE_MS).toISOString() });
    const used = async () => (await rest.call('GET', '/usage')).body.used;
    const before = Number(await used());

    const { body } = await rest.call('POST', `/email/${id}/give-up`);

    expect(body).toMatchObject({ status: 'canceled' });
    expect(await used()).toBe(before - 1);
  });

  it.each([
    [451, 'failed'],
    [250, 'delivered'],
  ])('an attempt in progress that receives response %i still finishes as %s', async (code, status) => {
    const reached = Promise.withResolvers<void>();
    const response = Promise.withResolvers<void>();
    world.smtp.script(({ stage }) => {
      if (stage === 'rcpt') {
        reached.resolve();
        return { kind: 'stall', until: response.promise, at: 'rcpt' };
      }
      return code === 250 ? { kind: 'accept' } : { kind: 'reply', code, text: '4.3.0 Later', at: 'data' };
    });
    const id = await send();
    const drained = world.drain();
    await reached.promise;

    const { body } = await rest.call('POST', `/email/${id}/give-up`);
    response.resolve();
    await drained;

    expect(body).toMatchObject({ recipients: [{ status: 'sending' }] });
    expect((await rest.call('GET', `/email/logs/${id}`)).body).toMatchObject({ status, recipients: [{ status }] });
  });
});

describe('POST /email/{id}/give-up: 422', () => {
  it('not_deferred: a message without open recipients is rejected', async () => {
    const id = await send();
    await world.drain();

    const response = await rest.call('POST', `/email/${id}/give-up`);

    expect(response.status).toBe(422);
    expect(errorOf(response).reason).toBe('not_deferred');
  });
});

describe('POST /email/{id}/give-up: 403', () => {
  it('missing_scope: a sending key is denied', async () => {
    const { secret: key } = await world.key({ scopes: ['email:send', 'email:logs:read'] });

    const response = await rest.call('POST', `/email/${await send()}/give-up`, { key });

    expect(response.status).toBe(403);
    expect(errorOf(response)).toMatchObject({ required_scope: 'admin' });
  });
});
