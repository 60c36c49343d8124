import type { Fragment, Sql, Tx } from '@postrider/db';
import type { InvitedRole } from './invited-roles.ts';

export interface InvitationRow {
  readonly id: string;
  /** Null for an operator. */
  readonly workspace_id: string | null;
  readonly email: string;
  readonly role: InvitedRole;
  readonly invited_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

export interface OpenedRow extends InvitationRow {
  readonly vouched: boolean;
  readonly workspace_name: string | null;
  readonly status: 'pending' | 'accepted' | 'revoked' | 'expired';
}

const columns = (sql: Sql | Tx) => sql`i.id, i.workspace_id, i.email, i.role, i.invited_by, i.created_at, i.expires_at`;
const pending = (sql: Sql | Tx) => sql`i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_now()`;
const ownedBy = (sql: Sql | Tx, workspace_id: string | null): Fragment =>
  sql`i.workspace_id is not distinct from ${workspace_id}::uuid`;

/** Makes invitations of one workspace wait for each other, so that together they stay within the limit. */
export async function lockInvitations(tx: Tx, workspace_id: string | null): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`invitations ${workspace_id ?? ''}`}, 0))`;
}

/** Counts the emails of the last 24 hours. */
export async function countInvitationEmails(tx: Tx, workspace_id: string | null): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select coalesce(sum(i.email_count), 0)::int as count from invitations i
    where ${ownedBy(tx, workspace_id)} and i.sent_at > clock_now() - interval '1 day'`;
  return row?.count ?? 0;
}

export async function insertInvitation(
  tx: Tx,
  invitation: Pick<InvitationRow, 'id' | 'workspace_id' | 'email' | 'role' | 'invited_by'> & {
    readonly token_hash: Buffer;
    readonly vouched: boolean;
  },
): Promise<InvitationRow> {
  const { id, workspace_id, email, role, invited_by, token_hash, vouched } = invitation;
  await tx`
    update invitations i set revoked_at = clock_now()
    where ${ownedBy(tx, workspace_id)} and i.email = ${email} and i.accepted_at is null and i.revoked_at is null`;
  const [row] = await tx<InvitationRow[]>`
    insert into invitations as i (id, workspace_id, email, role, token_hash, invited_by, vouched, created_at, sent_at,
      expires_at)
    values (${id}, ${workspace_id}, ${email}, ${role}, ${token_hash}, ${invited_by}, ${vouched}, clock_now(),
      clock_now(), clock_now() + interval '7 days')
    returning ${columns(tx)}`;
  if (!row) throw new Error('an invitation was not stored');
  return row;
}

/** Gives a pending invitation another token and seven more days; the earlier link stops working. */
export async function renewInvitation(
  tx: Tx,
  workspace_id: string | null,
  id: string,
  renewal: { readonly token_hash: Buffer; readonly vouched: boolean },
): Promise<InvitationRow | null> {
  const [row] = await tx<InvitationRow[]>`
    update invitations i set token_hash = ${renewal.token_hash}, vouched = i.vouched and ${renewal.vouched},
      email_count = i.email_count + 1, sent_at = clock_now(), expires_at = clock_now() + interval '7 days'
    where i.id = ${id} and ${ownedBy(tx, workspace_id)} and ${pending(tx)}
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function closeInvitation(tx: Tx, workspace_id: string | null, id: string): Promise<InvitationRow | null> {
  const [row] = await tx<InvitationRow[]>`
    update invitations i set revoked_at = clock_now()
    where i.id = ${id} and ${ownedBy(tx, workspace_id)} and ${pending(tx)}
    returning ${columns(tx)}`;
  return row ?? null;
}

export async function readInvitationPage(
  sql: Sql,
  workspace_id: string | null,
  before: string | null,
  count: number,
): Promise<InvitationRow[]> {
  return sql<InvitationRow[]>`
    select ${columns(sql)} from invitations i
    where ${ownedBy(sql, workspace_id)} and ${pending(sql)} and (${before}::text is null or i.id < ${before})
    order by i.id desc limit ${count}`;
}

/** Returns the invitation of a link, also if it can no longer be accepted. */
export async function invitationByToken(sql: Sql | Tx, token_hash: Buffer): Promise<OpenedRow | null> {
  const [row] = await sql<OpenedRow[]>`
    select ${columns(sql)}, i.vouched, w.name as workspace_name,
      case when i.accepted_at is not null then 'accepted' when i.revoked_at is not null then 'revoked'
        when i.expires_at <= clock_now() then 'expired' else 'pending' end as status
    from invitations i left join workspaces w on w.id = i.workspace_id
    where i.token_hash = ${token_hash}`;
  return row ?? null;
}

/** Uses up an invitation; returns false if it is no longer pending. */
export async function takeInvitation(tx: Tx, token_hash: Buffer): Promise<boolean> {
  const rows = await tx`
    update invitations i set accepted_at = clock_now()
    where i.token_hash = ${token_hash} and ${pending(tx)} returning i.id`;
  return rows.length > 0;
}

export async function workspaceName(sql: Sql | Tx, id: string): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select name from workspaces where id = ${id}`;
  return row?.name ?? '';
}

/** Deletes invitations a week after they expired, until when their links say what became of them. */
export async function forgetInvitations(sql: Sql | Tx): Promise<void> {
  await sql`delete from invitations where expires_at < clock_now() - interval '7 days'`;
}
