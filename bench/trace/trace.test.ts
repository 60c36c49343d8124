import { describe, expect, it } from 'vitest';
import { stepTimes, type TracedStep } from './steps.ts';

const STEPS = ['fetched', 'claimed', 'rendered', 'signed', 'connected', 'content sent', 'response', 'settled'] as const;

describe('step times', () => {
  it('count each step from the one before and from the acceptance', () => {
    const steps = STEPS.map((step, index): TracedStep => ['a', step, 100 + 10 * (index + 1)]);

    const times = stepTimes(steps, new Map([['a', 100]]));

    expect(times.map(({ step }) => step)).toEqual(STEPS);
    expect(times.map(({ p50_ms }) => p50_ms)).toEqual(STEPS.map(() => 10));
    expect(times.at(-1)?.total_p99_ms).toBe(80);
  });

  it('leave out messages that did not reach every step, or were accepted before the window', () => {
    const whole = STEPS.map((step): TracedStep => ['old', step, 200]);

    expect(stepTimes([...whole, ['begun', 'fetched', 200]], new Map([['begun', 100]]))).toEqual([]);
  });
});
