import type { Sql, Tx } from '@postrider/db';

/** Work that is queued as rows and committed slice by slice. */
export const turnLines = {
  erasures: { key: 'id', open: "status <> 'completed'" },
  webhook_recoveries: { key: 'webhook_id', open: 'true' },
} as const;
export type TurnLine = keyof typeof turnLines;

export interface Turn {
  readonly key: string;
  readonly workspace_id: string;
}

/**
 * Locks the first due row of the workspace whose last slice was longest ago. Reads open rows only. Skips workspaces
 * with a slice running in another process.
 */
export async function lockNextTurn(tx: Tx, line: TurnLine): Promise<Turn | null> {
  const key = tx(turnLines[line].key);
  const open = tx.unsafe(turnLines[line].open);
  const [row] = await tx<Turn[]>`
    select w.${key} as key, w.workspace_id from (
      select distinct on (o.workspace_id) o.${key}, t.had_at
      from ${tx(line)} o left join workspace_turns t on t.line = ${line} and t.workspace_id = o.workspace_id
      where ${open} and (o.due_at is null or o.due_at <= clock_now())
      order by o.workspace_id, o.${key}
    ) next
    join ${tx(line)} w on w.${key} = next.${key}
    where ${open}
    order by next.had_at nulls first, next.${key} limit 1 for update of w skip locked`;
  return row ?? null;
}

/** Moves a workspace to the end of its queue. */
export async function endTurn(tx: Tx, line: TurnLine, workspace_id: string): Promise<void> {
  await tx`
    insert into workspace_turns (line, workspace_id, had_at) values (${line}, ${workspace_id}, clock_now())
    on conflict (line, workspace_id) do update set had_at = excluded.had_at`;
}

/** Postpones a row until wait_ms from now. */
export async function postpone(sql: Sql | Tx, line: TurnLine, key: string, wait_ms: number): Promise<void> {
  await sql`
    update ${sql(line)} set due_at = clock_now() + ${wait_ms}::float8 * interval '1 millisecond'
    where ${sql(turnLines[line].key)} = ${key}`;
}

/** Serializes additions to one workspace's queue, so that a count taken afterward stays valid until the commit. */
export async function lockEntries(tx: Tx, line: TurnLine, workspace_id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`entries of ${workspace_id} in ${line}`}, 0))`;
}
