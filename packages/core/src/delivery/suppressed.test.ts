import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { createSuppressions, deleteSuppression } from '../suppressions/index.ts';
import { claimDeliveries } from './claim.ts';
import type { DeliveryJob } from './jobs-store.ts';

const MINUTE_MS = 60_000;

const world = await openWorld({ RETRY_SCHEDULE: '1m,5m' });
afterEach(() => world.smtp.script(() => ({ kind: 'accept' })));

async function send(to: string | string[], fields: Record<string, unknown> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

const detail = (id: string) => invoke(world.as(world.workspace_id), getMessage, { id });
const suppress = (email: string, fields: Record<string, unknown> = {}) =>
  invoke(world.as(world.workspace_id), createSuppressions, { email, ...fields });
const fetchJobs = (): Promise<DeliveryJob[]> => world.services.jobs.fetch('delivery.attempt', 50);
const copiesTo = (email: string) => world.smtp.messages.filter((mail) => mail.envelope_to.includes(email)).length;

async function liveJobs(): Promise<number> {
  const rows = await world.services.sql`
    select from pgboss.job where name = 'delivery.attempt' and state < 'completed'`;
  return rows.length;
}

describe('suppression', () => {
  it('stops queued email to a newly suppressed address, but not to the message’s other recipient', async () => {
    const id = await send(['Queued@example.com', 'other@example.com']);

    const { id: suppression_id } = (await suppress('queued@EXAMPLE.com')) as { id: string };
    await world.drain();

    const email = await detail(id);
    expect(email).toMatchObject({
      status: 'suppressed',
      recipients: [
        { email: 'Queued@example.com', status: 'suppressed', attempts: 0, waiting: null },
        { email: 'other@example.com', status: 'delivered', attempts: 1 },
      ],
    });
    const suppression = email.events.find((event) => event.type === 'email.suppressed');
    expect(suppression).toMatchObject({
      recipient_id: email.recipients[0]?.id,
      data: { suppression_id, recipient: { email: 'Queued@example.com', status: 'suppressed' } },
    });
    expect(email.events.map((event) => event.sequence)).toEqual([1, 2, 3]);
    expect([copiesTo('Queued@example.com'), copiesTo('other@example.com')]).toEqual([0, 1]);
    expect(await liveJobs()).toBe(0);
  });

  it('stops retries to an address suppressed between two attempts', async () => {
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));
    const id = await send('deferred@example.com');
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));

    await suppress('deferred@example.com');
    await world.clock.advance(MINUTE_MS);
    await world.drain();

    expect(await detail(id)).toMatchObject({ status: 'suppressed', recipients: [{ attempts: 1 }] });
    expect(copiesTo('deferred@example.com')).toBe(0);
    expect(await liveJobs()).toBe(0);
  });

  it('closes scheduled email at its due time, not earlier, if the address is suppressed before then', async () => {
    const scheduled_at = new Date(world.clock.now() + 10 * MINUTE_MS).toISOString();
    const id = await send('scheduled@example.com', { scheduled_at });
    await suppress('scheduled@example.com');
    await world.drain();
    expect((await detail(id)).status).toBe('scheduled');

    await world.clock.advance(10 * MINUTE_MS);
    await world.drain();

    const email = await detail(id);
    expect(email.status).toBe('suppressed');
    expect(email.events.map((event) => event.type)).toEqual(['email.scheduled', 'email.queued', 'email.suppressed']);
    expect(copiesTo('scheduled@example.com')).toBe(0);
  });

  it('does not stop scheduled email to an address unsuppressed before the due time', async () => {
    const id = await send('pardoned@example.com');
    await suppress('pardoned@example.com');
    await invoke(world.as(world.workspace_id), deleteSuppression, { email: 'pardoned@example.com' });

    await world.drain();

    expect((await detail(id)).status).toBe('delivered');
  });

  it('delays email to a temporarily suppressed address until the suppression expires', async () => {
    const expires_at = new Date(world.clock.now() + MINUTE_MS).toISOString();
    await suppress('paused@example.com', { expires_at });
    const scheduled_at = new Date(world.clock.now() + 2 * MINUTE_MS).toISOString();
    const id = await send(['paused@example.com', 'else@example.com'], { scheduled_at });
    const before = await detail(id);
    await world.clock.advance(2 * MINUTE_MS);
    const second = await send('paused@example.com');

    await world.drain();

    expect(before.recipients.map((one) => one.status)).toEqual(['suppressed', 'scheduled']);
    expect((await detail(second)).status).toBe('delivered');
  });

  it('prevents a retry, leaving no job, if the address is suppressed after a worker died mid-send', async () => {
    const id = await send('orphan@example.com');
    expect(await claimDeliveries(world.services, await fetchJobs())).toHaveLength(1);
    await suppress('orphan@example.com');
    await world.services.sql`
      update pgboss.job set state = 'retry', start_after = clock_now()
      where name = 'delivery.attempt' and state = 'active'`;
    await world.drain();
    expect((await detail(id)).status).toBe('sending');

    await world.clock.advance(MINUTE_MS);
    await world.drain();

    expect(await detail(id)).toMatchObject({ status: 'suppressed', recipients: [{ attempts: 1 }] });
    expect(await liveJobs()).toBe(0);
  });

  it('does not affect the same address in another workspace', async () => {
    const { workspace_id } = await world.workspace('free');
    const id = await send('foreign@example.com');
    await invoke(world.as(workspace_id), createSuppressions, { email: 'foreign@example.com' });

    await world.drain();

    expect((await detail(id)).status).toBe('delivered');
  });

  it('stops only email that has not started if it occurs while twenty emails are being sent', async () => {
    const sent = await Promise.all(Array.from({ length: 20 }, (_, index) => send(`race${index}@example.com`)));

    await Promise.all([world.drain(), ...sent.map((_, index) => suppress(`race${index}@example.com`))]);
    await world.drain();

    const emails = await Promise.all(sent.map(detail));
    for (const [index, message] of emails.entries()) {
      expect(['delivered', 'suppressed']).toContain(message.status);
      expect(copiesTo(`race${index}@example.com`)).toBe(message.status === 'delivered' ? 1 : 0);
    }
    expect(await liveJobs()).toBe(0);
  });
});
