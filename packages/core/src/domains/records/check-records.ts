import { type DnsAnswer, type DnsLookup, withDeadline } from '@postrider/net';
import { getDomain } from 'tldts';
import type { Proof } from '../state.ts';
import {
  diagnose,
  diagnoses,
  type Evidence,
  type Finding,
  isMeant,
  judge,
  type RecordStatus,
  spfRecords,
  textsOf,
} from './diagnose.ts';
import { type ExpectedRecord, type ProvenDomain, type PublishedKey, type Site, wantedRecords } from './dns-records.ts';
import { spfFacts } from './spf-facts.ts';

export interface CheckedRecord {
  readonly expected: ExpectedRecord;
  readonly finding: Finding;
}

// Enough for two sequential lookups with slow servers, but not for a chain of slow includes.
const CHECK_MS = 15_000;
/** For a check whose caller is waiting. */
export const CHECK_AT_ONCE_MS = 3000;

/** Looks up all records of a domain in parallel. Those without a response at the deadline count as lookup errors. */
export async function checkRecords(
  dns: DnsLookup,
  domain: ProvenDomain,
  keys: readonly PublishedKey[],
  site: Site,
  deadline_ms: number = CHECK_MS,
): Promise<CheckedRecord[]> {
  const lookups = await withDeadline(dns, deadline_ms, (bounded) =>
    Promise.all(
      wantedRecords(domain, keys, site).map(async (expected) => ({
        expected,
        evidence: await look(bounded, domain.name, expected, site),
      })),
    ),
  );
  const checked = lookups.map(({ expected, evidence }) => ({
    expected,
    evidence,
    finding: diagnose(expected, evidence, site),
  }));
  const dkim_right = checked.some(({ expected, finding }) => expected.purpose === 'dkim' && statusOf(finding) === 'ok');
  const envelope = domain.return_path ?? site.return_path_domain ?? domain.name;
  return checked.map(({ expected, evidence, finding }) => {
    if (expected.purpose !== 'dmarc') return { expected, finding };
    const alignment = { name: domain.name, envelope, dkim_right };
    return { expected, finding: diagnose(expected, { ...evidence, alignment }, site) };
  });
}

export function statusOf(finding: Finding): RecordStatus {
  return diagnoses[finding.diagnosis].status;
}

async function look(dns: DnsLookup, name: string, expected: ExpectedRecord, site: Site): Promise<Evidence> {
  const { fqdn, type, purpose } = expected;
  const answer = await askFor(dns, name, expected);
  const no_evidence = { answer, cached: null, elsewhere: [], addresses: [], spf: null, alignment: null };
  if (answer.kind === 'error') return no_evidence;
  const [record, second_record] = purpose === 'spf' ? spfRecords(textsOf(answer)) : [];
  const spf = record !== undefined && second_record === undefined ? await spfFacts(dns, record, site) : null;
  if (judge(expected, textsOf(answer), site, spf) === 'right')
    return { ...no_evidence, spf, cached: await dns.cached(fqdn, type) };
  const other_places = await Promise.all(
    otherNames(name, expected).map(async (other) => ({ ...other, texts: textsOf(await dns.lookup(other.fqdn, type)) })),
  );
  const addresses = type === 'CNAME' && answer.kind === 'none' ? textsOf(await dns.lookup(fqdn, 'A')) : [];
  return {
    ...no_evidence,
    spf,
    addresses,
    elsewhere: other_places.filter(({ texts }) => isMeant(expected, texts, site)),
  };
}

async function askFor(dns: DnsLookup, name: string, { fqdn, type, purpose }: ExpectedRecord): Promise<DnsAnswer> {
  const answer = await dns.lookup(fqdn, type);
  // RFC 7489 section 6.6.3: the policy of the organizational domain applies below it.
  const organisation = getDomain(name, { allowPrivateDomains: true });
  const inherits = purpose === 'dmarc' && answer.kind === 'none' && organisation !== null && organisation !== name;
  return inherits ? dns.lookup(`_dmarc.${organisation}`, type) : answer;
}

/**
 * Returns other names where a record ends up by common mistakes. An SPF record or return path at another name may
 * belong there.
 */
function otherNames(
  name: string,
  { fqdn, purpose }: ExpectedRecord,
): Pick<Evidence['elsewhere'][number], 'kind' | 'fqdn'>[] {
  const zone = getDomain(name, { allowPrivateDomains: true }) ?? name;
  const doubled = [...new Set([`${fqdn}.${zone}`, `${fqdn}.${name}`])];
  const prefix = fqdn.slice(0, -name.length - 1);
  const wrong =
    purpose === 'spf' || purpose === 'return_path'
      ? []
      : [
          ...(zone === name ? [] : [`${prefix}.${zone}`]),
          `${prefix.replaceAll('_', '')}.${name}`,
          ...(purpose === 'dkim' ? [`${prefix.replace('._domainkey', '')}.${name}`] : []),
          ...(purpose === 'dmarc' ? [] : [name]),
        ];
  return [
    ...doubled.map((fqdn) => ({ kind: 'host_doubled', fqdn }) as const),
    ...wrong.map((fqdn) => ({ kind: 'wrong_name', fqdn }) as const),
  ].filter((other) => other.fqdn.length <= 253);
}

/** Returns the combined result of the required records. */
export function proofOf(checked: readonly CheckedRecord[]): Proof {
  const statuses = checked.filter(({ expected }) => expected.required).map(({ finding }) => statusOf(finding));
  if (statuses.includes('lookup_error')) return 'unknown';
  return statuses.every((status) => status === 'ok') ? 'right' : 'wrong';
}

const troubles: Readonly<Record<Exclude<RecordStatus, 'ok'>, string>> = {
  pending: 'has not been checked',
  missing: 'is missing',
  mismatch: 'has a different value',
  truncated: 'is truncated',
  multiple: 'exists more than once',
  lookup_error: 'could not be looked up',
};

/** Returns why a domain is not proven, or no longer is; null if every required record is right. */
export function reasonOf(checked: readonly CheckedRecord[]): string | null {
  const parts = checked.flatMap(({ expected, finding }) => {
    const status = statusOf(finding);
    if (!expected.required || status === 'ok') return [];
    const reason = finding.diagnosis === 'lookup_failed' && finding.detail !== null ? ` (${finding.detail})` : '';
    const kind = expected.purpose === 'dkim' ? 'DKIM' : expected.purpose;
    return [`the ${kind} record ${expected.fqdn} ${troubles[status]}${reason}`];
  });
  if (parts.length === 0) return null;
  const text = parts.join(', and ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
