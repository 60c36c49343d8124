import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DnsZone, startDnsZone } from './dns-zone.ts';

const longText = 'v=DKIM1; k=rsa; p='.padEnd(2000, 'A');
let zone: DnsZone;
let resolver: Resolver;
beforeEach(async () => {
  zone = await startDnsZone({
    'example.test': {
      A: ['127.0.0.1'],
      AAAA: ['::1'],
      MX: [{ priority: 10, exchange: 'mx.example.test' }],
      TXT: ['v=spf1 -all', ['one', 'two']],
    },
    'key._domainkey.example.test': { TXT: [longText] },
    'alias.example.test': { CNAME: ['example.test'] },
  });
  resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([zone.address]);
});
afterEach(async () => {
  await zone.stop();
});

describe('the test DNS zone', () => {
  it('serves its configured records', async () => {
    expect(await resolver.resolve4('example.test')).toEqual(['127.0.0.1']);
    expect(await resolver.resolve6('EXAMPLE.test')).toEqual(['::1']);
    expect(await resolver.resolveMx('example.test')).toMatchObject([{ exchange: 'mx.example.test', priority: 10 }]);
    expect(await resolver.resolveTxt('example.test')).toEqual([['v=spf1 -all'], ['one', 'two']]);
    expect(await resolver.resolve4('alias.example.test')).toEqual(['127.0.0.1']);
  });

  it('sends a response too long for UDP over TCP, in strings of 255 octets', async () => {
    const [strings] = await resolver.resolveTxt('key._domainkey.example.test');

    expect(strings?.join('')).toBe(longText);
    expect(strings?.[0]).toHaveLength(255);
  });

  it('distinguishes an unknown name from a name without records of that type', async () => {
    await expect(resolver.resolve4('absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve4('_domainkey.example.test')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolveMx('alias.absent.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('can be changed while it is running', async () => {
    zone.set('new.test', 'TXT', ['hello']);
    expect(await resolver.resolveTxt('new.test')).toEqual([['hello']]);

    zone.remove('new.test');
    await expect(resolver.resolveTxt('new.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(zone.questions).toEqual(['TXT new.test', 'TXT new.test']);
  });

  it('fails as scripted, and then recovers', async () => {
    zone.fail('example.test', 'SERVFAIL');
    await expect(resolver.resolve4('example.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    zone.fail('example.test', 'timeout');
    await expect(resolver.resolve4('example.test')).rejects.toMatchObject({ code: 'ETIMEOUT' });

    zone.fail('example.test', null);
    expect(await resolver.resolve4('example.test')).toEqual(['127.0.0.1']);
  });
});
