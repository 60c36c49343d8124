import { describe, expect, it } from 'vitest';
import { headerProblem } from './header-rules.ts';

const reserved = [
  ...['From', 'Sender', 'To', 'Cc', 'Bcc', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'Return-Path', 'Received'],
  ...['DKIM-Signature', 'ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results', 'Authentication-Results'],
  ...['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding', 'Content-Disposition', 'Content-Anything'],
  ...['Resent-From', 'Resent-To', 'Resent-Bcc', 'Resent-Message-ID', 'Delivered-To', 'X-Postrider-Id'],
];

describe('a reserved header', () => {
  it.each(reserved)('%s is rejected in both uppercase and lowercase', (name) => {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(headerProblem(spelling, 'x')?.kind).toBe('reserved');
    }
  });
});

describe('an invalid header', () => {
  it.each(['', 'X Y', 'X:Y', 'X\r\nBcc', 'X\u0000', 'X\u007f', 'Ünicode', 'x'.repeat(77), ' X', 'X\n', 'X\t'])(
    'has the invalid name %j',
    (name) => {
      expect(headerProblem(name, 'x')?.kind).toBe('invalid');
    },
  );

  it.each(['a\rb', 'a\nb', 'a\r\nBcc: x@evil.test', 'a\u0000b', 'a\u007fb', 'a\u0085b', 'a\u001bb', '\ud800'])(
    'has the invalid value %j',
    (value) => {
      expect(headerProblem('X-Tag', value)?.kind).toBe('invalid');
    },
  );

  it.each(['List-Unsubscribe', 'List-Id', 'In-Reply-To', 'REFERENCES'])(
    'is %s with a non-ASCII value (chaos C5)',
    (name) => {
      const problem = headerProblem(name, '<https://good.test/jörg>');

      expect(problem?.kind).toBe('invalid');
      expect(problem?.message).toContain(name);
      expect(problem?.message).toContain('Percent-encode');
      expect(headerProblem(name, '<https://good.test/j%C3%B6rg>')).toBeNull();
    },
  );

  it('is a structured header with a token too long for any line', () => {
    expect(headerProblem('List-Unsubscribe', `<https://good.test/${'u'.repeat(1000)}>`)?.kind).toBe('invalid');
    expect(headerProblem('X-Token', 'u'.repeat(2000))).toBeNull();
  });
});

describe('an allowed header', () => {
  it.each([
    ['List-Unsubscribe', '<mailto:u@good.test>, <https://good.test/u?x=1>'],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['List-Id', 'News <news.good.test>'],
    ['In-Reply-To', '<a@good.test>'],
    ['References', '<a@good.test> <b@good.test>'],
    ['constructor', 'x'],
    ['toString', 'x'],
    ['X-Tag', 'tab\tand übergrößen 🚀'],
    ['X-Empty', ''],
    ['X_Under.score!', 'x'],
    ['x'.repeat(76), 'x'],
  ])('%s', (name, value) => {
    expect(headerProblem(name, value)).toBeNull();
  });
});
