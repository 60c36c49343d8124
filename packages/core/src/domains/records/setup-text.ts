import { getDomain } from 'tldts';
import type { z } from 'zod';
import type { recordSchema } from '../domain-entry.ts';
import { serverNameAdvice } from './dns-records.ts';

type RecordEntry = z.output<typeof recordSchema>;

// RFC 1035 section 3.3: a character-string holds at most 255 octets.
const MAX_STRING_LENGTH = 255;

/** Formats the records as a zone file fragment (RFC 1035 section 5), to paste or import. */
export function zoneFile(name: string, records: readonly RecordEntry[]): string {
  const lines = records
    .filter(({ key_role }) => key_role !== 'retired')
    .map((record) => `${record.host} ${record.ttl} IN ${record.type} ${dataOf(record)}`);
  const advice = serverNameAdvice(records);
  return [...(advice === null ? [] : [`; ${advice}`]), `$ORIGIN ${zoneOf(name)}.`, ...lines, ''].join('\n');
}

function dataOf({ type, value }: RecordEntry): string {
  if (type !== 'TXT') return `${value}.`;
  const strings = value.match(new RegExp(`.{1,${MAX_STRING_LENGTH}}`, 'gs')) ?? [''];
  return strings.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(' ');
}

/** Returns the setup steps for any DNS provider, one sentence each, omitting records that are already right. */
export function setupSteps(name: string, records: readonly RecordEntry[]): string[] {
  const open_records = records.filter(({ status, key_role }) => status !== 'ok' && key_role !== 'retired');
  if (open_records.length === 0) return [];
  const advice = serverNameAdvice(open_records);
  return [
    ...(advice === null ? [] : [advice]),
    `Open the DNS settings for ${zoneOf(name)} at its DNS provider.`,
    ...open_records.map(stepOf),
    'Save without changing other records, then verify the domain. New records can take a few minutes to become visible.',
  ];
}

function stepOf(record: RecordEntry): string {
  const { purpose, status, diagnosis, type, host, value, ttl, hint, required } = record;
  const weight = required ? '' : ' (recommended)';
  if (status === 'pending' || diagnosis === 'missing') {
    const priority = type === 'MX' ? `, priority ${value.split(' ')[0]}` : '';
    const target = type === 'MX' ? value.split(' ')[1] : value;
    return `Add ${type === 'MX' ? 'an' : 'a'} ${type} record${weight}: host ${host}${priority}, value ${target}, TTL ${ttl}.`;
  }
  if (status === 'lookup_error')
    return `The ${type} record with the host ${host}${weight} could not be looked up: ${hint}`;
  // An existing policy or sender list belongs to the owner, so it is edited, not replaced.
  const value_note = purpose === 'spf' || purpose === 'dmarc' ? '' : ` Its value is ${value}`;
  return `Correct the ${type} record with the host ${host}${weight}: ${hint}${value_note}`;
}

function zoneOf(name: string): string {
  return getDomain(name, { allowPrivateDomains: true }) ?? name;
}
