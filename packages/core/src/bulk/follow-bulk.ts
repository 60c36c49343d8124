import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from '@postrider/db';
import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { type BulkEntry, bulkEntry } from './bulk-entry.ts';
import { requireFound } from './find-bulk.ts';
import { type BulkRow, bulkById } from './store.ts';

const POLL_MS = 500;

/** Streams an operation on every change until it ends; null is a keep-alive. */
export const followBulk = operation({
  name: 'bulk.follow',
  scope: null,
  summary: 'Follow a bulk operation until it ends',
  input: z.object({ id: idField(idPrefixes.bulk) }),
  output: z.custom<AsyncGenerator<BulkEntry | null>>(),
  async run(ctx, { id }) {
    return follow(ctx.sql, requireFound(ctx, id, await bulkById(ctx.sql, id)));
  },
});

async function* follow(sql: Sql, bulk: BulkRow): AsyncGenerator<BulkEntry | null> {
  let row = bulk;
  yield bulkEntry(row);
  while (row.finished_at === null) {
    await pause(POLL_MS);
    const next = (await bulkById(sql, row.id)) ?? row;
    yield isSame(row, next) ? null : bulkEntry(next);
    row = next;
  }
}

function isSame(left: BulkRow, right: BulkRow): boolean {
  return (
    left.status === right.status &&
    left.done === right.done &&
    left.failed === right.failed &&
    left.skipped === right.skipped
  );
}
