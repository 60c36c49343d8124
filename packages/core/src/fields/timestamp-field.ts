import { z } from 'zod';
import { issueFor } from '../operation/parse-input.ts';

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](\d{2}):(\d{2}))$/;

/** Parses an ISO 8601 instant with an offset or Z; null for anything else, impossible dates included. */
export function readTimestamp(text: string): Date | null {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second = 0, offsetHours = 0, offsetMinutes = 0] = match
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  // Date.UTC would roll 31 April over into May, so the day is compared after the fact.
  const midnight = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0));
  const exists = midnight.getUTCMonth() === (month ?? 0) - 1 && midnight.getUTCDate() === day;
  const inDay = (hour ?? 24) < 24 && (minute ?? 60) < 60 && second < 60;
  const inWorld = offsetHours < 14 || (offsetHours === 14 && offsetMinutes === 0);
  if (!exists || !inDay || !inWorld || offsetMinutes > 59 || (year ?? 0) < 1970) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

const timestampText = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601 with Z or an offset.',
  examples: ['2030-01-31T09:00:00Z', '2030-01-31T10:00:00+01:00'],
});

export function timestampField(name: string) {
  return timestampText.transform((text, context) => {
    const date = readTimestamp(text);
    if (date) return date;
    context.addIssue(
      issueFor('invalid_timestamp', `${name} must be ISO 8601 with Z or an offset, such as 2030-01-31T09:00:00Z.`),
    );
    return z.NEVER;
  });
}
