import type { DnsLookup } from '@postrider/net';
import { namesService, type SpfFacts, spfRecords, textsOf } from './diagnose.ts';
import type { Site } from './dns-records.ts';

// RFC 7208 section 4.6.4. Counting stops one lookup above the limit, so that a record cannot cause more.
const MAX_LOOKUPS = 10;

/** Counts the lookups that an SPF record causes, and searches its includes for this service. */
export async function spfFacts(dns: DnsLookup, record: string, site: Site): Promise<SpfFacts> {
  let lookups = 0;
  let names_service = namesService(record, site);
  const waiting = [record];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const term of next.split(/ +/).slice(1)) {
      if (lookups > MAX_LOOKUPS) return { lookups, names_service, unknown: null };
      const match = /^[+?~-]?(?:(?:include:|redirect=)(?<target>.+)|exists:.+|(?:a|mx|ptr)(?:[:/].*)?)$/.exec(term);
      if (!match) continue;
      lookups += 1;
      const target = match.groups?.target;
      // A macro depends on the message, so it is only counted.
      if (target === undefined || target.includes('%')) continue;
      const answer = await dns.lookup(target, 'TXT');
      // The contents of this include are unknown, and further includes might take as long.
      if (answer.kind === 'error') return { lookups, names_service, unknown: answer.message };
      const [included] = spfRecords(textsOf(answer));
      if (included === undefined) continue;
      names_service ||= namesService(included, site);
      waiting.push(included);
    }
  }
  return { lookups, names_service, unknown: null };
}
