import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDomain, parseMailbox } from './address.ts';
import { formatMailbox } from './format-mailbox.ts';

function emailOf(text: string): string {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return parsed.mailbox.email;
}

describe('an accepted address', () => {
  it.each([
    ['a@b.c', null, 'a@b.c'],
    ['A@GOOD.TEST', null, 'A@good.test'],
    ['a@good.test.', null, 'a@good.test'],
    ['first.last+tag@sub.good.test', null, 'first.last+tag@sub.good.test'],
    ["!#$%&'*+/=?^_`{|}~-@good.test", null, "!#$%&'*+/=?^_`{|}~-@good.test"],
    ['<a@good.test>', null, 'a@good.test'],
    ['Jane <a@good.test>', 'Jane', 'a@good.test'],
    ['Jane<a@good.test>', 'Jane', 'a@good.test'],
    ['J. R. Doe  <a@good.test>', 'J. R. Doe', 'a@good.test'],
    ['Zoë Ångström <z@good.test>', 'Zoë Ångström', 'z@good.test'],
    ['"Doe, Jane" <a@good.test>', 'Doe, Jane', 'a@good.test'],
    ['"a \\"b\\" \\\\ <c@d.test>" <a@good.test>', 'a "b" \\ <c@d.test>', 'a@good.test'],
    ['"" <a@good.test>', null, 'a@good.test'],
    ['a@bücher.test', null, 'a@xn--bcher-kva.test'],
    ['a@XN--BCHER-KVA.test', null, 'a@xn--bcher-kva.test'],
    ['a@faß.test', null, 'a@xn--fa-hia.test'],
    ['a@例え。テスト', null, 'a@xn--r8jz45g.xn--zckzah'],
    [`${'l'.repeat(64)}@good.test`, null, `${'l'.repeat(64)}@good.test`],
    [`a@${'d'.repeat(63)}.test`, null, `a@${'d'.repeat(63)}.test`],
  ])('%s', (text, name, email) => {
    const parsed = parseMailbox(text);

    expect(parsed).toMatchObject({ ok: true, mailbox: { name, email } });
    if (parsed.ok) expect(`${parsed.mailbox.local}@${parsed.mailbox.domain}`).toBe(email);
  });

  it('keeps its canonical form when parsed again', () => {
    const canonical = emailOf('Ann@BÜCHER.test.');

    expect(emailOf(canonical)).toBe(canonical);
  });
});

describe('a mailbox', () => {
  it('survives a round trip through text, whatever its display name', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a "\\\\,.<>@()é👋\u00a0'), maxLength: 320 }), (text) => {
        const mailbox = { name: text.trim() || null, local: 'l', domain: 'good.test', email: 'l@good.test' };

        expect(parseMailbox(formatMailbox(mailbox))).toEqual({ ok: true, mailbox });
      }),
    );
    const longest = { name: '"'.repeat(320), local: 'l'.repeat(64), domain: `${'d.'.repeat(125)}te`, email: '' };
    expect(parseMailbox(formatMailbox({ ...longest, email: `${longest.local}@${longest.domain}` })).ok).toBe(true);
  });
});

describe('a rejected address', () => {
  const longDomain = `${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(61)}.t`;

  it.each([
    'a@good.test, b@evil.test',
    'a@good.test; b@evil.test',
    'a@good.test b@evil.test',
    'a@good.test,',
    'G: a@good.test, b@evil.test;',
    'G:;',
    'x',
    '',
    ' ',
    'a@',
    '@b',
    '@b.test',
    'a b@c.test',
    'a@b@c',
    'a@evil.test@good.test',
    `${'l'.repeat(65)}@good.test`,
    `a@${'d'.repeat(64)}.test`,
    `a@${longDomain}`,
    'a@good.test\r\nBcc: b@evil.test',
    'a@good.test\n',
    'a\u0000@good.test',
    'a@good.test\u0000',
    'Jane\r\n <a@good.test>',
    'Jane\u0000 <a@good.test>',
    ' a@good.test',
    'a@good.test ',
    'Jane a@good.test',
    'Jane \ud800 <a@good.test>',
    'a@[127.0.0.1]',
    'a@[IPv6:::1]',
    'a@127.0.0.1',
    'a@１２７.0.0.1',
    'a@good.0x1',
    '<@r.test:a@b.test>',
    'a@localhost',
    'a@test.',
    'a@good.test..',
    'a@.good.test',
    'a@-good.test',
    'a@good-.test',
    'a@go_od.test',
    'a@good%2etest',
    'a@xn--a.test',
    '"a@evil.test x"@good.test',
    '"a"@good.test',
    '.a@good.test',
    'a.@good.test',
    'a..b@good.test',
    'a(comment)@good.test',
    'a@good.test (comment)',
    'Jane (comment) <a@good.test>',
    'jörg@good.test',
    'Doe, Jane <a@good.test>',
    'a@evil.test <b@good.test>',
    'Jane <a@good.test',
    'Jane a@good.test>',
    'Jane <a@good.test> x',
    'Jane <a@good.test> <b@evil.test>',
    'Jane < a@good.test >',
    '"Jane <a@good.test>',
    '"Ja"ne" <a@good.test>',
    `${'n'.repeat(321)} <a@good.test>`,
    `${'n'.repeat(1000)} <a@good.test>`,
  ])('%j', (text) => {
    const parsed = parseMailbox(text);

    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.message).toMatch(/^.{10,}\.$/s);
  });

  it('is reported as having an invalid local part, domain or overall form', () => {
    const message = (text: string) => {
      const parsed = parseMailbox(text);
      return parsed.ok ? '' : parsed.message;
    };

    expect(message('jörg@good.test'), 'real R23').toContain('are not supported');
    expect(message(' a@good.test'), 'newcomer N11').toContain('the space before or after');
    expect(message('Jane Doe a@good.test'), 'newcomer N11').toContain('angle brackets');
    expect(message('a@localhost')).toContain('full domain name');
    expect(message('a@[127.0.0.1]')).toContain('literal');
    expect(message('a@good.test\r\nX: y')).toContain('line breaks');
    expect(message('Doe, Jane <a@good.test>')).toContain('double quotes');
  });

  it('is rejected in linear time, however repetitive it is', () => {
    for (const piece of ['a.', '"\\', '<', 'a@', ' ', '(']) {
      expect(parseMailbox(piece.repeat(499)).ok).toBe(false);
    }
    expect(parseMailbox('a'.repeat(10_000_000)).ok).toBe(false);
  });
});

describe('canonicalDomain', () => {
  it('returns the same spelling for every spelling of a domain', () => {
    const spellings = ['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.EXAMPLE', 'bu\u0308cher.example'];

    expect(new Set(spellings.map(canonicalDomain))).toEqual(new Set(['xn--bcher-kva.example']));
  });

  it.each(['', '.', 'example', 'a..b', 'a b.test', '1.2.3.4', 'a/b.test', 'a@b.test', 'a:1.test', '[::1]'])(
    'returns null for %j',
    (text) => {
      expect(canonicalDomain(text)).toBeNull();
    },
  );
});
