import type { Sql, Tx } from '@postrider/db';
import type { KeyRole, NewDkimKey } from './records/dkim-keys.ts';
import type { PublishedKey } from './records/dns-records.ts';
import { type DomainState, type DomainTransitionName, domainTransitions } from './state.ts';

export interface DomainRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly status: DomainState;
  readonly sandbox: boolean;
  readonly ownership_token: string | null;
  readonly return_path: string | null;
  readonly dkim_ed25519: boolean;
  readonly signing_key_ids: readonly string[];
  readonly status_since: Date;
  readonly status_reason: string | null;
  readonly created_at: Date;
  readonly verified_at: Date | null;
  readonly last_checked_at: Date | null;
  readonly next_check_at: Date | null;
  readonly checks: string;
}

const domainColumns = (sql: Sql | Tx) => sql`
  id, workspace_id, name, status, sandbox, ownership_token, return_path, dkim_ed25519, signing_key_ids, status_since,
  status_reason, created_at, verified_at, last_checked_at, next_check_at, checks`;

export interface NewDomain {
  readonly workspace_id: string;
  readonly id: string;
  readonly name: string;
  readonly status: 'pending' | 'verified';
  readonly sandbox: boolean;
  readonly ownership_token: string | null;
  readonly return_path: string | null;
  readonly dkim_ed25519: boolean;
  readonly keys: readonly NewDkimKey[];
  readonly signing_key_ids: readonly string[];
  /** Whether background checks start now. */
  readonly checked: boolean;
}

/** Stores a domain with its keys; returns null if the workspace already has the name. */
export async function insertDomain(tx: Tx, domain: NewDomain): Promise<DomainRow | null> {
  const [row] = await tx<DomainRow[]>`
    insert into domains (workspace_id, id, name, status, sandbox, ownership_token, return_path, dkim_ed25519,
      signing_key_ids, created_at, verified_at, next_check_at)
    values (${domain.workspace_id}, ${domain.id}, ${domain.name}, ${domain.status}, ${domain.sandbox},
      ${domain.ownership_token}, ${domain.return_path}, ${domain.dkim_ed25519}, ${[...domain.signing_key_ids]}::uuid[], clock_now(),
      case when ${domain.status} = 'verified' then clock_now() end,
      case when ${domain.checked}::boolean then clock_now() + interval '1 minute' end)
    on conflict (workspace_id, name) do nothing
    returning ${domainColumns(tx)}`;
  if (!row) return null;
  await insertKeys(tx, domain, domain.keys);
  return row;
}

export async function insertKeys(
  tx: Tx,
  domain: { readonly workspace_id: string; readonly id: string },
  keys: readonly NewDkimKey[],
): Promise<void> {
  for (const key of keys) {
    await tx`
      insert into dkim_keys (workspace_id, domain_id, id, selector, algorithm, public_key, encrypted_private_key, role,
        role_since, wait_seconds, created_at)
      values (${domain.workspace_id}, ${domain.id}, ${key.id}, ${key.selector}, ${key.algorithm}, ${key.public_key},
        ${key.encrypted_private_key}, ${key.role}, clock_now(), ${key.wait_seconds}, clock_now())`;
  }
}

export async function domainByName(sql: Sql | Tx, workspace_id: string, name: string): Promise<DomainRow | null> {
  const [row] = await sql<DomainRow[]>`
    select ${domainColumns(sql)} from domains where workspace_id = ${workspace_id} and name = ${name}`;
  return row ?? null;
}

export async function domainsByIds(sql: Sql, workspace_id: string, ids: readonly string[]): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    select ${domainColumns(sql)} from domains where workspace_id = ${workspace_id} and id = any (${[...ids]}::uuid[])`;
}

export async function domainsByNames(sql: Sql, workspace_id: string, names: readonly string[]): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    select ${domainColumns(sql)} from domains
    where workspace_id = ${workspace_id} and name = any (${[...names]}::text[])`;
}

/** Returns the domain of another workspace that has verified the name, locked. Served by domains_claim. */
export async function lockClaimHolder(tx: Tx, workspace_id: string, name: string): Promise<DomainRow | null> {
  const [row] = await tx<DomainRow[]>`
    select ${domainColumns(tx)} from domains
    where name = ${name} and status in ('verified', 'at_risk') and not sandbox and workspace_id <> ${workspace_id}
    for no key update`;
  return row ?? null;
}

/** Returns a keyset page, newest first, with one extra row that shows whether there is a next page. */
export async function readDomainPage(
  sql: Sql,
  workspace_id: string,
  states: readonly string[] | null,
  before: string | null,
  count: number,
): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    select ${domainColumns(sql)} from domains
    where workspace_id = ${workspace_id} and (${before}::text is null or id < ${before})
      and ${states === null ? sql`true` : sql`status = any (${[...states]}::text[])`}
    order by id desc limit ${count}`;
}

export interface PublicKeyRow extends PublishedKey {
  readonly domain_id: string;
  readonly in_role_ms: number;
  /** How long every check has found its record right; null if the last one did not. */
  readonly right_ms: number | null;
  readonly wait_seconds: number;
}

/** Returns the keys to publish for some domains: active, next, retired; RSA first. */
export async function publicKeysOf(sql: Sql | Tx, domain_ids: readonly string[]): Promise<PublicKeyRow[]> {
  return sql<PublicKeyRow[]>`
    select domain_id, id, selector, algorithm, public_key, role, wait_seconds,
      extract(epoch from clock_now() - role_since)::float8 * 1000 as in_role_ms,
      extract(epoch from clock_now() - right_since)::float8 * 1000 as right_ms
    from dkim_keys
    where domain_id = any (${[...domain_ids]}::uuid[])
    order by domain_id, array_position('{active,next,retired}', role), algorithm desc, id`;
}

/** The finding of a check for a key. */
export interface KeySighting {
  readonly id: string;
  readonly right: boolean;
  /** How long caches may retain another value of that name. */
  readonly wait_seconds: number;
}

export async function recordSightings(tx: Tx, sightings: readonly KeySighting[]): Promise<void> {
  const right_ids = sightings.filter(({ right }) => right).map(({ id }) => id);
  await tx`
    update dkim_keys k set
      right_since = case when k.id = any (${right_ids}::uuid[]) then coalesce(k.right_since, clock_now()) end,
      wait_seconds = greatest(k.wait_seconds, s.wait_seconds)
    from unnest(
      ${sightings.map(({ id }) => id)}::uuid[],
      ${sightings.map(({ wait_seconds }) => wait_seconds)}::integer[]
    ) as s (id, wait_seconds)
    where k.id = s.id`;
}

/** Activates the next keys and retires the active ones, which are retained for messages in transit. */
export async function switchKeys(tx: Tx, domain_id: string): Promise<void> {
  await tx`
    update dkim_keys set role = case role when 'next' then 'active' else 'retired' end, role_since = clock_now()
    where domain_id = ${domain_id} and role in ('next', 'active')`;
}

export async function giveRole(tx: Tx, ids: readonly string[], role: KeyRole): Promise<void> {
  await tx`update dkim_keys set role = ${role}, role_since = clock_now() where id = any (${[...ids]}::uuid[])`;
}

export async function deleteKeys(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx`delete from dkim_keys where id = any (${[...ids]}::uuid[])`;
}

export interface EncryptedKey {
  readonly id: string;
  readonly domain: string;
  readonly selector: string;
  readonly encrypted_private_key: Buffer;
}

/** Returns all keys of all domains, one page at a time by id. */
export async function readEncryptedKeyPage(sql: Sql, after: string, max: number): Promise<EncryptedKey[]> {
  return sql<EncryptedKey[]>`
    select k.id, d.name as domain, k.selector, k.encrypted_private_key
    from dkim_keys k join domains d on d.id = k.domain_id
    where k.id > ${after} order by k.id limit ${max}`;
}

export async function encryptedKeys(sql: Sql, ids: readonly string[]): Promise<EncryptedKey[]> {
  return sql<EncryptedKey[]>`
    select k.id, d.name as domain, k.selector, k.encrypted_private_key
    from dkim_keys k join domains d on d.id = k.domain_id
    where k.id = any (${[...ids]}::uuid[])`;
}

/** Locks a domain and returns the time in its state. */
export async function lockDomain(tx: Tx, id: string): Promise<(DomainRow & { in_state_ms: number }) | null> {
  const [row] = await tx<(DomainRow & { in_state_ms: number })[]>`
    select ${domainColumns(tx)}, extract(epoch from clock_now() - status_since)::float8 * 1000 as in_state_ms
    from domains where id = ${id} for update`;
  return row ?? null;
}

/** Changes the fields under the owner's control. A new return path is not used before a check has found its record. */
export async function changeDomain(
  tx: Tx,
  id: string,
  to: Pick<DomainRow, 'return_path' | 'dkim_ed25519' | 'signing_key_ids'>,
): Promise<void> {
  await tx`
    update domains set
      return_path_ready = return_path_ready and return_path is not distinct from ${to.return_path},
      return_path = ${to.return_path},
      dkim_ed25519 = ${to.dkim_ed25519},
      signing_key_ids = ${[...to.signing_key_ids]}::uuid[]
    where id = ${id}`;
}

export interface CheckedFacts {
  readonly checks: string;
  readonly status_reason: string | null;
  readonly signing_key_ids: readonly string[];
  readonly return_path_ready: boolean | null;
}

/** Stores the findings of a check without changing the state. A null keeps the stored value. */
export async function recordCheck(tx: Tx, id: string, facts: CheckedFacts): Promise<DomainRow | null> {
  const [row] = await tx<DomainRow[]>`
    update domains set
      checks = ${facts.checks},
      status_reason = case when status = 'suspended' then status_reason else ${facts.status_reason} end,
      signing_key_ids = ${[...facts.signing_key_ids]}::uuid[],
      return_path_ready = coalesce(${facts.return_path_ready}::boolean, return_path_ready),
      last_checked_at = clock_now()
    where id = ${id}
    returning ${domainColumns(tx)}`;
  return row ?? null;
}

/** Schedules the next background check; null means never. The interval counts from the last state change. */
export async function scheduleCheck(tx: Tx, id: string, in_ms: number | null): Promise<DomainRow | null> {
  const [row] = await tx<DomainRow[]>`
    update domains set next_check_at = clock_now() + ${in_ms}::float8 * interval '1 millisecond'
    where id = ${id} returning ${domainColumns(tx)}`;
  return row ?? null;
}

/**
 * Claims the longest overdue domain of each workspace, except busy workspaces, for the duration of a check; after that
 * another process may claim it. Served by domains_due.
 */
export async function takeDueDomains(
  sql: Sql,
  busy: readonly string[],
  count: number,
  hold_ms: number,
): Promise<DomainRow[]> {
  return sql<DomainRow[]>`
    update domains set next_check_at = clock_now() + ${hold_ms}::float8 * interval '1 millisecond'
    where id = any (array(
      select d.id from (
        select distinct on (workspace_id) id, next_check_at from domains
        where next_check_at <= clock_now() and workspace_id <> all (${busy}::uuid[])
        order by workspace_id, next_check_at
      ) first join domains d on d.id = first.id
      -- Another process may have claimed it since.
      where d.next_check_at <= clock_now()
      order by first.next_check_at limit ${count} for update of d skip locked
    ))
    returning ${domainColumns(sql)}`;
}

/**
 * Moves a domain to another state, in the only UPDATE of that column. Returns null if the domain was removed or is not
 * in a start state of the transition. Without a reason, the old one is kept.
 */
export async function moveDomain(
  tx: Tx,
  name: DomainTransitionName,
  id: string,
  reason?: string,
): Promise<DomainRow | null> {
  const { from, to } = domainTransitions[name];
  const [row] = await tx<DomainRow[]>`
    update domains set
      status = ${to},
      status_since = clock_now(),
      status_reason = coalesce(${reason ?? null}::text, status_reason),
      verified_at = case when ${to} = 'verified' and status <> 'at_risk' then clock_now() else verified_at end
    where id = ${id} and status = any (${[...from]}::text[])
    returning ${domainColumns(tx)}`;
  return row ?? null;
}

/** Deletes a domain with its keys; returns whether it existed. */
export async function deleteDomain(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx`delete from domains where id = ${id} returning id`;
  return rows.length > 0;
}
