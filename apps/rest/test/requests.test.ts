import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { errorOf, openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Secret plan', text: 'Very secret' };

async function logged(query = ''): Promise<Record<string, unknown>[]> {
  await world.services.request_log.flush();
  const { status, body } = await rest.call('GET', `/requests${query}`);
  expect(status).toBe(200);
  return body.data as Record<string, unknown>[];
}

describe('GET /requests: 200', () => {
  it('a rejected send is logged with its error, but without content or addresses', async () => {
    const { id: key_id, secret } = await world.key({ scopes: ['email:send'] });
    const response = await rest.call('POST', '/email/send', {
      key: secret,
      body: { ...mail, to: ['ada@example.com', 'nobody'], cc: 'eve@example.org' },
    });
    const accepted = await rest.call('POST', '/email/send', { body: mail });

    const [entry, ...others] = await logged();

    expect([response.status, accepted.status, others]).toEqual([400, 202, []]);
    expect(entry).toMatchObject({
      id: response.headers.get('x-request-id'),
      api: 'rest',
      method: 'POST',
      path: '/email/send',
      status: 400,
      reason: 'invalid_email',
      api_key_id: key_id,
      faults: [{ pointer: '/to/1', reason: 'invalid_email' }],
      body: {
        to: ['…@example.com', 'nobody'],
        cc: '…@example.org',
        subject: '[11 characters]',
        text: '[11 characters]',
      },
    });
    expect(JSON.stringify(entry)).not.toMatch(/ada@|eve@|secret/i);
    expect((await rest.call('GET', `/requests/${entry?.id}`)).body).toEqual(entry);
  });

  it('the list can be filtered by reason, and shows only route paths', async () => {
    await rest.call('GET', '/email/logs/msg_absent');
    await rest.call('DELETE', '/suppressions/ada@example.com');

    expect(await logged('?reason=message_not_found')).toMatchObject([{ path: '/email/logs/{id}', status: 404 }]);
    expect(JSON.stringify(await logged())).not.toContain('ada@');
  });

  it('a workspace sees only its own requests', async () => {
    const other = await world.workspace('free');
    await rest.call('GET', '/email/logs/msg_absent', { key: other.secret });
    await world.services.request_log.flush();

    const { body } = await rest.call('GET', '/requests', { key: other.secret });

    expect(body.data).toMatchObject([{ reason: 'message_not_found' }]);
  });
});

describe('GET /requests/{id}', () => {
  it('returns 404 for an unknown id, and 403 for anyone but administrators', async () => {
    const reader = await world.key({ scopes: ['email:logs:read'] });

    const absent = await rest.call('GET', '/requests/req_absent');
    const response = await rest.call('GET', '/requests', { key: reader.secret });

    expect([absent.status, errorOf(absent).reason]).toEqual([404, 'request_not_found']);
    expect([response.status, errorOf(response).required_scope]).toEqual([403, 'admin']);
  });
});

describe('the request log', () => {
  it('is written after the response, and counts excess entries that it drops', async () => {
    const { request_log, sql } = world.services;
    await request_log.flush();
    const before = request_log.dropped;
    await sql`alter table requests rename to requests_elsewhere`;
    const response = await rest.call('GET', '/email/logs/msg_absent');
    await request_log.flush();
    await sql`alter table requests_elsewhere rename to requests`;

    expect(response.status).toBe(404);
    expect(request_log.dropped).toBe(before + 1);
  });

  it('gets a partition for the current day even after a long pause, and drops old days', async () => {
    await world.clock.advance(20 * 86_400_000);

    await rest.call('GET', '/email/logs/msg_absent');

    expect(await logged()).toHaveLength(1);
  });
});
