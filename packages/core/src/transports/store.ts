import type { Sql, Tx } from '@postrider/db';
import type { Priority } from '../priorities/index.ts';

export interface TransportRow {
  readonly id: string;
  /** Null: of the instance. */
  readonly workspace_id: string | null;
  readonly name: string;
  readonly kind: 'mx' | 'smtp';
  readonly host: string | null;
  readonly port: number | null;
  readonly tls: 'opportunistic' | 'starttls' | 'implicit' | 'none' | null;
  readonly username: string | null;
  /** Encrypted. */
  readonly password: Buffer | null;
  readonly envelope_from: 'ours' | 'from_domain';
  readonly signing: 'all' | 'relay_safe' | 'none';
  /** JSON. */
  readonly headers: string;
  readonly max_connections: number | null;
  readonly messages_per_minute: number | null;
  readonly messages_per_day: number | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** How its relay reports what became of email; null: it does not. */
  readonly feedback: string | null;
}

/** A rule of the instance, or of the workspace that it names. */
export interface RuleRow {
  readonly workspace_id: string | null;
  readonly from_domain: string | null;
  readonly tag: string | null;
  readonly priority: Priority | null;
  readonly destination: string | null;
  readonly transports: readonly string[];
}

// The default transport has no row, and an array of uuids has no other place for it.
const DEFAULT_ID = '00000000-0000-0000-0000-000000000000';

const columns = (
  sql: Sql | Tx,
) => sql`id, workspace_id, name, kind, host, port, tls, username, password, envelope_from, signing, headers, max_connections, messages_per_minute, messages_per_day,
  created_at, updated_at`;

const readColumns = (sql: Sql | Tx) => sql`${columns(sql)},
  (select f.provider from transport_feedback f where f.transport_id = transports.id) as feedback`;

/** Returns the transports of the instance or, if one is given, of a workspace. */
export async function allTransports(sql: Sql | Tx, workspace_id: string | null = null): Promise<TransportRow[]> {
  return sql<TransportRow[]>`
    select ${readColumns(sql)} from transports
    where ${workspace_id === null ? sql`workspace_id is null` : sql`workspace_id = ${workspace_id}`} order by name`;
}

/** Returns the transports that these workspaces have of their own. */
export async function transportsOfWorkspaces(sql: Sql, workspace_ids: readonly string[]): Promise<TransportRow[]> {
  return sql<TransportRow[]>`
    select ${readColumns(sql)} from transports where workspace_id = any (${[...workspace_ids]}::uuid[]) order by name`;
}

export async function transportById(sql: Sql | Tx, id: string): Promise<TransportRow | null> {
  const [row] = await sql<TransportRow[]>`select ${readColumns(sql)} from transports where id = ${id}`;
  return row ?? null;
}

/** Prevents concurrent changes, so that a rule cannot name a transport that is deleted meanwhile. */
export async function lockTransports(tx: Tx): Promise<void> {
  await tx`select version from transport_versions for update`;
}

/**
 * Announces a change to all workers, which ask for the version every second. After one of a workspace, they read and
 * judge nothing else.
 */
export async function noteChange(tx: Tx, workspace_id: string | null): Promise<void> {
  if (workspace_id === null) {
    await tx`update transport_versions set version = version + 1`;
    return;
  }
  await tx`
    with changed as (update transport_versions set workspace_version = workspace_version + 1 returning workspace_version)
    insert into workspace_transport_versions (workspace_id, version)
    select ${workspace_id}, workspace_version from changed
    on conflict (workspace_id) do update set version = excluded.version`;
}

export async function putTransport(
  tx: Tx,
  row: Omit<TransportRow, 'created_at' | 'updated_at' | 'feedback'>,
): Promise<TransportRow> {
  const [stored] = await tx<TransportRow[]>`
    insert into transports as t (${columns(tx)})
    values (${row.id}, ${row.workspace_id}, ${row.name}, ${row.kind}, ${row.host}, ${row.port}, ${row.tls}, ${row.username},
      ${row.password}, ${row.envelope_from}, ${row.signing}, ${row.headers}, ${row.max_connections},
      ${row.messages_per_minute}, ${row.messages_per_day}, clock_now(), clock_now())
    on conflict (id) do update set name = excluded.name, host = excluded.host, port = excluded.port, tls = excluded.tls,
      username = excluded.username, password = excluded.password, envelope_from = excluded.envelope_from,
      signing = excluded.signing, headers = excluded.headers, max_connections = excluded.max_connections,
      messages_per_minute = excluded.messages_per_minute, messages_per_day = excluded.messages_per_day,
      updated_at = excluded.updated_at
    returning ${columns(tx)}, (select f.provider from transport_feedback f where f.transport_id = t.id) as feedback`;
  if (!stored) throw new Error('the transport was not stored');
  return stored;
}

export async function dropTransport(tx: Tx, id: string): Promise<void> {
  await tx`delete from transports where id = ${id}`;
}

export async function transportNamed(tx: Tx, workspace_id: string | null, name: string): Promise<string | null> {
  const [row] = await tx<{ id: string }[]>`
    select id from transports where coalesce(workspace_id, no_id()) = coalesce(${workspace_id}::uuid, no_id()) and name = ${name}`;
  return row?.id ?? null;
}

/** Returns the IDs among these that no workspace has. */
export async function missingWorkspaces(sql: Sql | Tx, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select a.id from unnest(${ids}::uuid[]) as a (id) where not exists (select from workspaces w where w.id = a.id)`;
  return new Set(rows.map(({ id }) => id));
}

const ruleColumns = (sql: Sql | Tx) => sql`
  r.workspace_id, r.from_domain, r.tag, r.priority, r.destination,
  (select array_agg(case when t.id = ${DEFAULT_ID}::uuid then 'default' else id_text(t.id) end order by t.place)
    from unnest(r.transports) with ordinality as t (id, place)) as transports`;

/** Returns the rules of the instance, in order. */
export async function allRules(sql: Sql | Tx): Promise<RuleRow[]> {
  return sql<RuleRow[]>`select ${ruleColumns(sql)} from transport_rules r order by r.position`;
}

/** Returns the rules that workspaces have of their own, in order. */
export async function rulesOfWorkspaces(sql: Sql | Tx, workspace_ids: readonly string[]): Promise<RuleRow[]> {
  return sql<RuleRow[]>`
    select ${ruleColumns(sql)} from workspace_transport_rules r where r.workspace_id = any (${[...workspace_ids]}::uuid[])
    order by r.workspace_id, r.position`;
}

export async function replaceWorkspaceRules(tx: Tx, workspace_id: string, rules: readonly RuleRow[]): Promise<void> {
  await tx`delete from workspace_transport_rules where workspace_id = ${workspace_id}`;
  for (const [position, { from_domain, tag, priority, destination, transports }] of rules.entries()) {
    await tx`
      insert into workspace_transport_rules (workspace_id, position, from_domain, tag, priority, destination, transports)
      values (${workspace_id}, ${position + 1}, ${from_domain}, ${tag}, ${priority}::mail_priority, ${destination},
        ${idsOf(transports)}::uuid[])`;
  }
}

const idsOf = (transports: readonly string[]) => transports.map((id) => (id === 'default' ? DEFAULT_ID : id));

export async function replaceRules(tx: Tx, rules: readonly RuleRow[]): Promise<void> {
  await tx`delete from transport_rules`;
  for (const [position, { workspace_id, from_domain, tag, priority, destination, transports }] of rules.entries()) {
    await tx`
      insert into transport_rules (position, workspace_id, from_domain, tag, priority, destination, transports)
      values (${position + 1}, ${workspace_id}, ${from_domain}, ${tag}, ${priority}::mail_priority, ${destination},
        ${idsOf(transports)}::uuid[])`;
  }
}

export interface TransportsVersion {
  /** Of the transports and rules of the instance. */
  readonly version: string;
  /** Whether all parked email has been judged by it. */
  readonly judged: boolean;
  /** Of all workspaces together. */
  readonly workspace_version: string;
}

export async function transportsVersion(sql: Sql): Promise<TransportsVersion> {
  const [row] = await sql<TransportsVersion[]>`
    select version::text as version, judged_version >= version as judged, workspace_version::text as workspace_version
    from transport_versions`;
  return row ?? { version: '0', judged: true, workspace_version: '0' };
}

/** Returns the workspaces whose transports or rules have changed since a version. */
export async function changedWorkspaces(sql: Sql, since: string): Promise<string[]> {
  const rows = await sql<{ workspace_id: string }[]>`
    select workspace_id from workspace_transport_versions where version > ${since}::bigint`;
  return rows.map(({ workspace_id }) => workspace_id);
}

/** Records that all email parked before this version has been judged by it. */
export async function noteJudged(sql: Sql, version: string): Promise<void> {
  await sql`update transport_versions set judged_version = greatest(judged_version, ${version}::bigint)`;
}
