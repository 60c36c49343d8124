const DAY_MS = 86_400_000;

/** How far back each moving range goes. */
const days = { day: 1, week: 7, month: 30 } as const;
type MovingRange = keyof typeof days;

export const rangeNames = ['day', 'week', 'month', 'dates'] as const;
export type Range = (typeof rangeNames)[number];

export function startOf(range: MovingRange, now_ms: number): string {
  return new Date(now_ms - days[range] * DAY_MS).toISOString();
}

/** No entry is older. */
export const FIRST_DAY = '1970-01-01';

/** Returns when a day such as 2026-11-23 begins, or when the day after it begins. */
export function dayStart(day: string, utc: boolean, plus_days = 0): string | undefined {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const at = utc ? new Date(Date.UTC(year, month - 1, date + plus_days)) : new Date(year, month - 1, date + plus_days);
  return day === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Returns the day of a time, as a date field takes it. */
export function dayOf(at_ms: number, utc: boolean): string {
  const at = new Date(at_ms);
  const shifted = utc ? at : new Date(at_ms - at.getTimezoneOffset() * 60_000);
  return Number.isNaN(at_ms) ? '' : shifted.toISOString().slice(0, 10);
}
