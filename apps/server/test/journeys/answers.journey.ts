import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';

const PATIENCE = { timeout: 30_000 };
const LARGE = 'x'.repeat(300_000);

let journey: Journey;
beforeEach(async () => {
  journey = await openJourney();
});
afterEach(() => journey.stop());

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

const attempts = () => journey.sql`select number, outcome, stage from attempts order by started_at, number`;

describe('a shutdown with SMTP responses outstanding', () => {
  it('promise P1, P2: hands back unsent email, and waits for responses to sent email', async () => {
    const server = await journey.start({ SHUTDOWN_GRACE: '8s' });
    await journey.sql`update workspaces set unknown_policy = 'stop'`;
    // A lane starts with a cap of five concurrent deliveries.
    const stall = stallAtDot(5);
    for (let number = 0; number < 9; number++) {
      const mail = { ...hello, to: `to${number}@example.com`, text: LARGE };
      expect((await server.call('POST', '/v1/email/send', { body: mail })).status).toBe(202);
    }
    await stall.reached;

    const exit = server.end();
    await expect
      .poll(() => journey.sql`select from recipients where state = 'queued' and attempt_count = 0`, PATIENCE)
      .toHaveLength(4);
    stall.release();

    expect(await exit).toEqual({ code: 0, signal: null });
    expect(await statesOf(journey.sql)).toEqual({ delivered: 5, queued: 4 });
    expect([...(await attempts())]).toEqual(Array(5).fill({ number: 1, outcome: 'accepted', stage: 'after_dot' }));
    expect(journey.smtp.messages).toHaveLength(5);
  });

  it('promise P2: records a missing response as unknown just before the grace period ends', async () => {
    const server = await journey.start({ SHUTDOWN_GRACE: '10s' });
    const stall = stallAtDot(1);
    await server.call('POST', '/v1/email/send', { body: hello });
    await stall.reached;

    const began = performance.now();
    expect(await server.end()).toEqual({ code: 0, signal: null });

    expect(performance.now() - began).toBeGreaterThan(2900);
    expect([...(await attempts())]).toEqual([{ number: 1, outcome: 'unknown', stage: 'after_dot' }]);
    stall.release();
  });
});

describe('a worker', () => {
  it('promise P3, P7: sends at most three copies without a response, and dates email by its scheduled time', async () => {
    const server = await journey.start({ RETRY_SCHEDULE: '1s,1s,1s,1s,1s', LIMITS: 'smtp_after_dot=300ms' });
    journey.smtp.script(({ to, nth }) => {
      if (to === 'silent@example.com') return { kind: 'stall', until: new Promise(() => undefined) };
      return nth === 1 ? { kind: 'drop', at: 'after_dot' } : { kind: 'accept' };
    });
    const at = new Date(Date.now() + 2500);
    const silent = { ...hello, to: 'silent@example.com' };
    const scheduled = { ...hello, to: 'later@example.com', scheduled_at: at.toISOString() };
    const sent = await server.call('POST', '/v1/email/send', { body: silent });
    await server.call('POST', '/v1/email/send', { body: scheduled });

    await expect.poll(() => statesOf(journey.sql), PATIENCE).toEqual({ delivered: 1, failed: 1 });

    const [recipient] = await journey.sql`select reason, attempt_count from recipients where state = 'failed'`;
    expect(recipient).toEqual({ reason: 'outcome_unknown', attempt_count: 3 });
    const detail = await server.call('GET', `/v1/email/logs/${sent.body.id}`);
    expect(detail.body).toMatchObject({ attempts: Array(3).fill({ outcome: 'unknown', stage: 'after_dot' }) });
    const copies = journey.smtp.messages.filter((mail) => mail.envelope_to[0] === 'later@example.com');
    const seconds = Math.floor(at.getTime() / 1000);
    expect(copies).toHaveLength(2);
    for (const copy of copies) {
      expect(copy.raw.toString().match(/[ ;]t=\d+;/g)).toEqual([` t=${seconds};`]);
      expect((await journey.smtp.parsed(copy)).date?.getTime()).toBe(seconds * 1000);
      expect(copy.raw.equals(copies[0]?.raw ?? Buffer.alloc(0))).toBe(true);
    }
  });
});
