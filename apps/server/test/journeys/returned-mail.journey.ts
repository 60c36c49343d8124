import { bringMail, complaintReport, deliveryReport } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
let server: ServerProcess;
beforeAll(async () => {
  journey = await openJourney({ RETURN_PATH_DOMAIN: 'bounces.good.test' });
  server = await journey.start();
});
afterAll(() => journey.stop());

/** Sends a message, waits until it is delivered, and returns its path and the return address on its copy. */
async function delivered(to: string): Promise<{ path: string; return_path: string }> {
  const sent = await server.call('POST', '/v1/email/send', { body: { ...hello, to } });
  const copy = await journey.smtp.waitFor((mail) => mail.envelope_to.includes(to));
  const path = `/v1/email/logs/${sent.body.id}`;
  await expect.poll(async () => (await server.call('GET', path)).body.status, { timeout: 30_000 }).toBe('delivered');
  return { path, return_path: copy.envelope_from };
}

describe('a report after delivery', () => {
  it('marks the email as bounced after a mailbox failure, and the next email to the address is rejected', async () => {
    const { path, return_path } = await delivered('gone@example.com');
    expect(return_path).toMatch(/^b\+[^@]{1,62}@bounces\.good\.test$/);

    const response = await bringMail(server.portOf('Bounces'), {
      from: '',
      to: return_path,
      raw: deliveryReport({
        address: 'gone@example.com',
        action: 'failed',
        status: '5.1.1',
        diagnostic: '550 5.1.1 User unknown',
      }),
    });

    expect(response.data).toMatch(/^250 /);
    expect((await server.call('GET', path)).body).toMatchObject({
      status: 'bounced',
      recipients: [{ status: 'bounced', last_response: '550 5.1.1 User unknown' }],
      events: [{ type: 'email.queued' }, { type: 'email.delivered' }, { type: 'email.bounced' }],
    });
    const added = await server.call('GET', '/v1/events?type=suppression.added');
    expect(added.body.data).toMatchObject([{ data: { suppression: { email: 'gone@example.com', source: 'bounce' } } }]);
    const repeat = await server.call('POST', '/v1/email/send', { body: { ...hello, to: 'gone@example.com' } });
    expect(repeat).toMatchObject({ status: 422, body: { error: { reason: 'all_recipients_suppressed' } } });
  });

  it('marks the email as complained after a complaint, and the next email to the address is rejected', async () => {
    const { path, return_path } = await delivered('angry@example.com');

    await bringMail(server.portOf('Bounces'), {
      from: 'fbl@example.com',
      to: return_path,
      raw: complaintReport('abuse'),
    });

    expect((await server.call('GET', path)).body).toMatchObject({
      status: 'complained',
      last_event: { type: 'email.complained' },
    });
    const repeat = await server.call('POST', '/v1/email/send', { body: { ...hello, to: 'angry@example.com' } });
    expect(repeat.status).toBe(422);
  });

  it('is verified with the previous secret key after a restart with a new secret key', async () => {
    const { path, return_path } = await delivered('kept@example.com');
    await server.end();
    server = await journey.start({
      SECRET_KEY: 'b'.repeat(64),
      SECRET_KEY_PREVIOUS: journey.env.SECRET_KEY ?? '',
    });

    const raw = deliveryReport({ address: 'kept@example.com', action: 'failed', status: '5.2.2' });
    await bringMail(server.portOf('Bounces'), { from: '', to: return_path, raw });

    expect((await server.call('GET', path)).body.status).toBe('bounced');
  });

  it('is received by a listener that shuts down along with the rest of the process', async () => {
    expect(await server.end()).toEqual({ code: 0, signal: null });
  });
});
