import { hostInZone } from '../domain-name.ts';
import type { DkimAlgorithm, KeyRole } from './dkim-keys.ts';

export const purposes = ['ownership', 'dkim', 'return_path', 'spf', 'dmarc'] as const;
export type Purpose = (typeof purposes)[number];

export const wantedTypes = ['TXT', 'CNAME', 'MX'] as const;

/** A record that a domain should publish. */
export interface ExpectedRecord {
  readonly purpose: Purpose;
  readonly required: boolean;
  readonly type: (typeof wantedTypes)[number];
  /** As entered at a DNS provider: without the zone, @ for the zone itself. */
  readonly host: string;
  readonly fqdn: string;
  readonly value: string;
  /** The key published by a dkim record. */
  readonly key_id?: string;
}

/** The sending host and the bounce host of this service. */
export interface Hosts {
  readonly helo_name: string;
  readonly return_path_domain: string | null;
}

/** What the records of a domain are judged by. */
export interface Site extends Hosts {
  /** Whether messages leave only through relays, whose addresses only their owner knows. */
  readonly relayed: boolean;
}

export interface ProvenDomain {
  readonly name: string;
  /** Null if no proof is needed. */
  readonly ownership_token: string | null;
  readonly return_path: string | null;
}

export interface PublishedKey {
  readonly id: string;
  readonly selector: string;
  readonly algorithm: DkimAlgorithm;
  readonly public_key: string;
  readonly role: KeyRole;
}

export const OWNERSHIP = 'postrider-verification=';

/** Returns all records that a domain should publish; optional ones improve deliverability. */
export function wantedRecords(domain: ProvenDomain, keys: readonly PublishedKey[], hosts: Hosts): ExpectedRecord[] {
  const { name, ownership_token, return_path } = domain;
  const record = (
    purpose: Purpose,
    type: ExpectedRecord['type'],
    fqdn: string,
    value: string,
    required = false,
  ): ExpectedRecord => ({ purpose, required, type, host: hostInZone(fqdn, name), fqdn, value });
  const records: ExpectedRecord[] = [];
  if (ownership_token !== null) {
    records.push(record('ownership', 'TXT', `_postrider.${name}`, `${OWNERSHIP}${ownership_token}`, true));
  }
  for (const key of keys) {
    // Every receiver checks RSA; an Ed25519 signature is optional, because some do not support it.
    const required = key.algorithm === 'rsa' && key.role === 'active';
    records.push({ ...record('dkim', 'TXT', dkimName(key, name), dkimValue(key), required), key_id: key.id });
  }
  // The domain of the service's own return path cannot point to itself: it publishes the records of that path.
  const alias = hosts.return_path_domain === return_path ? null : hosts.return_path_domain;
  if (return_path !== null) {
    records.push(
      alias !== null
        ? record('return_path', 'CNAME', return_path, alias)
        : record('return_path', 'MX', return_path, `10 ${hosts.helo_name}`),
    );
  }
  // Receivers look up SPF at the envelope domain; a CNAME excludes other records.
  const envelope = return_path === null || alias !== null ? name : return_path;
  records.push(record('spf', 'TXT', envelope, `v=spf1 a:${hosts.helo_name} ~all`));
  records.push(record('dmarc', 'TXT', `_dmarc.${name}`, 'v=DMARC1; p=none'));
  return records;
}

// A local host name, or an address where a name is required.
const NOT_PUBLIC = /(?:^10 |^v=spf1 a:)((?:[\w.-]+\.)?localhost|[\d.]+|\[[\da-f:.]+\])(?: |$)/;

/** Returns advice if records would name this service by a name that is not public; null otherwise. */
export function serverNameAdvice(
  records: readonly { readonly purpose: string; readonly value: string }[],
): string | null {
  for (const { purpose, value } of records) {
    const name = purpose === 'spf' || purpose === 'return_path' ? NOT_PUBLIC.exec(value)?.[1] : undefined;
    if (name !== undefined) {
      return `Set HELO_NAME to the public name of this server and restart first. Do not publish records that contain ${name}.`;
    }
  }
  return null;
}

export function dkimName(key: Pick<PublishedKey, 'selector'>, domain: string): string {
  return `${key.selector}._domainkey.${domain}`;
}

export function dkimValue(key: Pick<PublishedKey, 'algorithm' | 'public_key'>): string {
  return `v=DKIM1; k=${key.algorithm}; p=${key.public_key}`;
}

/** Parses the tags of a record (RFC 6376 section 3.2 and RFC 7489 section 6.4). */
export function tagsOf(record: string): Map<string, string> {
  return new Map(
    record.split(';').flatMap((tag): [string, string][] => {
      const equals = tag.indexOf('=');
      return equals < 0 ? [] : [[tag.slice(0, equals).trim(), tag.slice(equals + 1).trim()]];
    }),
  );
}
