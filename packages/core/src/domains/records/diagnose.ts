import { type DnsAnswer, isConfiguredServerError } from '@postrider/net';
import { getDomain } from 'tldts';
import { type ExpectedRecord, OWNERSHIP, type Site, tagsOf } from './dns-records.ts';

export const recordStatuses = [
  'pending',
  'ok',
  'missing',
  'mismatch',
  'truncated',
  'multiple',
  'lookup_error',
] as const;
export type RecordStatus = (typeof recordStatuses)[number];

/** The lookup results of a record and of common mistakes around it. */
export interface Evidence {
  readonly answer: DnsAnswer;
  /** The response of a cache, if the main response is authoritative. */
  readonly cached: DnsAnswer | null;
  /** Other names at which the record was looked up, because it is not right at its own name. */
  readonly elsewhere: readonly {
    readonly kind: 'host_doubled' | 'wrong_name';
    readonly fqdn: string;
    readonly texts: readonly string[];
  }[];
  /** Addresses at a name that should have an alias. */
  readonly addresses: readonly string[];
  readonly spf: SpfFacts | null;
  readonly alignment: Alignment | null;
}

/** An SPF record with all its includes. */
export interface SpfFacts {
  readonly lookups: number;
  readonly names_service: boolean;
  /** Why an include could not be looked up; its contents are then unknown. */
  readonly unknown: string | null;
}

/** The facts from which DMARC alignment with the From domain is judged. */
export interface Alignment {
  readonly name: string;
  readonly envelope: string;
  readonly dkim_right: boolean;
}

/** The finding of a check, stored until the next one. */
export interface Finding {
  readonly diagnosis: Diagnosis;
  readonly found: readonly string[];
  /** Where else or how often the record was found, or the lookup error. */
  readonly detail: string | null;
  /** How long caches may retain the values found. */
  readonly ttl_seconds: number | null;
  readonly observed: readonly Observation[];
}

/** The response of one name server for a record. */
export interface Observation {
  readonly resolver: string;
  readonly authoritative: boolean;
  readonly values: readonly string[];
  readonly ttl: number | null;
}

interface DiagnosisRow {
  readonly status: RecordStatus;
  /** How to fix the record, in one sentence; null if nothing is wrong. */
  readonly advice: ((record: ExpectedRecord, detail: string) => string) | null;
}

/** All possible diagnoses. */
export const diagnoses = {
  right: { status: 'ok', advice: null },
  stale: {
    status: 'ok',
    advice: () =>
      'Your name servers have the correct value, but other resolvers still cache the old one: wait until it expires',
  },
  missing: {
    status: 'missing',
    advice: ({ type, host }) =>
      `Publish ${type === 'MX' ? 'an' : 'a'} ${type} record with the host ${host}; a new record can take a few minutes to become visible`,
  },
  host_doubled: {
    status: 'missing',
    advice: ({ host }, at) =>
      `It is published at ${at}, because your provider appends the zone automatically: enter ${host} as the host`,
  },
  wrong_name: { status: 'missing', advice: ({ fqdn }, at) => `It is published at ${at}: move it to ${fqdn}` },
  alias_in_the_way: {
    status: 'mismatch',
    advice: ({ type }, target) =>
      `A CNAME to ${target} exists at this name excludes all other records: replace it with the ${type} record`,
  },
  proxied: {
    status: 'mismatch',
    advice: () =>
      'The name returns addresses instead of the alias: turn off the proxy for it (“DNS only”) or remove its address records',
  },
  mismatch: { status: 'mismatch', advice: ({ purpose, value }) => otherValue(purpose, value) },
  key_revoked: {
    status: 'mismatch',
    advice: () => 'The p= tag is empty, which revokes the key: publish the full value',
  },
  truncated: {
    status: 'truncated',
    advice: () =>
      'The key is truncated: publish the full value, split into strings of up to 255 characters if your provider requires it',
  },
  split_wrongly: {
    status: 'mismatch',
    advice: () =>
      'The value is split into several records, or contains quotes or backslashes: publish it as one record without them',
  },
  two_records: {
    status: 'multiple',
    advice: (_, count) => `There are ${count} records of this kind, and receivers may use any or none: keep only one`,
  },
  spf_too_many_lookups: {
    status: 'mismatch',
    advice: () => 'Receivers reject it, because it needs more than 10 lookups: remove includes that you no longer need',
  },
  dmarc_misaligned: { status: 'mismatch', advice: (_, text) => text },
  lookup_failed: {
    status: 'lookup_error',
    advice: (_, reason) =>
      `The lookup failed, because ${reason}: ${isConfiguredServerError(reason) ? 'this says nothing about the domain; check that setting, and that its servers can be reached from here' : 'check the name servers of the domain'}`,
  },
} as const satisfies Record<string, DiagnosisRow>;
export type Diagnosis = keyof typeof diagnoses;

// The cast is safe because the keys of the table are the diagnoses, and there is at least one.
export const diagnosisNames = Object.keys(diagnoses) as [Diagnosis, ...Diagnosis[]];

function otherValue(purpose: ExpectedRecord['purpose'], value: string): string {
  switch (purpose) {
    case 'spf':
      return `Add ${value.split(' ')[1]} to the v=spf1 record that is there, before its “all”`;
    case 'dmarc':
      return 'It has no valid policy: add p=none, p=quarantine or p=reject after v=DMARC1';
    case 'dkim':
      return 'A different key is published here: replace it with this one, or add the domain again with another dkim_selector';
    case 'ownership':
    case 'return_path':
      return 'A different value is published here: replace it with this one';
  }
}

const HOUR_SECONDS = 3600;

/** Returns one sentence of advice for a record; null if it is right. */
export function adviceOf(record: ExpectedRecord, finding: Finding | undefined): string | null {
  if (!finding) return 'Publish it, then check the domain.';
  const { advice }: DiagnosisRow = diagnoses[finding.diagnosis];
  if (!advice) return null;
  const ttl = finding.ttl_seconds ?? 0;
  const slowly = ttl > HOUR_SECONDS ? `; the old value may stay cached for up to ${hours(ttl)}` : '';
  return `${advice(record, finding.detail ?? '')}${slowly}.`;
}

function hours(seconds: number): string {
  const count = Math.ceil(seconds / HOUR_SECONDS);
  return count === 1 ? 'an hour' : `${count} hours`;
}

// Limits the values that are shown and stored; the diagnosis uses all of them.
export const MAX_SHOWN = 10;
const MAX_OBSERVED = 5;

/** Compares the expected record with the lookup results. */
export function diagnose(expected: ExpectedRecord, evidence: Evidence, site: Site): Finding {
  const { answer, cached } = evidence;
  const observed = [answer, cached].flatMap(observationOf);
  if (answer.kind === 'error') {
    const { message } = answer;
    return { diagnosis: 'lookup_failed', found: [message], detail: message, ttl_seconds: null, observed };
  }
  const texts = answer.kind === 'found' ? answer.records : [];
  const ttl_seconds = answer.kind === 'found' ? answer.ttl_seconds : null;
  const findingFor = (diagnosis: Diagnosis, detail: string | null = null, values = texts): Finding => ({
    diagnosis,
    found: values.slice(0, MAX_SHOWN),
    detail,
    ttl_seconds,
    observed,
  });
  const verdict = judge(expected, texts, site, evidence.spf);
  if (verdict === 'right') {
    const misaligned = expected.purpose === 'dmarc' ? misalignment(texts, evidence.alignment) : null;
    if (misaligned !== null) return findingFor('dmarc_misaligned', misaligned);
    if (expected.purpose === 'spf' && (evidence.spf?.lookups ?? 0) > 10) return findingFor('spf_too_many_lookups');
    if (cached && cached.kind !== 'error' && judge(expected, textsOf(cached), site, evidence.spf) !== 'right') {
      return { ...findingFor('stale'), ttl_seconds: cached.kind === 'found' ? cached.ttl_seconds : null };
    }
    return findingFor('right');
  }
  const { unknown = null } = evidence.spf ?? {};
  if (verdict === 'mismatch' && unknown !== null) return findingFor('lookup_failed', unknown);
  if (verdict === 'two_records') return findingFor('two_records', String(ofKind(expected, texts).length));
  if (answer.alias !== null) return findingFor('alias_in_the_way', answer.alias, [`CNAME ${answer.alias}`, ...texts]);
  if (verdict !== 'missing' && verdict !== 'mismatch') return findingFor(verdict);
  const [misplaced] = evidence.elsewhere.filter(({ texts }) => isMeant(expected, texts, site));
  if (misplaced) return findingFor(misplaced.kind, misplaced.fqdn);
  if (evidence.addresses.length > 0) return findingFor('proxied', null, evidence.addresses);
  return findingFor(verdict);
}

function observationOf(answer: DnsAnswer | null): Observation[] {
  if (answer === null || answer.kind === 'error') return [];
  const values = textsOf(answer).slice(0, MAX_OBSERVED);
  return [{ ...answer.source, values, ttl: answer.kind === 'found' ? answer.ttl_seconds : null }];
}

/** Returns whether a value at another name was meant for this record. */
export function isMeant(expected: ExpectedRecord, values: readonly string[], site: Site): boolean {
  return ['right', 'truncated'].includes(judge(expected, values, site, null));
}

export function textsOf(answer: DnsAnswer): readonly string[] {
  return answer.kind === 'found' ? answer.records : [];
}

type RecordVerdict = 'right' | 'missing' | 'mismatch' | 'truncated' | 'split_wrongly' | 'two_records' | 'key_revoked';

/** Diagnoses from the values alone. */
export function judge(
  expected: ExpectedRecord,
  values: readonly string[],
  site: Site,
  spf: SpfFacts | null,
): RecordVerdict {
  const records = ofKind(expected, values);
  switch (expected.purpose) {
    case 'ownership':
      // Several workspaces may try to prove the same name, each with its own value.
      if (records.some((text) => text === expected.value)) return 'right';
      return records.length > 0 ? 'mismatch' : 'missing';
    case 'dkim':
      return judgeDkim(expected.value, values, records);
    case 'return_path':
      if (values.length === 0) return 'missing';
      return values.some((text) => hostOf(text) === hostOf(expected.value)) ? 'right' : 'mismatch';
    case 'spf':
      // RFC 7208 section 4.5: with several records, receivers report an error.
      if (records.length > 1) return 'two_records';
      if (records.length === 0) return 'missing';
      return site.relayed || spf?.names_service || namesService(records[0] ?? '', site) ? 'right' : 'mismatch';
    case 'dmarc':
      if (records.length > 1) return 'two_records';
      if (records.length === 0) return 'missing';
      return policyOf(records[0] ?? '') === null ? 'mismatch' : 'right';
  }
}

/** Returns the values of the expected kind; there may be others. */
function ofKind({ purpose }: ExpectedRecord, values: readonly string[]): string[] {
  const texts = values.map((text) => text.trim());
  switch (purpose) {
    case 'ownership':
      return texts.map((text) => text.replace(/^"(.*)"$/, '$1')).filter((text) => text.startsWith(OWNERSHIP));
    case 'dkim':
      return texts.filter((text) => /(?:^|;)\s*"?(?:v\s*=\s*DKIM1|p\s*=)/.test(text));
    case 'return_path':
      return texts;
    case 'spf':
      return spfRecords(texts);
    case 'dmarc':
      return texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
  }
}

export function spfRecords(texts: readonly string[]): string[] {
  return texts.map((text) => text.trim().toLowerCase()).filter((text) => /^v=spf1(?: |$)/.test(text));
}

function judgeDkim(value: string, texts: readonly string[], records: readonly string[]): RecordVerdict {
  if (texts.length === 0) return 'missing';
  if (isInPieces(value, texts)) return 'split_wrongly';
  // RFC 6376 section 3.6.2.2: with several records, the result is undefined.
  if (records.length > 1) return 'two_records';
  const [record = ''] = records;
  const verdict = judgeKey(value, record);
  // Quotes and backslashes are zone file syntax; some provider forms store them as part of the value.
  const plain = record.replace(/["\\]/g, '');
  return verdict !== 'right' && plain !== record && judgeKey(value, plain) === 'right' ? 'split_wrongly' : verdict;
}

function judgeKey(value: string, record: string): RecordVerdict {
  const needed_tags = tagsOf(value);
  const tags = tagsOf(record);
  const key = tags.get('p')?.replace(/\s/g, '');
  const expected = needed_tags.get('p') ?? '';
  const hashes = tags.get('h')?.split(':') ?? ['sha256'];
  const services = tags.get('s')?.split(':') ?? ['*'];
  const usable =
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === needed_tags.get('k') &&
    hashes.some((hash) => hash.trim() === 'sha256') &&
    services.some((service) => ['*', 'email'].includes(service.trim()));
  if (key === expected) return usable ? 'right' : 'mismatch';
  if (key === '') return 'key_revoked';
  return key !== undefined && expected.startsWith(key) ? 'truncated' : 'mismatch';
}

/**
 * Returns whether the records are the expected value split up: its beginning in one and the rest, in any order, in
 * others.
 */
function isInPieces(value: string, texts: readonly string[]): boolean {
  if (texts.length < 2) return false;
  const bare = (text: string) => text.replace(/[\s"\\]/g, '');
  const expected_text = bare(value);
  const pieces = texts.map(bare).filter((piece) => piece !== '' && expected_text.includes(piece));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return pieces.length > 1 && length === expected_text.length;
}

function hostOf(text: string): string {
  return (text.split(' ').at(-1) ?? '').toLowerCase().replace(/\.$/, '');
}

export function namesService(spf_record: string, { helo_name }: Site): boolean {
  return spf_record.split(/ +/).some((term) => term.replace(/^\+/, '') === `a:${helo_name}`);
}

/** Returns the policy of a record. RFC 7489 section 6.3: p= follows v= and has one of three values. */
function policyOf(record: string): string | null {
  const policy = /^v\s*=\s*DMARC1\s*;\s*p\s*=\s*(none|quarantine|reject)\s*(?:;|$)/i.exec(record)?.[1];
  return policy?.toLowerCase() ?? null;
}

/**
 * Returns why messages of the domain would fail DMARC, or pass only by their DKIM signature; null if neither applies.
 */
function misalignment(texts: readonly string[], alignment: Alignment | null): string | null {
  const record = texts.find((text) => policyOf(text.trim()) !== null)?.trim();
  if (!record || !alignment) return null;
  const { name, envelope, dkim_right } = alignment;
  const strict = tagsOf(record).get('aspf')?.toLowerCase() === 's';
  const aligned = strict ? envelope === name : organisation(envelope) === organisation(name);
  if (aligned) return null;
  if (!dkim_right && policyOf(record) !== 'none') {
    return `Email fails this policy, because bounces go to ${envelope} and no valid DKIM key is published: publish the DKIM record first`;
  }
  if (strict && organisation(envelope) === organisation(name)) {
    return `aspf=s prevents SPF for ${envelope} from counting for ${name}, so email with a broken DKIM signature is rejected: set aspf=r`;
  }
  return null;
}

function organisation(name: string): string {
  return getDomain(name, { allowPrivateDomains: true }) ?? name;
}
