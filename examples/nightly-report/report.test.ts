import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Postrider } from '@postrider/sdk';
import { Progress } from './progress.ts';
import { nextMorning, type Outcome, type Subscriber, scheduleReports } from './report.ts';

const postrider = new Postrider();
const today = new Date().toISOString().slice(0, 10);

/** Returns subscribers that no other run has. */
function subscribersOf(count: number): Subscriber[] {
  const run = crypto.randomUUID();
  return Array.from({ length: count }, (_, index) => ({
    email: `reader-${index}-${run}@example.com`,
    name: `Reader ${index}`,
    time_zone: 'Pacific/Auckland',
    orders: index,
  }));
}

async function schedule(subscribers: readonly Subscriber[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for await (const batch of scheduleReports(postrider, subscribers, today)) outcomes.push(...batch);
  return outcomes;
}

test('the next morning is seven o’clock in the time zone', () => {
  assert.equal(nextMorning('2026-07-31', 'Europe/London'), '2026-08-01T06:00:00.000Z');
  assert.equal(nextMorning('2026-12-31', 'America/New_York'), '2027-01-01T12:00:00.000Z');
  assert.equal(nextMorning('2026-07-31', 'Asia/Kolkata'), '2026-08-01T01:30:00.000Z');
  // The clocks change during this night.
  assert.equal(nextMorning('2026-10-24', 'Europe/London'), '2026-10-25T07:00:00.000Z');
});

test('120 reports are scheduled once, although the response was lost and they are sent again', async () => {
  const subscribers = subscribersOf(120).map((one, index) =>
    index === 60 ? { ...one, email: 'not an address' } : one,
  );

  const first = await schedule(subscribers);
  const second = await schedule(subscribers);

  assert.equal(first.filter(({ id }) => id !== undefined).length, 119);
  assert.deepEqual(
    first.filter(({ rejected }) => rejected !== undefined).map(({ email }) => email),
    ['not an address'],
  );
  assert.deepEqual(second, first);

  const id = first[0]?.id ?? '';
  const email = await postrider.email.get(id);
  assert.equal(email.status, 'scheduled');
  assert.equal(email.scheduled_at, nextMorning(today, 'Pacific/Auckland'));
  assert.equal((await postrider.email.cancel(id)).status, 'canceled');
});

test('a second run schedules only the subscribers that the first one did not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightly-report-'));
  try {
    const [first, second, third] = subscribersOf(3);
    assert.ok(first && second && third);
    new Progress(folder, today).record(await schedule([first, second]));

    const progress = new Progress(folder, today);
    const missing = [third, first, second].filter(({ email }) => !progress.has(email));

    assert.deepEqual(missing, [third]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
