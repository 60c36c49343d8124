import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { ActorContext } from '../context.ts';
import { type CursorScope, readCursor, writeCursor } from '../list.ts';
import { operation } from '../operation.ts';
import { sideInReach } from '../reach.ts';
import { type AuditEntry, auditEntry } from './audit-entry.ts';
import { chainField } from './chain.ts';
import { auditBehind, auditHead } from './store.ts';

const POLL_MS = 500;
const STEP = 100;

export interface FollowedEntry {
  readonly node: AuditEntry;
  /** Follow with it to go on from here. */
  readonly cursor: string;
}

/**
 * The entries of a chain as they come, or from behind a cursor on; null now and then, while nothing comes. Places in a
 * chain are given in the order of the commits, so none is missed and none comes twice.
 */
export const followAudit = operation({
  name: 'audit.follow',
  scope: null,
  summary: 'Follow the audit log as it grows',
  input: z.object({ chain: chainField, after: z.string().optional() }),
  output: z.custom<AsyncGenerator<FollowedEntry | null>>(),
  async run(ctx, { chain, after }): Promise<AsyncGenerator<FollowedEntry | null>> {
    const workspace_id = sideInReach(ctx, chain);
    const scope = { secret_key: ctx.secret_key, list: 'audit.follow', workspace_id, filters: {} };
    const position = readCursor(scope, after);
    const behind = position === null ? (await auditHead(ctx.sql, workspace_id)).sequence : Number(position);
    return follow(ctx, scope, behind);
  },
});

async function* follow(ctx: ActorContext, scope: CursorScope, begin: number): AsyncGenerator<FollowedEntry | null> {
  let behind = begin;
  for (;;) {
    const rows = await auditBehind(ctx.sql, scope.workspace_id, behind, STEP);
    for (const row of rows) {
      behind = row.sequence;
      yield { node: auditEntry(row), cursor: writeCursor(scope, String(behind)) };
    }
    if (rows.length === STEP) continue;
    yield null;
    await pause(POLL_MS);
  }
}
