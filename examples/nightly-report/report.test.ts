import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Postrider } from '@postrider/sdk';
import { nextMorning, type Subscriber, scheduleReports } from './report.ts';

test('the next morning is seven o’clock in the time zone', () => {
  assert.equal(nextMorning('2026-07-31', 'Europe/London'), '2026-08-01T06:00:00.000Z');
  assert.equal(nextMorning('2026-12-31', 'America/New_York'), '2027-01-01T12:00:00.000Z');
  assert.equal(nextMorning('2026-07-31', 'Asia/Kolkata'), '2026-08-01T01:30:00.000Z');
  // The clocks change during this night.
  assert.equal(nextMorning('2026-10-24', 'Europe/London'), '2026-10-25T07:00:00.000Z');
});

test('120 reports are scheduled once, although the program runs twice', async () => {
  const postrider = new Postrider();
  const run = crypto.randomUUID();
  const day = new Date().toISOString().slice(0, 10);
  const subscribers: Subscriber[] = Array.from({ length: 120 }, (_, index) => ({
    email: index === 60 ? 'not an address' : `reader-${index}-${run}@example.com`,
    name: `Reader ${index}`,
    time_zone: 'Pacific/Auckland',
    orders: index,
  }));

  const first = await scheduleReports(postrider, subscribers, day);
  const second = await scheduleReports(postrider, subscribers, day);

  assert.equal(first.scheduled.size, 119);
  assert.deepEqual([...first.rejected.keys()], ['not an address']);
  assert.deepEqual(second, first);

  const id = first.scheduled.get(subscribers[0]?.email ?? '') ?? '';
  const email = await postrider.email.get(id);
  assert.equal(email.status, 'scheduled');
  assert.equal(email.scheduled_at, nextMorning(day, 'Pacific/Auckland'));
  assert.equal((await postrider.email.cancel(id)).status, 'canceled');
});
