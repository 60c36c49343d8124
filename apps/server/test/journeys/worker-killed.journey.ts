import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

let journey: Journey;
beforeEach(async () => {
  journey = await openJourney();
});
afterEach(() => journey.stop());

const PAST_EVERY_LEASE_MS = 60_000;

/** Stalls messages after DATA, and resolves `reached` once `count` messages are stalled. */
function stallAtDot(count: number) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let stalled = 0;
  journey.smtp.script(({ stage }) => {
    if (stage === 'data' && ++stalled === count) reached.resolve();
    return { kind: 'stall', until: released.promise };
  });
  return { reached: reached.promise, release: released.resolve };
}

/** Expires the heartbeats of a stopped worker's jobs. Another worker's supervisor notices within ten seconds. */
async function jobsComeBack(count: number) {
  await journey.clock.advance(PAST_EVERY_LEASE_MS);
  await expect
    .poll(() => journey.sql`select from pgboss.job where name = 'delivery.attempt' and state = 'retry'`, {
      timeout: 30_000,
    })
    .toHaveLength(count);
  await journey.clock.advance(PAST_EVERY_LEASE_MS);
}

/**
 * Waits until the other worker has noticed that a worker died, and expires the leases of everything that the dead
 * worker had claimed.
 */
async function leasesEnd(other: ServerProcess) {
  await expect.poll(() => other.logged().map(({ msg }) => msg)).toContain('a worker died; requeued its email');
  await journey.clock.advance(PAST_EVERY_LEASE_MS);
}

describe('a worker that dies during SMTP', () => {
  it('loses nothing: another worker takes over, and any second copy is byte-identical', async () => {
    const api = await journey.start({ ROLES: 'rest' });
    const first = await journey.start({ ROLES: 'worker' });
    const stall = stallAtDot(5);
    const ids = await Promise.all(
      [1, 2, 3, 4, 5].map(async (number) => {
        const sent = await api.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
        return sent.body.id;
      }),
    );
    await stall.reached;

    expect(await first.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    journey.smtp.script(() => ({ kind: 'accept' }));
    stall.release();
    await leasesEnd(await journey.start({ ROLES: 'worker' }));

    await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ delivered: 5 });
    expect(journey.smtp.messages.filter((mail) => mail.acknowledged)).toHaveLength(5);
    const copies = copiesOf(journey.smtp);
    expect([...copies.keys()].sort()).toEqual(
      ids.map((id, index) => `<${id}@good.test> to${index + 1}@example.com`).sort(),
    );
    for (const copy of copies.values()) {
      expect(copy.copies).toBeLessThanOrEqual(2);
      expect(copy.bodies).toBe(1);
    }
    expect(await journey.sql`select number, outcome, stage from attempts order by number`).toEqual([
      ...Array(5).fill({ number: 1, outcome: 'unknown', stage: 'worker_lost' }),
      ...Array(5).fill({ number: 2, outcome: 'accepted', stage: 'after_dot' }),
    ]);
  });

  it('causes no second copy under the stop policy, and the email is marked as failed and unknown', async () => {
    const api = await journey.start({ ROLES: 'rest' });
    await journey.sql`update workspaces set unknown_policy = 'stop'`;
    const first = await journey.start({ ROLES: 'worker' });
    const stall = stallAtDot(5);
    for (const number of [1, 2, 3, 4, 5]) {
      await api.call('POST', '/v1/email/send', { body: { ...hello, to: `to${number}@example.com` } });
    }
    await stall.reached;

    await first.kill();
    journey.smtp.script(() => ({ kind: 'accept' }));
    stall.release();
    await leasesEnd(await journey.start({ ROLES: 'worker' }));

    await expect.poll(() => statesOf(journey.sql), { timeout: 30_000 }).toEqual({ failed: 5 });
    for (const copy of copiesOf(journey.smtp).values()) expect(copy.copies).toBe(1);
    expect(await journey.sql`select number, outcome, stage from attempts`).toEqual(
      Array(5).fill({ number: 1, outcome: 'unknown', stage: 'data' }),
    );
  });

  it('changes nothing if it was only suspended and resumes later', async () => {
    const api = await journey.start({ ROLES: 'rest' });
    const sleeper = await journey.start({ ROLES: 'worker' });
    const stall = stallAtDot(1);
    const sent = await api.call('POST', '/v1/email/send', { body: hello });
    await stall.reached;
    sleeper.signal('SIGSTOP');
    journey.smtp.script(() => ({ kind: 'accept' }));
    await journey.start({ ROLES: 'worker' });
    await jobsComeBack(1);
    await expect.poll(() => statesOf(journey.sql), { timeout: 90_000 }).toEqual({ delivered: 1 });
    const before = await journey.sql`select * from recipients`;

    stall.release();
    sleeper.signal('SIGCONT');

    await expect
      .poll(() => sleeper.logged().map((line) => line.msg), { timeout: 30_000 })
      .toContain('dropped late results whose lease had expired');
    expect(await journey.sql`select * from recipients`).toEqual(before);
    const detail = await api.call('GET', `/v1/email/logs/${sent.body.id}`);
    expect(detail.body).toMatchObject({
      status: 'delivered',
      attempts: [
        { number: 1, outcome: 'unknown', stage: 'worker_lost' },
        { number: 2, outcome: 'accepted' },
      ],
      events: [{ type: 'email.queued' }, { type: 'email.delivered' }],
    });
    expect(await sleeper.end()).toEqual({ code: 0, signal: null });
  });
});
