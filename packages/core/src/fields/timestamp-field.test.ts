import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInput } from '../operation/parse-input.ts';
import { readTimestamp, timestampField } from './timestamp-field.ts';

const instantOf = (text: string) => {
  const read = readTimestamp(text);
  return read.ok ? read.date.toISOString() : read.message;
};

describe('readTimestamp', () => {
  it.each([
    // Calendar dates, extended and basic.
    ['2030-01-31T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['20300131T090000Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00Z', '2030-01-31T09:00:00.000Z'],
    ['20300131T0900Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09Z', '2030-01-31T09:00:00.000Z'],
    ['20300131T09Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T00:00:00Z', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T23:59:59Z', '2030-01-31T23:59:59.000Z'],
    ['2032-02-29T00:00:00Z', '2032-02-29T00:00:00.000Z'],
    // Week dates.
    ['2030-W05-4T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030W054T090000Z', '2030-01-31T09:00:00.000Z'],
    ['2026-W01-1T00:00:00Z', '2025-12-29T00:00:00.000Z'],
    ['2026-W53-7T00:00:00Z', '2027-01-03T00:00:00.000Z'],
    ['2027-W01-1T00:00Z', '2027-01-04T00:00:00.000Z'],
    // Ordinal dates.
    ['2030-031T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030031T090000Z', '2030-01-31T09:00:00.000Z'],
    ['2032-366T00:00:00Z', '2032-12-31T00:00:00.000Z'],
    // Fractions of the last given part, after a point or a comma.
    ['2030-01-31T09:00:00.5Z', '2030-01-31T09:00:00.500Z'],
    ['2030-01-31T09:00:00,5Z', '2030-01-31T09:00:00.500Z'],
    ['2030-01-31T09:00:00.123456789Z', '2030-01-31T09:00:00.123Z'],
    ['2030-01-31T09:00:00.9999Z', '2030-01-31T09:00:00.999Z'],
    ['20300131T090000,25Z', '2030-01-31T09:00:00.250Z'],
    ['2030-01-31T09:30.5Z', '2030-01-31T09:30:30.000Z'],
    ['2030-01-31T09,5Z', '2030-01-31T09:30:00.000Z'],
    ['20300131T0930.25Z', '2030-01-31T09:30:15.000Z'],
    // Offsets.
    ['2030-01-31T09:00:00+02:00', '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00+0200', '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00+02', '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00-12:45', '2030-01-31T21:45:00.000Z'],
    ['2030-01-31T09:00:00-1245', '2030-01-31T21:45:00.000Z'],
    ['20300131T090000+0530', '2030-01-31T03:30:00.000Z'],
    ['20300131T09+01', '2030-01-31T08:00:00.000Z'],
    ['2030-01-31T09:00:00+14:00', '2030-01-30T19:00:00.000Z'],
    ['2030-01-31T09:00:00-14', '2030-01-31T23:00:00.000Z'],
    ['2030-01-31T09:00:00-00:00', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00.5+01:00', '2030-01-31T08:00:00.500Z'],
    ['2030-W05-4T09:00+01', '2030-01-31T08:00:00.000Z'],
    // Timestamps without an offset are in UTC.
    ['2030-01-31T09:00:00', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00.25', '2030-01-31T09:00:00.250Z'],
    ['2030-01-31T09:00', '2030-01-31T09:00:00.000Z'],
    ['20300131T090000', '2030-01-31T09:00:00.000Z'],
    ['2030-031T09', '2030-01-31T09:00:00.000Z'],
    // The limits of the supported range.
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59Z', '1969-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('reads %s', (text, instant) => {
    expect(instantOf(text)).toBe(instant);
  });

  it.each([
    '',
    '0',
    'tomorrow',
    '1900000000',
    '1900000000000',
    '2030',
    '2030-01',
    '2030-W05',
    '2030-W05T09:00Z',
    '2030-01T09:00Z',
    '2030-01-31 09:00:00Z',
    '2030-01-31t09:00:00z',
    '2030-01-31T',
    '2030-01-31TZ',
    '2030-01-31T9:00:00Z',
    '2030-1-31T09:00:00Z',
    '2030-01-31T0900Z',
    '20300131T09:00Z',
    '2030-0131T09:00Z',
    '2030-W054T09:00Z',
    '2030-W05-0T09:00Z',
    '2030-W05-8T09:00Z',
    '2030-01-31T09:00:00.Z',
    '2030-01-31T09:00:00.1234567890123Z',
    '2030-01-31T09:00:00 +02:00',
    '2030-01-31T09:00:00+2',
    '2030-01-31T09:00:00+02:0',
    '2030-01-31T09:00:00UTC',
    '2030-01-31T09:00:00[Europe/Berlin]',
    '+275760-09-13T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '٢٠٣٠-01-31T09:00:00Z',
    '1 hour',
    'infinity',
  ])('rejects %j, which is not in the expected format', (text) => {
    expect(instantOf(text)).toMatch(/^must be ISO 8601, as YYYY/);
  });

  it.each([
    ['2030-01-31', 'has no time of day'],
    ['20300131', 'has no time of day'],
    ['2030-W05-4', 'has no time of day'],
    ['2030-031', 'has no time of day'],
    [' 2030-01-31T09:00:00Z', 'has a space before or after it'],
    ['2030-01-31T09:00:00Z\n', 'has a space before or after it'],
    ['2030-13-01T00:00:00Z', 'names a day that does not exist'],
    ['2030-00-01T00:00:00Z', 'names a day that does not exist'],
    ['2030-01-00T00:00:00Z', 'names a day that does not exist'],
    ['2030-02-29T00:00:00Z', 'names a day that does not exist'],
    ['2030-04-31T00:00:00Z', 'names a day that does not exist'],
    ['2030-366T00:00:00Z', 'names a day that does not exist'],
    ['2030-000T00:00:00Z', 'names a day that does not exist'],
    ['2030-W00-1T00:00:00Z', 'names a day that does not exist'],
    ['2030-W53-1T00:00:00Z', 'names a day that does not exist'],
    ['2030-01-31T24:00:00Z', 'has an hour above 23'],
    ['20300131T2400Z', 'has an hour above 23'],
    ['2030-01-31T09:60:00Z', 'has a minute above 59'],
    ['2030-01-31T23:59:60Z', 'has a second above 59'],
    ['2030-01-31T09:00:00+14:01', 'has an offset that no place has'],
    ['2030-01-31T09:00:00+15', 'has an offset that no place has'],
    ['2030-01-31T09:00:00+02:60', 'has an offset that no place has'],
    ['0000-06-01T00:00:00Z', 'must lie in the years 0001 to 9999'],
    ['0001-01-01T00:00:00+01:00', 'must lie in the years 0001 to 9999'],
    ['9999-12-31T23:59:59-01:00', 'must lie in the years 0001 to 9999'],
  ])('rejects %j because it %s', (text, reason) => {
    expect(instantOf(text)).toContain(reason);
  });

  it('reads every instant back as written, at any offset', () => {
    const instant = fc.date({ min: new Date(86_400_000), max: new Date('9999-12-30'), noInvalidDate: true });
    fc.assert(
      fc.property(instant, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset_minutes) => {
        const local = new Date(date.getTime() + offset_minutes * 60_000).toISOString().slice(0, -1);
        const two = (value: number) => String(value).padStart(2, '0');
        const magnitude = Math.abs(offset_minutes);
        const zone = `${offset_minutes < 0 ? '-' : '+'}${two(Math.floor(magnitude / 60))}:${two(magnitude % 60)}`;

        expect(readTimestamp(local + zone)).toEqual({ ok: true, date });
        expect(readTimestamp(local.replaceAll(/[-:]/g, '') + zone.replace(':', ''))).toEqual({ ok: true, date });
        expect(readTimestamp(date.toISOString())).toEqual({ ok: true, date });
      }),
    );
  });
});

describe('timestampField', () => {
  it('identifies the field and shows the expected format', () => {
    const parsed = parseInput(timestampField('expires_at'), 'soon');

    expect(parsed).toMatchObject({ ok: false, error: { reason: 'invalid_timestamp' } });
    expect(parsed.ok || parsed.error.message).toMatch(/^expires_at must be ISO 8601, as YYYY/);
  });
});
