import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { limitsPage, withLimits } from '../../../../scripts/list-limits.ts';
import { readConfig } from './config.ts';
import { limits } from './limits.ts';

it('docs/limits.md lists the current limits (regenerate it with node scripts/list-limits.ts)', () => {
  const page = readFileSync(limitsPage, 'utf8');

  expect(withLimits(page)).toBe(page);
});

it('LIMITS changes only the limits it lists, in milliseconds', () => {
  const { LIMITS } = readConfig({ LIMITS: 'smtp_after_dot=300ms, relay_connections=7' });

  expect(LIMITS).toMatchObject({ smtp_after_dot: 300, relay_connections: 7, smtp_greeting: 300_000 });
  expect(Object.keys(LIMITS)).toEqual(Object.keys(limits));
});

it.each(['smtp_after_dots=5m', 'smtp_after_dot', 'smtp_after_dot=5', 'relay_connections=5m', 'smtp_dial=0s', 'a=b=c'])(
  'LIMITS=%s prevents startup, and the error reports the mistake',
  (text) => {
    expect(() => readConfig({ LIMITS: text })).toThrow(/LIMITS has "/);
  },
);
