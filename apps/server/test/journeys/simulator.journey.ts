import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  journey = await openJourney({ RETRY_SCHEDULE: '1s,1s,1s,1s' });
  // Runs without the inbound role. Its port belongs to the sink, where reports can be inspected.
  server = await journey.start({ ROLES: 'rest,admin,worker', INBOUND_PORT: String(journey.smtp.port) });
});
afterAll(() => journey.stop());

async function send(key: string, to: string): Promise<string> {
  const body = { from: 'shop@good.test', to, subject: 'Hello', text: 'Hi' };
  const sent = await server.call('POST', '/v1/email/send', { key, body });
  expect(sent.status, sent.text).toBe(202);
  return String(sent.body.id);
}

async function sandboxKey(): Promise<string> {
  const body = { name: 'Sandbox', scopes: ['email:send'], mode: 'sandbox' };
  return String((await server.call('POST', '/v1/api-keys', { body })).body.secret);
}

describe('a sandbox key on an installation with live delivery', () => {
  it("gets each simulator address's scripted result in the log, and reaches no other server", async () => {
    const key = await sandboxKey();
    const expected: [string, Record<string, unknown>][] = [
      ['delivered', { status: 'delivered', attempts: [{ outcome: 'accepted', reply: { code: 250 } }] }],
      [
        'bounce+5.7.1',
        {
          status: 'bounced',
          attempts: [{ outcome: 'rejected', stage: 'rcpt', reply: { code: 550, enhanced: '5.7.1' } }],
        },
      ],
      [
        'defer+3',
        {
          status: 'delivered',
          attempts: [
            { outcome: 'deferred' },
            { outcome: 'deferred' },
            { outcome: 'deferred' },
            { outcome: 'accepted' },
          ],
        },
      ],
      ['slow+2s', { status: 'delivered', attempts: [{ outcome: 'accepted' }] }],
      ['drop-after-data', { status: 'delivered', attempts: [{ outcome: 'unknown' }, { outcome: 'accepted' }] }],
      ['complain', { attempts: [{ outcome: 'accepted' }] }],
      ['dsn+5.2.2', { attempts: [{ outcome: 'accepted' }] }],
    ];
    const sent = await Promise.all(expected.map(([local]) => send(key, `${local}@simulator.test`)));

    await expect
      .poll(() => journey.sql`select from recipients where state in ('queued', 'sending', 'deferred')`, {
        timeout: 30_000,
      })
      .toHaveLength(0);
    for (const [index, id] of sent.entries()) {
      expect((await server.call('GET', `/v1/email/logs/${id}`)).body).toMatchObject(expected[index]?.[1] ?? {});
    }
    const reports = await journey.smtp.waitFor(2);
    expect(reports.map((mail) => mail.envelope_from).sort()).toEqual(['', 'complaints@simulator.test']);
    const captured = (await server.call('GET', '/v1/captures')).text;
    for (const local of ['delivered', 'defer+3', 'slow+2s', 'drop-after-data', 'complain', 'dsn+5.2.2'])
      expect(captured).toContain(`${local}@simulator.test`);
    expect(captured).not.toContain('bounce+5.7.1@simulator.test');
    expect((await server.call('GET', '/v1/usage')).body).toMatchObject({ used: 0 });
  });

  it('has no effect on a live key, which sends to the same address for real', async () => {
    const id = await send(journey.secret, 'bounce+5.1.1@simulator.test');

    const mail = await journey.smtp.waitFor((one) => one.envelope_to.includes('bounce+5.1.1@simulator.test'));

    expect(mail.message_id).toBe(`<${id}@good.test>`);
  });
});

describe('a simulator report', () => {
  it("reaches its own process's inbound listener, and has the effect of a real report", async () => {
    const capturing = await openJourney({ DELIVERY: 'capture' });
    const { call } = await capturing.start();
    const locals = ['complain', 'dsn+5.1.1', 'dsn+5.2.2'];
    const ids = await Promise.all(
      locals.map(async (local) => {
        const body = { from: 'shop@sandbox.test', to: `${local}@simulator.test`, subject: 'Hello', text: 'Hi' };
        return String((await call('POST', '/v1/email/send', { body })).body.id);
      }),
    );

    await expect.poll(() => statesOf(capturing.sql), { timeout: 30_000 }).toEqual({ bounced: 2, complained: 1 });

    const emails = await Promise.all(ids.map(async (id) => (await call('GET', `/v1/email/logs/${id}`)).body));
    expect(emails.map((entry) => (entry.events as { type: string }[]).map((event) => event.type))).toEqual([
      ['email.queued', 'email.delivered', 'email.complained'],
      ['email.queued', 'email.delivered', 'email.bounced'],
      ['email.queued', 'email.delivered', 'email.bounced'],
    ]);
    const list = await call('GET', '/v1/suppressions');
    expect(list.body.data).toHaveLength(2);
    expect(list.body.data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ email: 'complain@simulator.test', source: 'complaint' }),
        expect.objectContaining({ email: 'dsn+5.1.1@simulator.test', source: 'bounce' }),
      ]),
    );
    await capturing.stop();
  });
});
