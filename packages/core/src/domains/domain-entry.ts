import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import type { Config } from '../process/config.ts';
import { isRelayed } from '../transports/index.ts';
import { adviceOf, diagnoses, diagnosisNames, type Finding, recordStatuses } from './records/diagnose.ts';
import { keyRoles } from './records/dkim-keys.ts';
import {
  type ExpectedRecord,
  type Hosts,
  type PublishedKey,
  purposes,
  type Site,
  serverNameAdvice,
  wantedRecords,
  wantedTypes,
} from './records/dns-records.ts';
import { sendableProblem } from './require-sendable.ts';
import { domainStates } from './state.ts';
import type { DomainRow } from './store.ts';

const TTL_SECONDS = 3600;

const observationFields = {
  resolver: z.string().meta({ description: 'The address of the name server.', examples: ['192.0.2.53'] }),
  authoritative: z.boolean().meta({ description: 'Whether the server is authoritative for the zone, not a cache.' }),
  values: z.array(z.string()).readonly().meta({ description: 'The first five.' }),
  ttl: z.number().nullable().meta({ description: 'In seconds; null if not found.' }),
};

export const recordSchema = z
  .object({
    purpose: z.enum(purposes).meta({ description: 'ownership proves that you control the domain.' }),
    required: z.boolean().meta({ description: 'Whether verification requires this record.' }),
    type: z.enum(wantedTypes).meta({ description: 'DNS record type.' }),
    host: z.string().meta({ description: 'As entered at a DNS provider: without the zone, @ for the zone itself.' }),
    fqdn: z.string().meta({ description: 'The full name, without a trailing dot.' }),
    value: z.string().meta({ description: 'The value to publish.' }),
    ttl: z.int().meta({ description: 'Recommended TTL in seconds.' }),
    status: z.enum(recordStatuses).meta({ description: 'Result of the last check. pending: not checked yet.' }),
    found: z.array(z.string()).readonly().meta({ description: 'Values found by the last check.' }),
    observed: z
      .array(
        z.object({ ...observationFields, checked_at: timeField.meta({ description: 'When the record was checked.' }) }),
      )
      .readonly()
      .meta({
        description:
          'The results by name server, authoritative first. Caches are only queried if the authoritative record is correct.',
      }),
    diagnosis: z
      .enum(diagnosisNames)
      .nullable()
      .meta({ description: 'The exact problem; null before the first check.' }),
    hint: z.string().nullable().meta({ description: 'How to fix it.' }),
    key_role: z.enum(keyRoles).nullable().meta({
      description: 'For a dkim record: whether its key signs, will sign, or signed email that is still in transit.',
    }),
  })
  .meta({ id: 'DnsRecord' });

/** A domain as every API returns it, never with private keys. */
export const domainSchema = z
  .object({
    object: objectName('domain'),
    id: idField(idPrefixes.domain),
    name: z.string().meta({ description: 'In lowercase ASCII (Punycode).', examples: ['example.com'] }),
    status: z
      .enum(domainStates)
      .meta({ description: 'at_risk: a required record is missing or wrong; fails after 72 hours.' }),
    can_send: z.boolean().meta({ description: 'Whether live email from this domain is accepted.' }),
    status_reason: z.string().nullable().meta({ description: 'The reason for the status.' }),
    return_path: z.string().nullable().meta({ description: 'The return path for bounces; null: the service default.' }),
    dkim_ed25519: z.boolean().meta({ description: 'Whether email gets a second DKIM signature (Ed25519).' }),
    created_at: timeField.meta({ description: 'When the domain was added.' }),
    verified_at: timeField.nullable().meta({ description: 'When it last became verified. null: never.' }),
    last_checked_at: timeField.nullable().meta({ description: 'When its DNS records were last checked. null: never.' }),
    next_check_at: timeField.nullable().meta({ description: 'When the next automatic check is due. null: none.' }),
    dns_records: z
      .array(recordSchema)
      .readonly()
      .meta({ description: 'The records to publish. Empty for the sandbox domain.' }),
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
/** Findings of a check, keyed by checkName. */
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
  const records = row.sandbox ? [] : wantedRecords(row, keys, hostsOf(config, public_url));
  return {
    object: 'domain',
    id: row.id,
    name: row.name,
    status: row.status,
    can_send: sendableProblem(row.name, row, 'live', config) === null,
    status_reason: row.sandbox
      ? 'Sandbox domain: sends only with DELIVERY=capture or a sandbox key.'
      : row.status_reason,
    return_path: row.return_path,
    dkim_ed25519: row.dkim_ed25519,
    created_at: isoTime(row.created_at),
    verified_at: row.verified_at && isoTime(row.verified_at),
    last_checked_at: row.last_checked_at && isoTime(row.last_checked_at),
    next_check_at: row.next_check_at && isoTime(row.next_check_at),
    dns_records: records.map((record) => recordEntry(record, checks[checkName(record)], keys, row.last_checked_at)),
  };
}

/** Returns a record with its finding. */
export function recordEntry(
  record: ExpectedRecord,
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

/**
 * Returns the advice for a record. If the record is missing, advice about a host of this service that is not public
 * comes first.
 */
function hintOf(record: ExpectedRecord, finding: Finding | undefined): string | null {
  const absent = !finding || finding.diagnosis === 'missing';
  return (absent ? serverNameAdvice([record]) : null) ?? adviceOf(record, finding);
}

function hostsOf(config: Config, public_url: string): Hosts {
  return {
    helo_name: (config.HELO_NAME ?? hostOf(public_url) ?? 'localhost').toLowerCase(),
    return_path_domain: config.RETURN_PATH_DOMAIN?.toLowerCase() ?? null,
  };
}

/** Returns what the records of a workspace's domain are judged by. */
export async function siteOf(
  services: Pick<Services, 'sql' | 'config' | 'public_url'>,
  workspace_id: string,
  from_domain: string,
): Promise<Site> {
  const relayed = await isRelayed(services, { workspace_id, from_domain });
  return { ...hostsOf(services.config, services.public_url), relayed };
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
    `No domain ${name.slice(0, 80)} in this workspace. List domains with GET /v1/domains.`,
  );
}
