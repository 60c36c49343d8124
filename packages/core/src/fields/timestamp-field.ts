import { z } from 'zod';
import { issueFor } from '../operation/parse-input.ts';

// ISO 8601-1:2019. A date and its time must use the same format, extended or basic; the offset may use either. The time
// may end at the hour, minute or second, and its last part may have a fraction.
const FRACTION = String.raw`(?:[.,](?<fraction>\d{1,12}))?`;
const OFFSET = String.raw`(?:(?<utc>Z)|(?<sign>[+-])(?<offset_hour>\d{2})(?::?(?<offset_minute>\d{2}))?)?`;
const EXTENDED = new RegExp(
  String.raw`^(?<year>\d{4})-(?:(?<month>\d{2})-(?<day>\d{2})|W(?<week>\d{2})-(?<weekday>[1-7])|(?<ordinal>\d{3}))` +
    String.raw`T(?<hour>\d{2})(?::(?<minute>\d{2})(?::(?<second>\d{2}))?)?${FRACTION}${OFFSET}$`,
);
const BASIC = new RegExp(
  String.raw`^(?<year>\d{4})(?:(?<month>\d{2})(?<day>\d{2})|W(?<week>\d{2})(?<weekday>[1-7])|(?<ordinal>\d{3}))` +
    String.raw`T(?<hour>\d{2})(?:(?<minute>\d{2})(?<second>\d{2})?)?${FRACTION}${OFFSET}$`,
);
const DATE_ALONE = /^\d{4}-?(?:\d{2}-?\d{2}|W\d{2}-?\d|\d{3})$/;

// Contains no example timestamp, because any fixed example would sooner or later be in the past.
const FORM = 'must be ISO 8601, as YYYY-MM-DDThh:mm:ssZ or with an offset such as +01:00';
const DAY_MS = 86_400_000;
// The range in which Postgres and toISOString produce the same text for any offset.
const FIRST_MS = midnight(1, 0, 1);
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export type ReadTimestamp =
  | { readonly ok: true; readonly date: Date }
  | { readonly ok: false; readonly message: string };

/** Parses an ISO 8601 timestamp, in UTC if it has no offset. Error messages are worded to follow the field name. */
export function readTimestamp(text: string): ReadTimestamp {
  const parts = (EXTENDED.exec(text) ?? BASIC.exec(text))?.groups;
  if (!parts) {
    if (DATE_ALONE.test(text)) return refuse('has no time of day; add it, as in T09:00:00Z');
    if (text.trim() !== text) return refuse('has a space before or after it; remove it');
    return refuse(FORM);
  }
  const day_ms = dayOf(parts);
  if (day_ms === null) return refuse('names a day that does not exist');
  const [hour, minute, second] = [number(parts.hour), number(parts.minute), number(parts.second)];
  if (hour > 23) return refuse('has an hour above 23; midnight is T00:00:00 of the next day');
  if (minute > 59) return refuse('has a minute above 59');
  if (second > 59) return refuse('has a second above 59; leap seconds are not supported');
  const [offset_hour, offset_minute] = [number(parts.offset_hour), number(parts.offset_minute)];
  if (offset_minute > 59 || offset_hour * 60 + offset_minute > 14 * 60) {
    return refuse('has an offset that no place has; offsets go from -14:00 to +14:00');
  }
  const unit_ms = parts.second === undefined ? (parts.minute === undefined ? 3_600_000 : 60_000) : 1000;
  const fraction_ms = Math.floor(Number(`0.${parts.fraction ?? 0}`) * unit_ms);
  const offset_ms = (offset_hour * 60 + offset_minute) * (parts.sign === '-' ? -60_000 : 60_000);
  const ms = day_ms + (hour * 3600 + minute * 60 + second) * 1000 + fraction_ms - offset_ms;
  if (ms < FIRST_MS || ms > LAST_MS) return refuse('must lie in the years 0001 to 9999');
  return { ok: true, date: new Date(ms) };
}

type Parts = Readonly<Record<string, string | undefined>>;

/** Returns midnight at the start of the day; null for a day that does not exist. */
function dayOf(parts: Parts): number | null {
  const year = number(parts.year);
  if (parts.week !== undefined) return dayOfWeek(year, number(parts.week), number(parts.weekday));
  if (parts.ordinal !== undefined) {
    const ordinal = number(parts.ordinal);
    return ordinal >= 1 && ordinal <= daysIn(year) ? midnight(year, 0, 1) + (ordinal - 1) * DAY_MS : null;
  }
  const [month, day] = [number(parts.month) - 1, number(parts.day)];
  const ms = midnight(year, month, day);
  // Date rolls April 31 over into May.
  const date = new Date(ms);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? ms : null;
}

/**
 * Returns midnight on a day of an ISO week; null for a week that does not exist. Week 1 contains January 4, and weeks
 * begin on Monday.
 */
function dayOfWeek(year: number, week: number, weekday: number): number | null {
  const fourth = midnight(year, 0, 4);
  const first_monday = fourth - mondayBased(fourth) * DAY_MS;
  const next_fourth = midnight(year + 1, 0, 4);
  const weeks = (next_fourth - mondayBased(next_fourth) * DAY_MS - first_monday) / (7 * DAY_MS);
  if (week < 1 || week > weeks) return null;
  return first_monday + ((week - 1) * 7 + weekday - 1) * DAY_MS;
}

function mondayBased(ms: number): number {
  return (new Date(ms).getUTCDay() + 6) % 7;
}

function daysIn(year: number): number {
  return (midnight(year + 1, 0, 1) - midnight(year, 0, 1)) / DAY_MS;
}

/** Returns midnight at the start of a day. Avoids Date.UTC, which reads the years 0 to 99 as 1900 to 1999. */
function midnight(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

function number(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits);
}

function refuse(message: string): ReadTimestamp {
  return { ok: false, message };
}

const bareText = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC if there is no offset.' });
const timestampText = bareText.meta({ examples: ['2030-01-31T09:00:00Z', '2030-01-31T10:00:00+01:00'] });

/**
 * Parses a timestamp field. A field that must be near the current time has no example, because no example would stay
 * valid.
 */
export function timestampField(name: string, near_now = false) {
  return (near_now ? bareText : timestampText).transform((text, context) => {
    const read = readTimestamp(text);
    if (read.ok) return read.date;
    context.addIssue(issueFor('invalid_timestamp', `${name} ${read.message}.`));
    return z.NEVER;
  });
}
