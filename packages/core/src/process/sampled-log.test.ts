import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createSampledLog } from './sampled-log.ts';

it('the log contains every line at a low rate, and a sample with an omission count at a high rate', () => {
  const lines: { readonly number: number; readonly skipped?: number }[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let now = 0;
  const sampled = createSampledLog(log, () => now);
  const burst = (count: number) => {
    for (let number = 1; number <= count; number++) sampled.info('mail accepted', () => ({ number }));
  };

  burst(20);
  now = 1000;
  burst(3000);
  now = 2000;
  burst(1);

  expect(lines.slice(0, 40).every(({ skipped }) => skipped === undefined)).toBe(true);
  expect(lines.slice(40, 43).map(({ number }) => number)).toEqual([1000, 2000, 3000]);
  expect(lines.slice(40).map(({ skipped }) => skipped)).toEqual([979, 999, 999, undefined]);
});
