import { describe, expect, it } from 'vitest';
import { lagGauge, type Positions } from './replica.ts';

function follow() {
  let now = 0;
  let position: Positions | null = null;
  const gauge = lagGauge(
    async () => {
      if (!position) throw new Error('away');
      return position;
    },
    () => now,
  );
  return {
    usable: gauge.usable,
    pass(ms: number) {
      now += ms;
    },
    async look(positions: Positions | null) {
      position = positions;
      await gauge.look().catch(() => undefined);
      return gauge.usable();
    },
  };
}

describe('a database replica', () => {
  it('is usable if it is at most five seconds behind the primary, even without any writes', async () => {
    const replica = follow();
    expect(replica.usable()).toBe(false);
    expect(await replica.look({ replica: 90, primary: 100 })).toBe(false);
    replica.pass(500);
    expect(await replica.look({ replica: 100, primary: 200 })).toBe(true);
    replica.pass(60_000);
    expect(await replica.look({ replica: 200, primary: 200 })).toBe(true);
  });

  it('is unusable if it returns minutes behind the primary', async () => {
    const replica = follow();
    expect(await replica.look({ replica: 100, primary: 100 })).toBe(true);
    replica.pass(500);
    expect(await replica.look(null)).toBe(false);
    replica.pass(180_000);
    expect(await replica.look({ replica: 150, primary: 9000 })).toBe(false);
    replica.pass(500);
    expect(await replica.look({ replica: 200, primary: 9000 })).toBe(false);
    replica.pass(500);
    expect(await replica.look({ replica: 9000, primary: 9100 })).toBe(true);
  });

  it('is unusable if it is ahead of the primary or replays nothing', async () => {
    const replica = follow();
    expect(await replica.look({ replica: 5000, primary: 100 })).toBe(false);
    expect(await replica.look({ replica: 5000, primary: 4999 })).toBe(false);
    expect(await replica.look({ replica: null, primary: 100 })).toBe(false);
  });

  it('includes the time since the last check in its lag', async () => {
    const replica = follow();
    await replica.look({ replica: 100, primary: 100 });
    replica.pass(4000);
    expect(await replica.look({ replica: 100, primary: 200 })).toBe(true);
    replica.pass(900);
    expect(replica.usable()).toBe(true);
    replica.pass(200);
    expect(replica.usable()).toBe(false);
  });
});
