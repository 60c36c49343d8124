import { describe, expect, it } from 'vitest';
import { createMetrics } from '../process/metrics.ts';
import { FairLine, type LineBounds, type ShareRejected } from './fair-line.ts';

const BOUNDS: LineBounds = {
  units: 10,
  own_units: 6,
  reserve: 2,
  max_waiting: 100,
  max_own_waiting: 50,
  max_wait_ms: 60_000,
};

function lineOf(bounds: Partial<LineBounds> = {}) {
  const metrics = createMetrics();
  const line = new FairLine('request_bodies', { ...BOUNDS, ...bounds }, metrics);
  const metricOf = (name: 'share_waiting' | 'share_rejected_total', label: string) =>
    metrics
      .read()
      .find((reading) => reading.name === name)
      ?.points.find(({ labels }) => labels.at(-1) === label)?.value ?? 0;
  return { line, metricOf };
}

/** Returns whether the entry has been admitted by the time every earlier promise has settled. */
const isIn = (entry: Promise<unknown>) =>
  Promise.race([entry.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);

const reasonOf = (entry: Promise<unknown>) =>
  entry.then(
    () => null,
    (error: ShareRejected) => error.reason,
  );

describe('a fair request queue', () => {
  it('admits every request that fits, and the next request when one leaves', async () => {
    const { line } = lineOf();
    const first = line.enter('a', 5);
    const [second, third] = [line.enter('b', 5), line.enter('c', 5)];
    expect([await isIn(first), await isIn(second), await isIn(third)]).toEqual([true, true, false]);

    const leave = await first;
    leave();
    leave();

    expect(await isIn(third)).toBe(true);
    expect(await isIn(line.enter('d', 1))).toBe(false);
  });

  it('gives each workspace a turn, however many requests another workspace has waiting', async () => {
    const { line } = lineOf({ units: 1, own_units: 1, reserve: 0 });
    const order: string[] = [];
    let leave = await line.enter('greedy');
    const entries = [...Array(20).fill('greedy'), 'neighbor', 'other'].map(async (owner: string) => {
      const leave_line = await line.enter(owner);
      order.push(owner);
      leave = leave_line;
    });
    for (let turn = 0; turn < entries.length; turn++) {
      leave();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(entries);

    expect(order.slice(0, 3)).toEqual(['greedy', 'neighbor', 'other']);
  });

  it('keeps a reserve for workspaces without a place', async () => {
    const { line } = lineOf({ own_units: 10 });
    const own = ['greedy', 'greedy', 'greedy'].map((owner) => line.enter(owner, 4));

    expect(await Promise.all(own.map(isIn))).toEqual([true, true, false]);
    expect(await isIn(line.enter('neighbor', 2))).toBe(true);
  });

  it('skips a workspace that has used its share, but lets no small request pass a large one', async () => {
    const { line } = lineOf({ reserve: 0 });
    await line.enter('a', 6);
    const over_its_share = line.enter('a', 1);
    const large = line.enter('b', 6);
    const small = line.enter('c', 1);

    expect(await Promise.all([over_its_share, large, small].map(isIn))).toEqual([false, false, false]);
  });

  it('admits a request larger than the total capacity if it is alone', async () => {
    const { line } = lineOf();

    expect(await isIn(line.enter('a', 500))).toBe(true);
    expect(await isIn(line.enter('b', 1))).toBe(false);
  });

  it('rejects and counts requests over the limits of one workspace or of all workspaces', async () => {
    const { line, metricOf } = lineOf({ units: 1, own_units: 1, reserve: 0, max_own_waiting: 1, max_waiting: 2 });
    await line.enter('a');
    void line.enter('a').catch(() => undefined);

    expect(await reasonOf(line.enter('a'))).toBe('full');
    void line.enter('b').catch(() => undefined);
    expect(await reasonOf(line.enter('c'))).toBe('full');
    expect(metricOf('share_rejected_total', 'full')).toBe(2);
    expect(metricOf('share_waiting', 'request_bodies')).toBe(2);
  });

  it('stops waiting after a timeout or when the client leaves, without assigning a place', async () => {
    const { line, metricOf } = lineOf({ units: 1, own_units: 1, reserve: 0, max_wait_ms: 20 });
    const leave = await line.enter('a');
    const abort = new AbortController();
    const client = line.enter('b', 1, abort.signal).catch((error: unknown) => error);
    abort.abort('left');

    expect(await client).toBe('left');
    expect(await reasonOf(line.enter('c'))).toBe('timeout');
    expect(metricOf('share_rejected_total', 'timeout')).toBe(1);
    leave();
    expect(await isIn(line.enter('d'))).toBe(true);
    expect(metricOf('share_waiting', 'request_bodies')).toBe(0);
  });

  it('rejects all waiting requests when it stops', async () => {
    const { line } = lineOf({ units: 1, own_units: 1, reserve: 0 });
    await line.enter('a');
    const waiting = reasonOf(line.enter('b'));

    line.stop();

    expect(await waiting).toBe('stopped');
    expect(await reasonOf(line.enter('c'))).toBe('stopped');
  });
});
