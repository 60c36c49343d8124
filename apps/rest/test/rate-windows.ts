import type { World } from '@postrider/testing';

/** Fills a window as this many requests in the current minute would. */
export async function fillWindow(
  world: World,
  subject: string,
  window: 'send' | 'logs' | 'default' | 'address' | 'workspace',
  used: number,
): Promise<void> {
  await world.services.sql`
    insert into rate_windows (subject, class, minute, used)
    values (${window === 'address' ? world.services.sql`md5(${subject})::uuid` : world.services.sql`${subject}::uuid`}, ${window}, date_trunc('minute', clock_now()), ${used})
    on conflict (subject, class, minute) do update set used = excluded.used`;
}

export function countEach<T>(values: readonly T[]): Map<T, number> {
  return new Map([...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length]));
}
