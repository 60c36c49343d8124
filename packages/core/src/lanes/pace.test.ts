import type { Reply, SendOutcome } from '@postrider/mail';
import { describe, expect, it } from 'vitest';
import { FIRST_PACE, type LaneNews, laneNews, MAX_CAP, type Pace, paceAfter, pauseMs, reopened } from './pace.ts';

function outcome(fields: Partial<SendOutcome>): SendOutcome {
  return {
    kind: 'deferred',
    reply: null,
    error: null,
    target: 'mx.example.com:25',
    address: null,
    tls: null,
    tls_policy: null,
    phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
    stage: 'rcpt',
    transcript: '',
    ...fields,
  };
}
const reply = (code: number, enhanced: string | null = null): Reply => ({ code, enhanced, text: '' });

function paceOf(pace: Pace, ...outcomes: LaneNews[]): Pace {
  return outcomes.reduce((last, one) => paceAfter(last, one).pace, pace);
}

describe('an attempt’s update to its lane', () => {
  it.each([
    ['a mail that was taken', outcome({ kind: 'accepted', stage: 'after_dot', reply: reply(250) }), 'taken'],
    ['a recipient refused for good', outcome({ kind: 'rejected', reply: reply(550, '5.1.1') }), 'answered'],
    ['a full mailbox', outcome({ reply: reply(452, '4.2.2') }), 'answered'],
    ['421', outcome({ reply: reply(421, '4.3.2') }), 'pushed_back'],
    ['450 4.7.1 of the mail', outcome({ stage: 'data', reply: reply(450, '4.7.1') }), 'pushed_back'],
    ['451 4.7.650 of the sender', outcome({ stage: 'mail', reply: reply(451, '4.7.650') }), 'pushed_back'],
    ['450 4.7.1 of the recipient', outcome({ reply: reply(450, '4.7.1') }), 'slowed'],
    [
      'a domain that the server does not relay to',
      outcome({ kind: 'rejected', reply: reply(554, '5.7.1') }),
      'answered',
    ],
    [
      'a session that the policy of the domain forbade',
      outcome({ stage: 'connect', tls_policy: 'mta-sts', error: 'self-signed certificate' }),
      'answered',
    ],
    ['451 of another kind', outcome({ reply: reply(451, '4.3.0') }), 'answered'],
    ['a connection that was refused', outcome({ stage: 'connect', error: 'connect ECONNREFUSED' }), 'refused'],
    ['a greeting that sends away', outcome({ stage: 'connect', reply: reply(554) }), 'failed'],
    ['a session that was lost', outcome({ stage: 'data', error: 'closed' }), 'failed'],
    ['an answer that never came', outcome({ kind: 'unknown', stage: 'after_dot' }), 'failed'],
    ['a mail that cannot be made', outcome({ target: '', stage: 'connect' }), null],
  ])('%s', (_, result, event) => {
    expect(laneNews(result)).toBe(event);
  });
});

describe('a lane’s pace', () => {
  it('starts at five, grows by one with each accepted email, and stops growing at its limit', () => {
    expect(FIRST_PACE.cap).toBe(5);
    expect(paceOf(FIRST_PACE, 'taken', 'taken').cap).toBe(7);
    expect(paceOf(FIRST_PACE, ...Array.from({ length: 100 }, () => 'taken' as const)).cap).toBe(MAX_CAP);
  });

  it('is halved if the server throttles or fails, but never drops below one', () => {
    const fast = { ...FIRST_PACE, cap: 20 };
    expect(paceOf(fast, 'pushed_back').cap).toBe(10);
    expect(paceOf(fast, 'slowed').cap).toBe(10);
    expect(paceOf(fast, 'failed', 'failed').cap).toBe(5);
    expect(paceOf({ ...fast, cap: 1 }, 'failed').cap).toBe(1);
  });

  it('does not close the lane if only additional sessions are rejected', () => {
    const crowded = Array.from({ length: 10 }, () => 'crowded' as const);
    expect(paceOf(FIRST_PACE, ...crowded)).toMatchObject({ cap: 1, failures: 0, patience: 64 });
  });

  it('needs twice as many emails to grow after each throttling, up to a limit', () => {
    const accepts = (count: number) => Array.from({ length: count }, () => 'taken' as const);
    const pushed = paceOf(FIRST_PACE, 'pushed_back', 'pushed_back');
    expect(pushed.cap).toBe(1);
    expect(paceOf(pushed, ...accepts(3)).cap).toBe(1);
    expect(paceOf(pushed, ...accepts(4)).cap).toBe(2);
    expect(paceOf(reopened(pushed, 1), ...accepts(3)).cap).toBe(1);
    const often = paceOf(FIRST_PACE, ...Array.from({ length: 20 }, () => 'pushed_back' as const));
    expect(paceOf(often, ...accepts(63)).cap).toBe(1);
    expect(paceOf(often, ...accepts(64)).cap).toBe(2);
    const full = paceOf(often, ...accepts(64 * 19));
    expect(full.cap).toBe(MAX_CAP);
    expect(paceOf(full, 'failed', 'taken').cap).toBe(11);
  });

  it('pauses after five consecutive failures, and any response resets the count', () => {
    const four = paceOf(FIRST_PACE, 'failed', 'pushed_back', 'failed', 'failed');
    expect(paceAfter(four, 'failed').closes).toBe(true);
    expect(paceAfter(paceOf(four, 'answered'), 'failed').closes).toBe(false);
  });

  it('restarts at one after a pause, pauses again at the first failure, and resets after one success', () => {
    const reopened_pace = reopened(FIRST_PACE, 1);
    expect(reopened_pace.cap).toBe(1);
    expect(paceAfter(reopened_pace, 'failed').closes).toBe(true);
    expect(paceOf(reopened_pace, 'taken')).toMatchObject({ cap: 2, failures: 0, closings: 0 });
  });

  it('chaos C10: pauses for a second at first, doubling each time up to a limit', () => {
    expect([0, 1, 2, 3, 4, 50].map((closings) => pauseMs(closings, 'failed', 10_000))).toEqual([
      1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
  });

  it('chaos C10: checks every second whether a server still rejects connections', () => {
    expect([0, 1, 50].map((closings) => pauseMs(closings, 'refused', 300_000))).toEqual([1000, 1000, 1000]);
  });
});
