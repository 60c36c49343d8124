import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInput } from '../operation/parse-input.ts';
import { readTimestamp, timestampField } from './timestamp-field.ts';

describe('readTimestamp', () => {
  it.each([
    ['2030-01-31T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00.5Z', '2030-01-31T09:00:00.500Z'],
    ['2030-01-31T09:00:00.123456789Z', '2030-01-31T09:00:00.123Z'],
    ['2030-01-31T09:00:00+02:00', '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00+14:00', '2030-01-30T19:00:00.000Z'],
    ['2030-01-31T09:00:00-12:45', '2030-01-31T21:45:00.000Z'],
    ['2030-01-31T09:00:00-00:00', '2030-01-31T09:00:00.000Z'],
    ['2032-02-29T00:00:00Z', '2032-02-29T00:00:00.000Z'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('reads %s', (text, instant) => {
    expect(readTimestamp(text)?.toISOString()).toBe(instant);
  });

  it.each([
    '',
    '0',
    'tomorrow',
    '1900000000',
    '1900000000000',
    '2030-01-31',
    '2030-01-31T09:00:00',
    '2030-01-31 09:00:00Z',
    '2030-01-31t09:00:00z',
    '2030-01-31T09Z',
    '2030-01-31T9:00:00Z',
    '2030-1-31T09:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-00-01T00:00:00Z',
    '2030-01-00T00:00:00Z',
    '2030-02-29T00:00:00Z',
    '2030-04-31T00:00:00Z',
    '2030-01-31T24:00:00Z',
    '2030-01-31T09:60:00Z',
    '2030-01-31T23:59:60Z',
    '2030-01-31T09:00:00,5Z',
    '2030-01-31T09:00:00.Z',
    '2030-01-31T09:00:00.1234567890Z',
    '2030-01-31T09:00:00+0200',
    '2030-01-31T09:00:00+02',
    '2030-01-31T09:00:00+14:01',
    '2030-01-31T09:00:00+15:00',
    '2030-01-31T09:00:00+02:60',
    '2030-01-31T09:00:00 +02:00',
    '2030-W05-4T09:00:00Z',
    '2030-031T09:00:00Z',
    '1969-12-31T23:59:59Z',
    '0099-01-01T00:00:00Z',
    '+275760-09-13T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '٢٠٣٠-01-31T09:00:00Z',
    '2030-01-31T09:00:00Z\n',
    ' 2030-01-31T09:00:00Z',
    '1 hour',
    'infinity',
  ])('refuses %j', (text) => {
    expect(readTimestamp(text)).toBeNull();
  });

  it('reads back every instant that it can be written as, at any offset', () => {
    const instant = fc.date({ min: new Date(86_400_000), max: new Date('9999-12-30'), noInvalidDate: true });
    fc.assert(
      fc.property(instant, fc.integer({ min: -14 * 60, max: 14 * 60 }), (date, offset_minutes) => {
        const local = new Date(date.getTime() + offset_minutes * 60_000).toISOString().slice(0, -1);
        const two = (value: number) => String(value).padStart(2, '0');
        const away = Math.abs(offset_minutes);
        const zone = `${offset_minutes < 0 ? '-' : '+'}${two(Math.floor(away / 60))}:${two(away % 60)}`;

        expect(readTimestamp(local + zone)).toEqual(date);
        expect(readTimestamp(date.toISOString())).toEqual(date);
      }),
    );
  });
});

describe('timestampField', () => {
  it('names the field and shows the form', () => {
    const parsed = parseInput(timestampField('expires_at'), 'soon');

    expect(parsed).toMatchObject({ ok: false, error: { reason: 'invalid_timestamp' } });
    expect(parsed.ok || parsed.error.message).toMatch(/^expires_at must be ISO 8601 with Z or an offset/);
  });
});
