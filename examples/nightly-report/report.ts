import { createHash } from 'node:crypto';
import type { Postrider } from '@postrider/sdk';

export interface Subscriber {
  readonly email: string;
  readonly name: string;
  /** An IANA time zone. */
  readonly time_zone: string;
  readonly orders: number;
}

/** What became of a subscriber's report: the ID of the email, or why it was rejected. */
export interface Outcome {
  readonly email: string;
  readonly id?: string;
  readonly rejected?: string;
}

const MAX_BATCH_SIZE = 100;
const SEND_HOUR = 7;

/** Schedules each subscriber's report of a day for seven o'clock of the next morning, in their own time zone. */
export async function* scheduleReports(
  postrider: Postrider,
  subscribers: readonly Subscriber[],
  day: string,
): AsyncGenerator<Outcome[]> {
  for (let start = 0; start < subscribers.length; start += MAX_BATCH_SIZE) {
    const batch = subscribers.slice(start, start + MAX_BATCH_SIZE);
    const emails = batch.map((subscriber) => reportFor(subscriber, day));
    // The same batch has the same key: if the response was lost, the next run gets it again and sends nothing twice.
    const idempotency_key = createHash('sha256').update(JSON.stringify(emails)).digest('hex');
    const { data } = await postrider.email.batch(emails, { idempotency_key });
    yield data.map((result, index) => {
      const { email } = batch[index] as Subscriber;
      return 'error' in result ? { email, rejected: result.error.message } : { email, id: result.id };
    });
  }
}

function reportFor({ email, name, time_zone, orders }: Subscriber, day: string) {
  return {
    from: 'Reports <reports@sandbox.test>',
    to: email,
    subject: `Your shop on ${day}`,
    text: `Hello ${name},\n\nyour shop received ${orders} orders on ${day}.\n`,
    scheduled_at: nextMorning(day, time_zone),
    tags: ['nightly-report'],
  };
}

/** Returns seven o'clock of the day after `day` (YYYY-MM-DD) in a time zone, as an ISO 8601 time. */
export function nextMorning(day: string, time_zone: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const wall_ms = Date.UTC(year, month - 1, date + 1, SEND_HOUR);
  // The offset is read twice, because it may change between the first guess and the result.
  const guess_ms = wall_ms - offsetMs(wall_ms, time_zone);
  return new Date(wall_ms - offsetMs(guess_ms, time_zone)).toISOString();
}

function offsetMs(at_ms: number, time_zone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: time_zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(at_ms).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d+):(\d+)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
