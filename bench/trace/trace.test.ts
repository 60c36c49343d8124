import { deliverySteps } from '@postrider/core/delivery';
import { describe, expect, it } from 'vitest';
import { stepTimes, type TracedStep } from './steps.ts';

describe('step times', () => {
  it('count each step from the one before and from the acceptance', () => {
    const steps = deliverySteps.map((step, index): TracedStep => ['a', step, 100 + 10 * (index + 1)]);

    const times = stepTimes(steps, new Map([['a', 100]]));

    expect(times.map(({ step }) => step)).toEqual(deliverySteps);
    expect(times.map(({ p50_ms }) => p50_ms)).toEqual(deliverySteps.map(() => 10));
    expect(times.at(-1)?.total_p99_ms).toBe(80);
  });

  it('leave out messages that did not reach every step, or were accepted before the window', () => {
    const whole = deliverySteps.map((step): TracedStep => ['old', step, 200]);

    expect(stepTimes([...whole, ['begun', 'fetched', 200]], new Map([['begun', 100]]))).toEqual([]);
  });
});
