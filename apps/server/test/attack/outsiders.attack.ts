import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { generated } from './generated.ts';
import { byNeighbors } from './neighbors.ts';
import { openStage } from './stage.ts';
import { byStrangers } from './strangers.ts';

const world = await openWorld({ RETURN_PATH_DOMAIN: 'bounces.example.org' });
const stage = await openStage(world);
const attempts = [...byStrangers, ...byNeighbors, ...generated];
const lines: string[] = [];

beforeEach(() => stage.nextMinute());
afterAll(async () => {
  await stage.stop();
  process.stdout.write(`${lines.join('\n')}\n${lines.length} attempts\n`);
});

describe('an outsider', () => {
  it('makes at least 100 attempts', () => {
    expect(attempts.length).toBeGreaterThanOrEqual(100);
  });

  it.each(attempts.map((attempt) => [attempt.by, attempt.request, attempt] as const))(
    '%s achieves nothing with %s',
    async (label, request, attempt) => {
      const attack = await attempt.prepare(stage);
      const before = await stage.rows();

      const got = await attack();

      const after = await stage.rows();
      const changed = [...after].filter(([table, sum]) => before.get(table) !== sum).map(([table]) => table);
      lines.push(`${label}: ${request}; expected ${attempt.expected}; got ${got}`);
      expect(got).toBe(attempt.expected);
      expect(changed).toEqual([]);
    },
  );
});
