import type { Tx } from '@postrider/db';

interface Author {
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly actor_name: string;
  readonly face: string;
  readonly address: string | null;
  readonly request_id: string;
}

interface NewEntry {
  readonly workspace_id: string;
  readonly id: string;
  readonly action: string;
  readonly target_id: string;
  readonly diff: string | null;
  readonly reason: string | null;
}

/** Chains in the order of their names, so that two who write to the same ones wait for each other in one order. */
export async function appendAudit(tx: Tx, author: Author, entries: readonly NewEntry[]): Promise<void> {
  await tx`
    insert into audit_log (workspace_id, id, sequence, at, actor_kind, actor_id, actor_name, face, action, target_id,
      diff, reason, address, request_id, previous_hash, hash)
    select a.workspace_id, a.id, 0, clock_now(), ${author.actor_kind}, ${author.actor_id},
      coalesce((select k.name from api_keys k where k.id = ${author.actor_id}), ${author.actor_name}),
      ${author.face}, a.action, a.target_id, a.diff, a.reason, ${author.address}, ${author.request_id}, '', ''
    from unnest(
      ${entries.map((entry) => entry.workspace_id)}::text[],
      ${entries.map((entry) => entry.id)}::text[],
      ${entries.map((entry) => entry.action)}::text[],
      ${entries.map((entry) => entry.target_id)}::text[],
      ${entries.map((entry) => entry.diff)}::text[],
      ${entries.map((entry) => entry.reason)}::text[]
    ) with ordinality as a (workspace_id, id, action, target_id, diff, reason, place)
    order by a.workspace_id, a.place`;
}
