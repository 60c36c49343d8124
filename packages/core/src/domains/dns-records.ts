import type { DnsRecordType } from '../dns-lookup.ts';
import type { DkimAlgorithm } from './dkim-keys.ts';

export const purposes = ['ownership', 'dkim', 'return_path', 'spf', 'dmarc'] as const;
export type Purpose = (typeof purposes)[number];

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

/** A record that a domain should have. */
export interface WantedRecord {
  readonly purpose: Purpose;
  readonly required: boolean;
  readonly type: DnsRecordType;
  readonly fqdn: string;
  readonly value: string;
  /** The key that a dkim record publishes. */
  readonly key_id?: string;
}

/** Where this service sends from and takes bounces. */
export interface Site {
  readonly helo_name: string;
  readonly return_path_domain: string | null;
  /** Mail leaves by relays alone, whose addresses only their owner knows. */
  readonly relayed: boolean;
}

export interface ProvenDomain {
  readonly name: string;
  readonly ownership_token: string | null;
  readonly return_path: string | null;
}

export interface PublishedKey {
  readonly id: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly public_key: string;
}

const OWNERSHIP = 'postrider-verification=';

/** Every record that a domain should publish; what is not required makes mail arrive better. */
export function wantedRecords(domain: ProvenDomain, keys: readonly PublishedKey[], site: Site): WantedRecord[] {
  const { name, return_path } = domain;
  const txt = (purpose: Purpose, required: boolean, fqdn: string, value: string): WantedRecord => ({
    purpose,
    required,
    type: 'TXT',
    fqdn,
    value,
  });
  const records = [txt('ownership', true, `_postrider.${name}`, `${OWNERSHIP}${domain.ownership_token}`)];
  for (const key of keys) {
    // Every receiver checks RSA; a mail without a second signature is as good to those who know no Ed25519.
    records.push({ ...txt('dkim', key.algorithm === 'rsa', dkimName(key, name), dkimValue(key)), key_id: key.id });
  }
  const alias = return_path !== null && site.return_path_domain !== null;
  if (return_path !== null) {
    records.push(
      site.return_path_domain !== null
        ? { purpose: 'return_path', required: false, type: 'CNAME', fqdn: return_path, value: site.return_path_domain }
        : { purpose: 'return_path', required: false, type: 'MX', fqdn: return_path, value: `10 ${site.helo_name}` },
    );
  }
  // Receivers look up SPF at the envelope's domain; below an alias nothing else may stand.
  const envelope = return_path === null || alias ? name : return_path;
  records.push(txt('spf', false, envelope, `v=spf1 a:${site.helo_name} ~all`));
  records.push(txt('dmarc', false, `_dmarc.${name}`, 'v=DMARC1; p=none'));
  return records;
}

export function dkimName(key: Pick<PublishedKey, 'selector'>, domain: string): string {
  return `${key.selector}._domainkey.${domain}`;
}

export function dkimValue(key: Pick<PublishedKey, 'algorithm' | 'public_key'>): string {
  return `v=DKIM1; k=${key.algorithm}; p=${key.public_key}`;
}

/** What a record that should be there is, from what is there. */
export function judgeRecord(wanted: WantedRecord, found: readonly string[], site: Site): RecordStatus {
  switch (wanted.purpose) {
    case 'ownership':
      return judgeOwnership(wanted.value, found);
    case 'dkim':
      return judgeDkim(wanted.value, found);
    case 'return_path':
      return judgeTarget(wanted, found);
    case 'spf':
      return judgeSpf(found, site);
    case 'dmarc':
      return judgeDmarc(found);
  }
}

/** Several workspaces may try to prove one name, each with a line of its own. */
function judgeOwnership(value: string, found: readonly string[]): RecordStatus {
  const texts = found.map((text) => text.trim());
  if (texts.includes(value)) return 'ok';
  return texts.some((text) => text.startsWith(OWNERSHIP)) ? 'mismatch' : 'missing';
}

function judgeDkim(value: string, found: readonly string[]): RecordStatus {
  if (found.length === 0) return 'missing';
  const records = found.filter((text) => /(?:^|;)\s*(?:v\s*=\s*DKIM1|p\s*=)/.test(text));
  // RFC 6376 section 3.6.2.2: with several, the result is undefined.
  if (records.length > 1) return 'multiple';
  const wanted = tagsOf(value);
  const tags = tagsOf(records[0] ?? '');
  const key = (tags.get('p') ?? '').replace(/\s/g, '');
  const expected = wanted.get('p') ?? '';
  const hashes = tags.get('h')?.split(':') ?? ['sha256'];
  const services = tags.get('s')?.split(':') ?? ['*'];
  const usable =
    (tags.get('v') ?? 'DKIM1') === 'DKIM1' &&
    (tags.get('k') ?? 'rsa') === wanted.get('k') &&
    hashes.some((hash) => hash.trim() === 'sha256') &&
    services.some((service) => ['*', 'email'].includes(service.trim()));
  if (key === expected) return usable ? 'ok' : 'mismatch';
  return key !== '' && expected.startsWith(key) ? 'truncated' : 'mismatch';
}

/** RFC 6376 section 3.2. */
function tagsOf(record: string): Map<string, string> {
  return new Map(
    record.split(';').flatMap((tag): [string, string][] => {
      const equals = tag.indexOf('=');
      return equals < 0 ? [] : [[tag.slice(0, equals).trim(), tag.slice(equals + 1).trim()]];
    }),
  );
}

function judgeTarget(wanted: WantedRecord, found: readonly string[]): RecordStatus {
  const host = (text: string) => (text.split(' ').at(-1) ?? '').toLowerCase().replace(/\.$/, '');
  if (found.length === 0) return 'missing';
  return found.some((text) => host(text) === host(wanted.value)) ? 'ok' : 'mismatch';
}

function judgeSpf(found: readonly string[], site: Site): RecordStatus {
  const records = found.map((text) => text.trim().toLowerCase()).filter((text) => /^v=spf1(?: |$)/.test(text));
  // RFC 7208 section 4.5: with several, receivers report an error.
  if (records.length > 1) return 'multiple';
  const [record] = records;
  if (record === undefined) return 'missing';
  if (site.relayed) return 'ok';
  return record.split(/ +/).some((term) => term.replace(/^\+/, '') === `a:${site.helo_name}`) ? 'ok' : 'mismatch';
}

function judgeDmarc(found: readonly string[]): RecordStatus {
  const records = found.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
  if (records.length > 1) return 'multiple';
  return records.length === 1 ? 'ok' : 'missing';
}

/** What to do about a record, for people; null where it is as it should be. */
export function recordHint({ purpose, required, type, value }: WantedRecord, status: RecordStatus): string | null {
  const rest = required ? '' : ' Mail is sent without it too.';
  switch (status) {
    case 'ok':
      return null;
    case 'pending':
      return `Publish it, then POST /domains/{domain}/verify.${rest}`;
    case 'missing':
      return `No such ${type} record was found. Publish it; a new record may take minutes to be seen.${rest}`;
    case 'mismatch':
      if (purpose === 'spf') return `Add ${value.split(' ')[1]} to the v=spf1 record that is there.${rest}`;
      return `Another value was found. Replace it with this one, whole and without line breaks.${rest}`;
    case 'truncated':
      return `The key was cut off. Publish the whole value; some providers want it in pieces of 255 characters.${rest}`;
    case 'multiple':
      return `Several records of this kind were found, and receivers may take any or none. Leave only one.${rest}`;
    case 'lookup_error':
      return `The DNS gave no answer, so nothing is concluded from it. Check the name servers of the domain.${rest}`;
  }
}
