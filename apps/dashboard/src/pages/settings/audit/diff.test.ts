import { describe, expect, it } from 'vitest';
import { readDiff, summaryOf } from './diff.ts';
import { words } from './strings.ts';

const { none, yes } = words.diff;

describe('an audit diff', () => {
  it('separates changes from details, and keeps unknown shapes', () => {
    const diff = {
      name: 'acme.test',
      status: ['pending', 'verified'],
      role: { from: 'viewer', to: 'admin' },
      expires_at: ['2026-11-23T08:30:01.000Z', null],
      nested: [{ deep: {} }],
    };

    expect(readDiff(diff, true)).toEqual({
      changes: [
        { field: 'Status', before: 'pending', after: 'verified' },
        { field: 'Role', before: 'viewer', after: 'admin' },
        { field: words.fields.expires_at, before: '2026-11-23 08:30:01 UTC', after: none },
      ],
      details: [{ field: 'Name', value: 'acme.test' }],
      others: { nested: [{ deep: {} }] },
    });
  });

  it('reads two names as one value where a field is a list', () => {
    expect(readDiff({ scopes: ['email:send', 'domains:read'], exact: true, domains: [] }, true).details).toEqual([
      { field: words.fields.scopes, value: 'email:send, domains:read' },
      { field: 'Exact', value: yes },
      { field: words.fields.domains, value: none },
    ]);
    expect(readDiff({ scopes: [['email:send'], ['email:send', 'domains:read']] }, true).changes).toEqual([
      { field: words.fields.scopes, before: 'email:send', after: 'email:send, domains:read' },
    ]);
  });

  it('is summarized in one short sentence', () => {
    const long = (letter: string) => [letter.repeat(60), letter.repeat(61)];

    expect(summaryOf({ name: 'acme.test', status: ['pending', 'verified'] }, true)).toBe(
      words.diff.changed('Status', 'pending', 'verified'),
    );
    expect(summaryOf({ one: long('a'), two: long('b') }, true)).toBe(words.diff.fields('One, Two'));
    expect(summaryOf({ name: 'Later', last4: 'abcd' }, true)).toBe(words.diff.stated('Name', 'Later'));
    expect(summaryOf(null, true)).toBe(null);
  });
});
