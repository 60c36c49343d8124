import { Resolver } from 'node:dns/promises';
import { cleanRemoteText } from '@postrider/mail';

export type DnsRecordType = 'TXT' | 'CNAME' | 'MX';

/** none: the name or the type does not exist. error: nobody knows, so nothing may follow from it. */
export type DnsAnswer =
  | { readonly kind: 'found'; readonly records: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'error'; readonly message: string };

/** Asks the DNS and never throws. What strangers publish comes back as a few short lines of text. */
export interface DnsLookup {
  lookup(name: string, type: DnsRecordType): Promise<DnsAnswer>;
}

const TRY_MS = 1500;
const TRIES = 2;
const DEADLINE_MS = 6000;
const MOST_RECORDS = 20;
const ABSENT = new Set(['ENODATA', 'ENOTFOUND']);

/** Over UDP, and TCP where an answer is cut; with servers given, nobody else is asked. */
export function createDnsLookup(servers: readonly string[]): DnsLookup {
  const open = () => {
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  };
  // A list that cannot be used stops the start, and not the first lookup.
  open();
  return {
    async lookup(name, type) {
      // One each, because canceling ends everything that a resolver has under way.
      const resolver = open();
      const timer = setTimeout(() => resolver.cancel(), DEADLINE_MS);
      try {
        const records = await ask(resolver, name, type);
        if (records.length === 0) return { kind: 'none' };
        return { kind: 'found', records: records.slice(0, MOST_RECORDS).map(cleanRemoteText) };
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
        return ABSENT.has(code) ? { kind: 'none' } : { kind: 'error', message: explain(code) };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function ask(resolver: Resolver, name: string, type: DnsRecordType): Promise<string[]> {
  switch (type) {
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    case 'CNAME':
      return resolver.resolveCname(name);
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
  }
}

const explanations: Readonly<Record<string, string>> = {
  ESERVFAIL: 'the name server answered SERVFAIL',
  EREFUSED: 'the name server refused to answer',
  ETIMEOUT: 'no name server answered in time',
  ECANCELLED: 'no name server answered in time',
  ECONNREFUSED: 'no name server could be reached',
};

function explain(code: string): string {
  return explanations[code] ?? `the lookup failed (${code})`;
}
