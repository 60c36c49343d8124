import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureSignature, replyKind } from './signature.ts';

const signatureOf = (text: string) => failureSignature(text).signature;

describe('a failure’s signature', () => {
  it.each([
    [
      '550 5.1.1 <ada@example.net>: Recipient address rejected: User unknown',
      '550 5.1.1 <bob.b+tag@example.org>: Recipient address rejected: User unknown',
    ],
    [
      '421 4.7.0 Try again later, closing connection. a640c23a62f3a-b2f1bsi12 - gsmtp',
      '421 4.7.0 Try again later, closing connection. 5b1f17b1804b1-43b2si77 - gsmtp',
    ],
    ['451 4.7.1 Greylisted, come back in 300 seconds', '451 4.7.1 Greylisted, come back in 57 seconds'],
    [
      '554 5.7.1 Service unavailable; Client host [192.0.2.7] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/192.0.2.7',
      '554 5.7.1 Service unavailable; Client host [198.51.100.99] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/198.51.100.99',
    ],
    ['no connection in 5000 ms', 'no connection in 30000 ms'],
    [
      'mx1.example.net [2001:db8::7]:25: connect ECONNREFUSED 2001:db8::7:25',
      'mx2.example.org [2001:db8:1::9]:25: connect ECONNREFUSED 2001:db8:1::9:25',
    ],
    [
      '550 5.2.2 Mailbox full, request 0b2c3f9e-16c7-4d3a-9f5e-0a1b2c3d4e5f',
      '550 5.2.2 Mailbox full, request 6f2c3f9e-26c7-4d3a-8f5e-ea1b2c3d4e5a',
    ],
  ])('is the same for %s', (one, other) => {
    expect(signatureOf(one)).toBe(signatureOf(other));
    expect(failureSignature(one).id).toBe(failureSignature(other).id);
  });

  it.each([
    ['550 5.1.1 User unknown', '550 5.7.1 User unknown'],
    ['550 5.1.1 User unknown', '450 5.1.1 User unknown'],
    ['550 5.7.1 Message rejected [S3140]', '550 5.7.1 Message rejected [S3150]'],
    ['421 Service not available', '421 Too many connections'],
  ])('distinguishes %s from %s', (one, other) => {
    expect(signatureOf(one)).not.toBe(signatureOf(other));
  });

  it('contains reply codes, but no addresses, hosts or other numbers', () => {
    const signature = failureSignature(
      '550-5.1.1 <ada@example.net> unknown at mx7.example.net, see https://example.net/x?y=1 (9 of 10)',
    );

    expect(signature).toMatchObject({ code: 550, enhanced_code: '5.1.1' });
    expect(signature.signature).toBe('550 5.1.1 <address> unknown at <host>, see <url> (# of #)');
  });

  it('differs for the same text in a different kind of failure', () => {
    expect(failureSignature('500', 'webhook').id).not.toBe(failureSignature('500', 'smtp').id);
  });

  it('does not depend on the addresses, numbers, times or ids in a reply', () => {
    const part = fc.oneof(
      fc
        .emailAddress()
        .filter((address) => /^[\w.+-]+@/.test(address))
        .map((address) => ({ kind: 'address', text: address })),
      fc.nat().map((number) => ({ kind: 'number', text: String(number) })),
      fc.ipV4().map((ip) => ({ kind: 'ip', text: ip })),
      fc.uuid().map((id) => ({ kind: 'id', text: id })),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), fc.array(part, { minLength: 4, maxLength: 40 }), (one, spare) => {
        const other = one.map(({ kind, text }) => spare.find((candidate) => candidate.kind === kind)?.text ?? text);
        const reply = (parts: readonly string[]) =>
          `451 4.3.0 Not now: ${parts.map((text) => `value ${text} given`).join(', ')}`;
        expect(signatureOf(reply(other))).toBe(signatureOf(reply(one.map(({ text }) => text))));
      }),
    );
  });

  it('is idempotent for any text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2000, unit: 'binary' }), (text) => {
        const { signature, id } = failureSignature(text);
        expect(failureSignature(text)).toEqual({ ...failureSignature(text), signature, id });
        expect(id).toMatch(/^[0-9a-f]{16}$/);
        expect(signature.length).toBeLessThan(8000);
      }),
    );
  });

  it('is computed in linear time for hostile replies', () => {
    // Quadratic time would exceed the test timeout.
    for (const unit of ['a.', '1:', '@', '<', 'a-', '1.1.1.', 'http://', '[', '0f:', 'a1'])
      expect(failureSignature(unit.repeat(500_000)).id).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('the failure kind of a reply', () => {
  it('is dns if no server was found, and smtp if a server replied', () => {
    expect(replyKind('nowhere.test does not exist: DNS has no such name.')).toBe('dns');
    expect(replyKind('DNS lookup failed for slow.test: queryMx ETIMEOUT slow.test')).toBe('dns');
    expect(replyKind('550 5.1.2 bad.test does not exist: DNS has no such name.')).toBe('dns');
    expect(replyKind('550 5.1.1 No such user')).toBe('smtp');
    expect(replyKind('no connection in 5000 ms')).toBe('smtp');
  });
});
