import { describe, expect, it } from 'vitest';
import { repaired } from './correction.ts';

const invalid = (pointer: string) => ({ pointer, reason: 'invalid_tag', message: 'A tag has no spaces.' }) as const;
const tagged = (...tags: readonly string[]) => ({ subject: 'Hello', tags });

describe('a corrected request', () => {
  it('omits each invalid list entry, and no other entry', () => {
    const body = tagged('one', 'a b', 'two', 'c d', 'three');

    const fixed = repaired(body, [invalid('/tags/1'), invalid('/tags/3')], ['shop.test']);

    expect(fixed).toEqual(tagged('one', 'two', 'three'));
  });

  it('omits an entry with two errors only once', () => {
    const fixed = repaired(tagged('a b', 'one'), [invalid('/tags/0'), invalid('/tags/0')], ['shop.test']);

    expect(fixed).toEqual(tagged('one'));
  });

  it('includes abbreviated entries when locating an invalid one', () => {
    const fixed = repaired(tagged('[300 characters]', 'a b', 'one'), [invalid('/tags/1')], ['shop.test']);

    expect(fixed).toEqual(tagged('one'));
  });

  it('subscribes to one event in place of unknown ones, rather than to all events', () => {
    const unknown = (pointer: string) => ({ pointer, reason: 'unknown_event', message: 'No such event.' }) as const;
    const body = { url: 'https://shop.test/hooks', events: ['nope', 'neither'] };

    const fixed = { url: 'https://shop.test/hooks', events: ['email.delivered'] };
    expect(repaired(body, [unknown('/events/0'), unknown('/events/1')], ['shop.test'])).toEqual(fixed);
    expect(repaired(body, [unknown('/events')], ['shop.test'])).toEqual(fixed);
  });

  it('has an example in place of an invalid address, next to a removed entry', () => {
    const body = { to: ['ada@example.com', 'no-address'], tags: ['a b'] };
    const address = { pointer: '/to/1', reason: 'invalid_email', message: 'no address' } as const;

    expect(repaired(body, [invalid('/tags/0'), address], ['shop.test'])).toEqual({
      to: ['ada@example.com', 'ada@example.com'],
      tags: [],
    });
  });

  it("gets a permitted sender, even if another error hid the original sender's missing permission", () => {
    const from = (value: string) =>
      repaired({ from: value, tags: ['a b'] }, [invalid('/tags/0')], ['shop.test', 'b.test']);

    expect(from('…@nowhere.test').from).toBe('hello@shop.test');
    expect(from('Shop <…@nowhere.test>').from).toBe('hello@shop.test');
    expect(from('Shop <…@B.test>').from).toBe('Shop <hello@B.test>');
  });
});
