import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { createAddressCounter } from './address-windows.ts';
import { ADDRESS_LIMIT } from './rate-window.ts';

const world = await openWorld();
const greedy = '192.0.2.1';

beforeEach(async () => {
  await world.clock.freeze(new Date('2031-04-10T08:00:20.000Z'));
  await world.services.sql`truncate rate_windows`;
});

function newCounter(max?: number) {
  return createAddressCounter(world.services.sql, world.services.clock, max);
}

/** Uses up the windows of these addresses, as other processes would. */
async function exhaust(...addresses: readonly string[]): Promise<void> {
  await world.services.sql`
    insert into rate_windows (subject, class, minute, used)
    select md5(a)::uuid, 'address', date_trunc('minute', clock_now()), ${ADDRESS_LIMIT}
    from unnest(${addresses}::text[]) a`;
}

async function usedBy(address: string): Promise<number | undefined> {
  const [row] = await world.services.sql<{ used: number }[]>`
    select used from rate_windows where subject = md5(${address})::uuid order by minute desc limit 1`;
  return row?.used;
}

describe('an exhausted window of a network', () => {
  it('is not counted again by this process, and ends at the same time', async () => {
    await exhaust(greedy);
    const counter = newCounter();

    const first = await counter.count(greedy);
    await world.clock.advance(15_000);
    const later = await counter.count(greedy);

    expect(first).toMatchObject({ limit: ADDRESS_LIMIT, place: ADDRESS_LIMIT + 1, seconds_left: 40 });
    expect(later).toEqual({ ...first, seconds_left: 25 });
    expect(await usedBy(greedy)).toBe(ADDRESS_LIMIT + 1);
  });

  it('does not affect other networks', async () => {
    await exhaust(greedy);
    const counter = newCounter();
    await counter.count(greedy);

    expect(await counter.count('192.0.2.2')).toMatchObject({ place: 1 });
    expect(await counter.count('192.0.2.2')).toMatchObject({ place: 2 });
  });

  it('is counted from the start in the next minute', async () => {
    await exhaust(greedy);
    const counter = newCounter();
    await counter.count(greedy);

    await world.clock.advance(40_000);

    expect(await counter.count(greedy)).toMatchObject({ place: 1, seconds_left: 60 });
    expect(await counter.count(greedy)).toMatchObject({ place: 2 });
  });

  it('is counted in the database if the clock was set back', async () => {
    await exhaust(greedy);
    const counter = newCounter();
    await counter.count(greedy);

    await world.clock.freeze(new Date('2031-04-10T07:00:20.000Z'));

    expect(await counter.count(greedy)).toMatchObject({ place: 1 });
  });

  it('is remembered for a bounded number of networks, the most recent ones', async () => {
    const addresses = [greedy, '192.0.2.2', '192.0.2.3'];
    await exhaust(...addresses);
    const counter = newCounter(2);
    for (const address of addresses) await counter.count(address);

    for (const address of addresses.toReversed()) await counter.count(address);

    const used = await Promise.all(addresses.map(usedBy));
    expect(used).toEqual([ADDRESS_LIMIT + 2, ADDRESS_LIMIT + 1, ADDRESS_LIMIT + 1]);
  });

  it('does not displace another network when many of its requests find it exhausted', async () => {
    await exhaust(greedy, '192.0.2.2');
    const counter = newCounter(2);
    await counter.count('192.0.2.2');

    await Promise.all(Array.from({ length: 5 }, () => counter.count(greedy)));
    await counter.count('192.0.2.2');

    expect(await usedBy('192.0.2.2')).toBe(ADDRESS_LIMIT + 1);
  });
});
