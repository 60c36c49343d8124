import { type Delegations, type DnsZone, startDnsZone, type Zone } from '@postrider/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../address-guard.ts';
import { createDnsLookup, type DnsLookup } from './lookup.ts';
import { readServer } from './message.ts';

const open: DnsZone[] = [];
afterEach(async () => {
  for (const zone of open.splice(0)) await zone.stop();
});

/** Starts a server with its own address on the one port that all servers of a test share. */
async function server(host: string, zone: Zone, delegations: Delegations = {}): Promise<DnsZone> {
  const port = open[0] ? readServer(open[0].address).port : 0;
  const started = await startDnsZone(zone, { host, port, delegations });
  open.push(started);
  return started;
}

/** Creates a lookup from a root server, next to a resolver with its own cache. */
function lookupFrom(root: DnsZone, resolver: DnsZone, networks = ['127.0.0.0/8']): DnsLookup {
  const first = readServer(root.address);
  return createDnsLookup([resolver.address], {
    roots: [first],
    guard: createAddressGuard(networks),
    port: first.port,
  });
}

const at = (address: string) => [{ ns: 'ns.servers.test', address }];

describe('an authoritative lookup', () => {
  it('starts at the root, and caches a zone’s delegation', async () => {
    const root = await server('127.0.0.1', {}, { test: at('127.0.0.2') });
    const top = await server('127.0.0.2', {}, { 'good.test': at('127.0.0.3') });
    const good = await server('127.0.0.3', {
      'a.good.test': { TXT: ['one'] },
      'b.good.test': { TXT: ['x'.repeat(3000)] },
    });
    const dns = lookupFrom(root, await startResolver());

    expect(await dns.lookup('A.good.test', 'TXT')).toMatchObject({
      kind: 'found',
      records: ['one'],
      source: { resolver: expect.stringMatching(/^127\.0\.0\.3\b/), authoritative: true },
    });
    expect(await dns.lookup('none.good.test', 'TXT')).toMatchObject({ kind: 'none', alias: null });
    expect(await dns.lookup('b.good.test', 'TXT')).toMatchObject({ kind: 'found', records: ['x'.repeat(1024)] });

    expect(root.questions).toEqual(['TXT a.good.test']);
    expect(top.questions).toEqual(['TXT a.good.test']);
    expect(good.questions).toEqual(['TXT a.good.test', 'TXT none.good.test', 'TXT b.good.test', 'TXT b.good.test']);
  });

  it('detects a change immediately, before caches reflect it', async () => {
    const root = await server('127.0.0.1', {}, { 'good.test': at('127.0.0.2') });
    const good = await server('127.0.0.2', { 'good.test': { TXT: ['old'] } });
    const resolver = await startResolver({ 'good.test': { TXT: ['old'] } });
    const dns = lookupFrom(root, resolver);
    good.set('good.test', 'TXT', ['new']);

    expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['new'] });
    expect(await dns.cached('good.test', 'TXT')).toMatchObject({ records: ['old'] });
  });

  it('follows an alias into another zone', async () => {
    const root = await server('127.0.0.1', {}, { 'good.test': at('127.0.0.2'), 'keys.test': at('127.0.0.3') });
    await server('127.0.0.2', { 'k.good.test': { CNAME: ['k.keys.test'] }, 'l.good.test': { CNAME: ['l.good.test'] } });
    await server('127.0.0.3', { 'k.keys.test': { TXT: ['key'] } });
    const dns = lookupFrom(root, await startResolver());

    expect(await dns.lookup('k.good.test', 'TXT')).toMatchObject({ records: ['key'], alias: 'k.keys.test' });
    expect((await dns.lookup('l.good.test', 'TXT')).kind).not.toBe('found');
  });

  it('finds a server even if the parent does not provide its address', async () => {
    const root = await server('127.0.0.1', {}, { 'good.test': [{ ns: 'ns.host.test' }], 'host.test': at('127.0.0.2') });
    await server('127.0.0.2', { 'ns.host.test': { A: ['127.0.0.3'] } });
    await server('127.0.0.3', { 'good.test': { TXT: ['here'] } });
    const dns = lookupFrom(root, await startResolver());

    expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['here'] });
  });

  it.each(['SERVFAIL', 'REFUSED'] as const)(
    'queries the zone’s next server if a server responds with %s',
    async (failure) => {
      const servers = [
        { ns: 'one.test', address: '127.0.0.2' },
        { ns: 'two.test', address: '127.0.0.3' },
      ];
      const root = await server('127.0.0.1', {}, { 'good.test': servers });
      (await server('127.0.0.2', {})).fail('good.test', failure);
      await server('127.0.0.3', { 'good.test': { TXT: ['here'] } });
      const dns = lookupFrom(root, await startResolver());

      expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['here'] });
    },
  );

  it('does not accept an empty response from a server that is not authoritative for the zone', async () => {
    const root = await server('127.0.0.1', {}, { 'good.test': at('127.0.0.2') });
    await server('127.0.0.2', {}, { 'good.test': at('127.0.0.1') });
    const resolver = await startResolver();
    resolver.fail('good.test', 'SERVFAIL');
    const dns = lookupFrom(root, resolver);

    expect(await dns.lookup('good.test', 'TXT')).toEqual({
      kind: 'error',
      message: 'a name server of good.test does not know it',
    });
  });

  it('stops if delegations form a loop', async () => {
    const root = await server(
      '127.0.0.1',
      {},
      {
        'a.test': [{ ns: 'ns.b.test' }],
        'b.test': [{ ns: 'ns.a.test' }],
      },
    );
    const resolver = await startResolver();
    resolver.fail('a.test', 'SERVFAIL');
    const dns = lookupFrom(root, resolver);

    expect(await dns.lookup('a.test', 'TXT')).toMatchObject({ kind: 'error' });
    expect(root.questions.length).toBeLessThan(10);
  });

  it('queries the resolver instead of a server at a non-public address', async () => {
    const root = await server('127.0.0.1', {}, { 'good.test': at('127.0.0.2') });
    const inner = await server('127.0.0.2', { 'good.test': { TXT: ['inner'] } });
    const resolver = await startResolver({ 'good.test': { TXT: ['resolved'] } });
    const dns = lookupFrom(root, resolver, []);

    expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['resolved'] });
    expect(inner.questions).toEqual([]);
  });

  it('skips the root servers for a while if the network blocks outgoing queries', async () => {
    const root = await server('127.0.0.1', {});
    root.fail('good.test', 'timeout');
    const dns = lookupFrom(root, await startResolver({ 'good.test': { TXT: ['resolved'] } }));

    expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['resolved'] });
    expect(await dns.lookup('good.test', 'TXT')).toMatchObject({ records: ['resolved'] });

    expect(root.questions).toEqual(['TXT good.test']);
  });
});

async function startResolver(zone: Zone = {}): Promise<DnsZone> {
  const started = await startDnsZone(zone);
  open.push(started);
  return started;
}
