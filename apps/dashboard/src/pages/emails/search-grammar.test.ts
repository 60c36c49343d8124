import { describe, expect, it } from 'vitest';
import { parseSearch } from './search-grammar.ts';

describe('a search', () => {
  it.each([
    ['ada@example.com', { to: 'ada@example.com' }],
    ['Mail.Example.com', { to_domain: 'mail.example.com' }],
    ['transport:default bounced', { transport: 'default', status: 'bounced' }],
    ['bounced', { status: 'bounced' }],
    ['tag:invoice example.com', { tag: ['invoice'], to_domain: 'example.com' }],
  ])('understands %s', (text, filter) => {
    expect(parseSearch(text)).toEqual({ filter, id: null, unknown: [] });
  });

  it('names the words that it does not understand', () => {
    expect(parseSearch('ja 12.5 status:')).toMatchObject({ filter: {}, unknown: ['ja', '12.5', 'status:'] });
  });
});
