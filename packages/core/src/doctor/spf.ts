import { BlockList, isIP } from 'node:net';
import type { DnsLookup } from '@postrider/net';

// RFC 7208 section 4.6.4.
const MAX_LOOKUPS = 10;

export type SpfResult = 'pass' | 'fail' | 'none' | 'unknown';

/** Returns whether the SPF record of a domain allows an address to send; macros and exists count as no match. */
export async function spfOf(dns: DnsLookup, domain: string, address: string): Promise<SpfResult> {
  let lookups = 0;
  const addressesOf = async (name: string): Promise<string[]> => {
    const answer = await dns.lookup(name, isIP(address) === 6 ? 'AAAA' : 'A');
    return answer.kind === 'found' ? [...answer.records] : [];
  };
  const matches = async (term: string, host: string): Promise<boolean | SpfResult> => {
    const [, name = '', target = '', bits = ''] = /^([a-z0-9]+)(?:[:=]([^/]+))?(?:\/(\d+))?/i.exec(term) ?? [];
    switch (name.toLowerCase()) {
      case 'all':
        return true;
      case 'ip4':
      case 'ip6':
        return isWithin(address, term.slice(4));
      case 'a':
        return (await addressesOf(target || host)).some((one) => isWithin(address, bits ? `${one}/${bits}` : one));
      case 'mx': {
        const answer = await dns.lookup(target || host, 'MX');
        const hosts = answer.kind === 'found' ? answer.records.map((record) => record.replace(/^\d+ /, '')) : [];
        const addresses = await Promise.all(hosts.map(addressesOf));
        return addresses.flat().some((one) => isWithin(address, bits ? `${one}/${bits}` : one));
      }
      case 'include': {
        const result = await look(target);
        return result === 'unknown' ? result : result === 'pass';
      }
      default:
        return false;
    }
  };
  const look = async (host: string): Promise<SpfResult> => {
    lookups += 1;
    if (lookups > MAX_LOOKUPS) return 'unknown';
    const answer = await dns.lookup(host, 'TXT');
    if (answer.kind === 'error') return 'unknown';
    const record = answer.kind === 'found' ? answer.records.find((text) => /^v=spf1(?: |$)/i.test(text)) : undefined;
    if (record === undefined) return 'none';
    const terms = record.split(/ +/).slice(1);
    for (const term of terms) {
      const matched = await matches(term.replace(/^[+?~-]/, ''), host);
      if (matched === 'unknown') return 'unknown';
      if (matched) return /^[?~-]/.test(term) ? 'fail' : 'pass';
    }
    const redirect = terms.find((term) => /^redirect=/i.test(term));
    return redirect ? look(redirect.slice('redirect='.length)) : 'fail';
  };
  return look(domain);
}

function isWithin(address: string, network: string): boolean {
  const [base = '', bits] = network.split('/');
  const kind = isIP(base);
  if (kind === 0 || kind !== isIP(address)) return false;
  const family = kind === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(base, Number(bits ?? (kind === 4 ? 32 : 128)), family);
  return list.check(address, family);
}
