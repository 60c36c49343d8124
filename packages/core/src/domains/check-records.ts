import { getDomain } from 'tldts';
import type { DnsLookup } from '../dns-lookup.ts';
import {
  judgeRecord,
  type PublishedKey,
  type RecordStatus,
  type Site,
  type WantedRecord,
  wantedRecords,
} from './dns-records.ts';
import type { Proof } from './state.ts';
import type { DomainRow } from './store.ts';

export interface CheckedRecord {
  readonly wanted: WantedRecord;
  readonly status: RecordStatus;
  readonly found: readonly string[];
  /** Why it could not be looked up. */
  readonly error: string | null;
}

// What is shown and stored of the answers; the judgement sees all of them.
const MOST_SHOWN = 10;

/** Looks up every record of a domain at once, within the few seconds that a lookup may take. */
export async function checkRecords(
  dns: DnsLookup,
  domain: DomainRow,
  keys: readonly PublishedKey[],
  site: Site,
): Promise<CheckedRecord[]> {
  return Promise.all(wantedRecords(domain, keys, site).map((wanted) => checkRecord(dns, domain.name, wanted, site)));
}

async function checkRecord(dns: DnsLookup, name: string, wanted: WantedRecord, site: Site): Promise<CheckedRecord> {
  const answer = await dns.lookup(wanted.fqdn, wanted.type);
  if (answer.kind === 'error') return { wanted, status: 'lookup_error', found: [], error: answer.message };
  const found = answer.kind === 'found' ? answer.records : [];
  const status = judgeRecord(wanted, found, site);
  if (wanted.purpose === 'dmarc' && status === 'missing') {
    // RFC 7489 section 6.6.3: below an organisation's domain, the organisation's policy holds.
    const organisation = getDomain(name);
    if (organisation !== null && organisation !== name) {
      return checkRecord(dns, organisation, { ...wanted, fqdn: `_dmarc.${organisation}` }, site).then((above) => ({
        ...above,
        wanted,
      }));
    }
  }
  return { wanted, status, found: found.slice(0, MOST_SHOWN), error: null };
}

/** What the required records prove together. */
export function proofOf(checked: readonly CheckedRecord[]): Proof {
  const required = checked.filter(({ wanted }) => wanted.required);
  if (required.some(({ status }) => status === 'lookup_error')) return 'unknown';
  return required.every(({ status }) => status === 'ok') ? 'right' : 'wrong';
}

const troubles: Readonly<Record<Exclude<RecordStatus, 'ok'>, string>> = {
  pending: 'has not been looked up',
  missing: 'is missing',
  mismatch: 'has another value',
  truncated: 'is truncated',
  multiple: 'is there more than once',
  lookup_error: 'could not be looked up',
};

/** Why a domain is not, or no longer, proven; null where every required record is right. */
export function reasonOf(checked: readonly CheckedRecord[]): string | null {
  const parts = checked.flatMap(({ wanted, status, error }) => {
    if (!wanted.required || status === 'ok') return [];
    const kind = wanted.purpose === 'dkim' ? 'DKIM' : wanted.purpose;
    return [`the ${kind} record ${wanted.fqdn} ${troubles[status]}${error === null ? '' : ` (${error})`}`];
  });
  if (parts.length === 0) return null;
  const text = parts.join(', and ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
