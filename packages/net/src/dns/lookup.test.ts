import { type DnsZone, startDnsZone } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDnsLookup, type DnsLookup } from './lookup.ts';

let zone: DnsZone;
let dns: DnsLookup;

beforeAll(async () => {
  zone = await startDnsZone();
  dns = createDnsLookup([zone.address]);
});
afterAll(() => zone.stop());

describe('a DNS lookup', () => {
  it('joins a record’s strings, and follows an alias', async () => {
    zone.set('a.test', 'TXT', [['v=DKIM1; ', 'p=abc'], 'other']);
    zone.set('alias.test', 'CNAME', ['a.test']);

    expect(await dns.lookup('a.test', 'TXT')).toEqual({
      kind: 'found',
      records: ['v=DKIM1; p=abc', 'other'],
      ttl_seconds: 60,
      alias: null,
      source: { resolver: zone.address, authoritative: false },
    });
    expect(await dns.lookup('ALIAS.test', 'TXT')).toEqual({
      kind: 'found',
      records: ['v=DKIM1; p=abc', 'other'],
      ttl_seconds: 60,
      alias: 'a.test',
      source: { resolver: zone.address, authoritative: false },
    });
    expect(await dns.lookup('alias.test', 'CNAME')).toMatchObject({ kind: 'found', records: ['a.test'], alias: null });
  });

  it('returns mail exchangers', async () => {
    zone.set('mx.test', 'MX', [{ priority: 10, exchange: 'in.test' }]);

    expect(await dns.lookup('mx.test', 'MX')).toMatchObject({ kind: 'found', records: ['10 in.test'] });
  });

  it('distinguishes a missing record or name from a missing response', async () => {
    zone.set('broken.test', 'TXT', ['x']);
    zone.fail('broken.test', 'SERVFAIL');
    zone.set('shut.test', 'TXT', ['x']);
    zone.fail('shut.test', 'REFUSED');

    expect(await dns.lookup('a.test', 'MX')).toMatchObject({ kind: 'none', alias: null });
    expect(await dns.lookup('nothing.test', 'TXT')).toMatchObject({ kind: 'none', alias: null });
    expect(await dns.lookup('broken.test', 'TXT')).toMatchObject({ kind: 'error' });
    expect(await dns.lookup('shut.test', 'TXT')).toMatchObject({ kind: 'error' });
  });

  it('gives up on an unresponsive server', async () => {
    zone.set('silent.test', 'TXT', ['x']);
    zone.fail('silent.test', 'timeout');

    expect(await dns.lookup('silent.test', 'TXT')).toEqual({
      kind: 'error',
      message: 'no server in DNS_SERVERS responded in time',
    });
  });

  it('blames the configured servers only if none of them respond', async () => {
    const closed_zone = await startDnsZone();
    await closed_zone.stop();
    zone.set('half.test', 'TXT', ['x']);
    zone.fail('half.test', 'SERVFAIL');

    expect(await createDnsLookup([closed_zone.address]).lookup('half.test', 'TXT')).toEqual({
      kind: 'error',
      message: 'no server in DNS_SERVERS could be reached',
    });
    expect(await createDnsLookup([zone.address, closed_zone.address]).lookup('half.test', 'TXT')).toEqual({
      kind: 'error',
      message: 'the name server returned SERVFAIL',
    });
  });

  it('shows hostile responses as short, truncated text', async () => {
    const hostile = '\u0000\u001b[31m<script>\r\nSet-Cookie: a=b';
    zone.set('hostile.test', 'TXT', [
      hostile,
      'x'.repeat(5000),
      ...Array.from({ length: 60 }, (_, index) => `n${index}`),
    ]);

    const answer = await dns.lookup('hostile.test', 'TXT');

    if (answer.kind !== 'found') throw new Error(JSON.stringify(answer));
    expect(answer.records.length).toBeLessThanOrEqual(20);
    for (const record of answer.records) {
      expect(record.length).toBeLessThanOrEqual(1024);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be gone.
      expect(record).not.toMatch(/[\x00-\x1f\x7f]/);
    }
  });

  it('accepts a response of many kilobytes in full', async () => {
    const records = Array.from({ length: 15 }, (_, index) => `${index} ${'y'.repeat(900)}`);
    zone.set('long.test', 'TXT', records);

    const answer = await dns.lookup('long.test', 'TXT');

    expect(answer).toMatchObject({ kind: 'found', records });
  });
});
