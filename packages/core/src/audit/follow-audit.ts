import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { accessibleSide } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { type CursorScope, readCursor, writeCursor } from '../paging/list.ts';
import { type AuditEntry, auditEntry } from './audit-entry.ts';
import { chainField } from './chain.ts';
import { auditBehind, auditHead } from './store.ts';

const POLL_MS = 500;
const STEP = 100;

export interface FollowedEntry {
  readonly node: AuditEntry;
  /** Cursor to resume from. */
  readonly cursor: string;
}

/**
 * Streams the entries of a chain as they are committed, or from a cursor; null is a keep-alive. Sequences follow commit
 * order, so no entry is missed or repeated.
 */
export const followAudit = operation({
  name: 'audit.follow',
  scope: null,
  summary: 'Follow the audit log as it grows',
  input: z.object({ chain: chainField, after: z.string().optional() }),
  output: z.custom<AsyncGenerator<FollowedEntry | null>>(),
  async run(ctx, { chain, after }): Promise<AsyncGenerator<FollowedEntry | null>> {
    const workspace_id = accessibleSide(ctx, chain);
    const scope = { secret_key: ctx.secret_key, list: 'audit.follow', workspace_id, filters: {} };
    const position = readCursor(scope, after);
    const cursor = position === null ? (await auditHead(ctx.sql, workspace_id)).sequence : Number(position);
    return follow(ctx, scope, cursor);
  },
});

async function* follow(ctx: ActorContext, scope: CursorScope, begin: number): AsyncGenerator<FollowedEntry | null> {
  let cursor = begin;
  for (;;) {
    const rows = await auditBehind(ctx.sql, scope.workspace_id, cursor, STEP);
    for (const row of rows) {
      cursor = row.sequence;
      yield { node: auditEntry(row), cursor: writeCursor(scope, String(cursor)) };
    }
    if (rows.length === STEP) continue;
    yield null;
    await pause(POLL_MS);
  }
}
