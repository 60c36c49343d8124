import type { Tx } from '@postrider/db';

export interface CreatedKeyRow {
  readonly id: string;
  readonly name: string;
  readonly workspace_id: string;
}

/** Returns the keys that work and that a user has created or rotated, as the audit log says. */
export async function keysCreatedBy(tx: Tx, user_id: string, count: number): Promise<CreatedKeyRow[]> {
  return tx<CreatedKeyRow[]>`
    select k.id, k.name, k.workspace_id from api_keys k
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_now()) and exists (
      select from audit_log a
      where uuid_hash(a.workspace_id) = uuid_hash(k.workspace_id) and a.workspace_id = k.workspace_id
        and a.target_id = k.id and a.actor_id = ${user_id} and a.actor_kind = 'user'
        and a.action in ('api_key.created', 'api_key.rotated'))
    order by k.id limit ${count}`;
}
