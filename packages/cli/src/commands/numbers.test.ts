import { expect, it } from 'vitest';
import { statLines } from './numbers.ts';

const at = '2031-05-10T12:00:00.000Z';
const frame = { object: 'stats', bucket: 'hour', since: at, until: at, complete_until: at } as const;
const one = (metric: 'accepted' | 'accept_to_delivered_p95', key: string | null) => ({
  metric,
  key,
  points: [{ at, value: 3 }],
});
const head = (lines: string) => lines.split('\n')[0]?.trim().split(/ {2,}/);

it('column headings show a missing dimension key, and durations include their unit', () => {
  const single = [one('accepted', null), one('accept_to_delivered_p95', null)];
  const providers = [one('accepted', 'google'), one('accepted', null)];

  expect(head(statLines({ ...frame, group_by: 'none', series: single }))).toEqual([
    'accepted',
    'accept_to_delivered_p95 (s)',
  ]);
  expect(head(statLines({ ...frame, group_by: 'provider', series: single }))).toEqual([
    'accepted (none)',
    'accept_to_delivered_p95 (s) (none)',
  ]);
  expect(head(statLines({ ...frame, group_by: 'provider', series: providers }))).toEqual([
    'accepted google',
    'accepted (others)',
  ]);
});

it('an empty result is reported', () => {
  expect(statLines({ ...frame, group_by: 'provider', series: [] })).toBe(
    `No data for this period.\nData is complete until ${at}.`,
  );
});
