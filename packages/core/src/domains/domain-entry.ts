import { z } from 'zod';
import { isoTime } from '../clock.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import { idField, timeField } from '../wire.ts';
import { adviceOf, diagnoses, diagnosisNames, type Finding, recordStatuses } from './diagnose.ts';
import {
  keyRoles,
  type PublishedKey,
  purposes,
  type Site,
  serverNameAdvice,
  type WantedRecord,
  wantedRecords,
  wantedTypes,
} from './dns-records.ts';
import { sendableProblem } from './require-sendable.ts';
import { domainStates } from './state.ts';
import type { DomainRow } from './store.ts';

const TTL_SECONDS = 3600;

const observationFields = {
  resolver: z.string().meta({ examples: ['192.0.2.53'] }),
  authoritative: z.boolean().meta({ description: 'Whether it is a server of the zone, and no cache.' }),
  values: z.array(z.string()).readonly().meta({ description: 'The first five.' }),
  ttl: z.number().nullable().meta({ description: 'In seconds; null where nothing was there.' }),
};

export const recordSchema = z
  .object({
    purpose: z.enum(purposes),
    required: z.boolean().meta({ description: 'Whether the domain is verified only with it.' }),
    type: z.enum(wantedTypes),
    host: z.string().meta({ description: 'As providers ask for it: without the zone, @ for the zone itself.' }),
    fqdn: z.string(),
    value: z.string(),
    ttl: z.int(),
    status: z.enum(recordStatuses),
    found: z.array(z.string()).readonly().meta({ description: 'What the last check saw there.' }),
    observed: z
      .array(z.object({ ...observationFields, checked_at: timeField }))
      .readonly()
      .meta({
        description:
          'The same by name server, one of the zone first; a cache is asked where the record is right there.',
      }),
    diagnosis: z
      .enum(diagnosisNames)
      .nullable()
      .meta({ description: 'What exactly is the matter; null before the first check.' }),
    hint: z.string().nullable().meta({ description: 'What to do about it, for people.' }),
    key_role: z.enum(keyRoles).nullable().meta({
      description: 'Of a dkim record: whether its key signs, will sign, or has signed mail that is still on its way.',
    }),
  })
  .meta({ id: 'DnsRecord' });

/** A domain as every face shows it; its private keys are shown nowhere. */
export const domainSchema = z
  .object({
    object: z.literal('domain'),
    id: idField(idPrefixes.domain),
    name: z.string().meta({ examples: ['example.com'] }),
    status: z.enum(domainStates),
    can_send: z.boolean(),
    status_reason: z.string().nullable().meta({ description: 'Why it is as it is, for people.' }),
    created_at: timeField,
    verified_at: timeField.nullable(),
    last_checked_at: timeField.nullable(),
    next_check_at: timeField.nullable(),
    dns_records: z.array(recordSchema).readonly(),
  })
  .meta({ id: 'Domain' });
export type DomainEntry = z.output<typeof domainSchema>;

const checksSchema = z.record(
  z.string(),
  z.object({
    diagnosis: z.enum(diagnosisNames),
    found: z.array(z.string()).readonly(),
    detail: z.string().nullable(),
    ttl_seconds: z.number().nullable(),
    observed: z.array(z.object(observationFields)).readonly(),
  }),
);
/** What a check saw, by checkName. */
export type Checks = z.output<typeof checksSchema>;

export function readChecks(text: string): Checks {
  return checksSchema.parse(JSON.parse(text));
}

export function checkName({ type, fqdn, purpose }: { type: string; fqdn: string; purpose: string }): string {
  return `${purpose} ${type} ${fqdn}`;
}

export function domainEntry(
  row: DomainRow,
  keys: readonly PublishedKey[],
  { config, public_url }: { readonly config: Config; readonly public_url: string },
): DomainEntry {
  const checks = readChecks(row.checks);
  const records = row.sandbox ? [] : wantedRecords(row, keys, siteOf(config, public_url));
  return {
    object: 'domain',
    id: row.id,
    name: row.name,
    status: row.status,
    can_send: sendableProblem(row.name, row, 'live', config) === null,
    status_reason: row.sandbox ? 'The sandbox: sends with DELIVERY=capture or a sandbox key only.' : row.status_reason,
    created_at: isoTime(row.created_at),
    verified_at: row.verified_at && isoTime(row.verified_at),
    last_checked_at: row.last_checked_at && isoTime(row.last_checked_at),
    next_check_at: row.next_check_at && isoTime(row.next_check_at),
    dns_records: records.map((record) => recordEntry(record, checks[checkName(record)], keys, row.last_checked_at)),
  };
}

/** A record as it is shown, with what was found of it. */
export function recordEntry(
  record: WantedRecord,
  finding: Finding | undefined,
  keys: readonly PublishedKey[],
  checked_at: Date | null,
): z.output<typeof recordSchema> {
  const { purpose, required, type, host, fqdn, value, key_id } = record;
  const key_role = keys.find(({ id }) => id === key_id)?.role ?? null;
  return {
    purpose,
    required,
    type,
    host,
    fqdn,
    value,
    ttl: TTL_SECONDS,
    status: finding ? diagnoses[finding.diagnosis].status : 'pending',
    found: finding?.found ?? [],
    observed: checked_at && finding ? finding.observed.map((one) => ({ ...one, checked_at: isoTime(checked_at) })) : [],
    diagnosis: finding?.diagnosis ?? null,
    hint: key_role === 'retired' ? null : hintOf(record, finding),
    key_role,
  };
}

/** Nobody is told to publish what only this machine understands. */
function hintOf(record: WantedRecord, finding: Finding | undefined): string | null {
  const absent = !finding || finding.diagnosis === 'missing';
  return (absent ? serverNameAdvice([record]) : null) ?? adviceOf(record, finding);
}

/** What the records of a domain point at. */
export function siteOf(config: Config, public_url: string): Site {
  return {
    helo_name: (config.HELO_NAME ?? hostOf(public_url) ?? 'localhost').toLowerCase(),
    return_path_domain: config.RETURN_PATH_DOMAIN?.toLowerCase() ?? null,
    relayed: config.DELIVERY.every((transport) => transport.kind === 'smtp'),
  };
}

export function ownHosts(config: Config, public_url: string): string[] {
  return [config.HELO_NAME?.toLowerCase(), hostOf(public_url)].filter((host) => host !== undefined);
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

export function domainNotFound(name: string): AppError {
  return new AppError(
    'domain_not_found',
    `No domain ${name.slice(0, 80)} exists in this workspace; GET /v1/domains lists them.`,
  );
}
