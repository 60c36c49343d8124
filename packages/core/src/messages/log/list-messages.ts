import type { Sql, Tx } from '@postrider/db';
import { z } from 'zod';
import { openStates } from '../../delivery/index.ts';
import { listOf } from '../../fields/wire.ts';
import { accessibleMode } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { operation } from '../../operation/operation.ts';
import { oldestKept } from '../../operation/retention.ts';
import {
  behindId,
  collectBackward,
  collectedPage,
  collectPage,
  type FilteredRows,
  idRange,
} from '../../paging/candidate-pages.ts';
import {
  backwardFields,
  type CursorScope,
  type List,
  pageFields,
  pageReasons,
  readCursor,
  withCursors,
  writeCursor,
} from '../../paging/list.ts';
import { type LogEntry, logEntry, logEntrySchema } from './log-entry.ts';
import { type MessageRow, type RecipientRow, recipientsOf, workersSeen } from './log-store.ts';
import { countFilters, filterFields, filterOf, type MessageFilter, senderDomain } from './messages-filter.ts';
import { type Driver, messagesAmong, rarestDriver, sendersOf } from './messages-filter-store.ts';
import { type KeptPart, keptParts } from './visible-parts.ts';

// A domain with more senders than this accounts for much of its workspace's log, so walking the log finds its messages
// quickly.
const MAX_SENDERS = 32;

const input = z.object({ ...pageFields, ...filterFields });

/** Lists the log of a workspace, newest first. */
export const listMessages = operation({
  name: 'email.logs',
  scope: 'email:logs:read',
  sandbox: true,
  replica: true,
  summary: 'List emails, newest first',
  reasons: [...pageReasons, 'invalid_status', 'invalid_email', 'invalid_domain', 'too_many_tags', 'invalid_timestamp'],
  input,
  output: listOf(logEntrySchema),
  run: (ctx, query) => readLogPage(ctx, query, () => true),
});

/**
 * Lists the same page as listMessages, but leaves the recipients of closed messages empty, because it does not read
 * them.
 */
export const listMessagesAlone = operation({
  name: 'email.logs_alone',
  scope: 'email:logs:read',
  sandbox: true,
  replica: true,
  summary: 'List emails, newest first, without recipients if possible',
  input,
  output: listOf(logEntrySchema),
  run: (ctx, query) => readLogPage(ctx, query, ({ status }) => openStates.some((open) => open === status)),
});

/** Returns the page before a cursor, or the last page of the log; newest first. */
export const listMessagesBackward = operation({
  name: 'email.logs_backward',
  scope: 'email:logs:read',
  sandbox: true,
  replica: true,
  summary: 'List emails from the end of the log',
  input: z.object({ ...backwardFields, ...filterFields }),
  output: listOf(logEntrySchema),
  async run(ctx, { last, before, ...filters }): Promise<List<LogEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'email.logs', workspace_id, filters };
    const cursor = readCursor(scope, before, 'before');
    const id_range = idRange('message', filters, null);
    const range = cursor !== null && cursor >= id_range.from ? { ...id_range, from: behindId(cursor) } : id_range;
    const filter = { ...filterOf(filters), mode: accessibleMode(ctx.actor) };
    const parts = keptParts(range, filter, oldestKept(ctx, 'messages', 'message')).toReversed();
    const { rows, edge } = await collectParts(ctx, parts, last + 1, true);
    const page_rows = rows.slice(-last);
    const recipients = await recipientsByMessage(ctx, page_rows);
    const has_more = rows.length > last || edge !== null;
    const data = page_rows.map((row) => logEntry(row, recipients.get(row.id) ?? []));
    return withCursors(scope, {
      object: 'list',
      data,
      has_more,
      next_cursor: has_more ? writeEdge(scope, page_rows, edge) : null,
    });
  },
});

/** Returns the cursor of the previous page: the first entry, or the last id examined. */
function writeEdge(scope: CursorScope, rows: readonly MessageRow[], edge: string | null): string {
  return writeCursor(scope, edge === null ? (rows[0]?.id ?? '') : edge.slice(0, -1));
}

function allPass(filter: MessageFilter, driver: Driver): boolean {
  if (filter.mode != null) return false;
  const filter_count = countFilters(filter);
  return filter_count === 0 || (filter_count === 1 && driver.kind !== 'all');
}

/** Collects rows from consecutive parts of the log, from either end, up to a page. */
async function collectParts(
  { sql, actor: { workspace_id } }: ActorContext,
  parts: readonly KeptPart[],
  limit: number,
  oldest_first: boolean,
): Promise<FilteredRows<MessageRow>> {
  const collect = oldest_first ? collectBackward : collectPage;
  let rows: readonly MessageRow[] = [];
  for (const { range, filter } of parts) {
    const driver = await rarestDriver(sql, workspace_id, await driversOf(sql, workspace_id, filter), range);
    const batch = await collect(range, limit - rows.length, allPass(filter, driver), (part, count, max) =>
      messagesAmong(sql, workspace_id, driver, filter, part, count, max, oldest_first),
    );
    rows = oldest_first ? [...batch.rows, ...rows] : [...rows, ...batch.rows];
    if (rows.length >= limit || batch.edge !== null) return { rows, edge: batch.edge };
  }
  return { rows, edge: null };
}

async function recipientsByMessage(
  ctx: ActorContext,
  rows: readonly MessageRow[],
): Promise<Map<string, RecipientRow[]>> {
  const ids = rows.map((row) => row.id);
  return ids.length === 0 ? new Map() : recipientsOf(ctx.sql, ctx.actor.workspace_id, ids, await workersSeen(ctx));
}

async function readLogPage(
  ctx: ActorContext,
  { limit, cursor, ...filters }: z.output<typeof input>,
  needsRecipients: (row: MessageRow) => boolean,
): Promise<List<LogEntry>> {
  const { workspace_id } = ctx.actor;
  const scope = { secret_key: ctx.secret_key, list: 'email.logs', workspace_id, filters };
  const range = idRange('message', filters, readCursor(scope, cursor));
  const mode = accessibleMode(ctx.actor);
  const filter = { ...filterOf(filters), mode };
  const parts = keptParts(range, filter, oldestKept(ctx, 'messages', 'message'));
  const page = await collectParts(ctx, parts, limit + 1, false);
  const recipients = await recipientsByMessage(ctx, page.rows.slice(0, limit).filter(needsRecipients));
  return collectedPage(scope, page, limit, (row) => logEntry(row, recipients.get(row.id) ?? []));
}

/** Returns one index walk per filter, or one walk of the whole log if there are no filters. */
export async function driversOf(
  sql: Sql | Tx,
  workspace_id: string,
  filter: MessageFilter,
): Promise<readonly [Driver, ...Driver[]]> {
  const { statuses, tags, to, from, priority } = filter;
  const [first, ...others]: Driver[] = [
    ...(statuses === null ? [] : [{ kind: 'status' as const, statuses }]),
    ...tags.map((tag) => ({ kind: 'tag' as const, tag })),
    ...(to === null ? [] : [{ kind: 'recipient' as const, email: to }]),
    ...(from === null ? [] : [{ kind: 'sender' as const, domain: senderDomain(from), emails: [from] }]),
    ...(priority === null || priority === 'normal' ? [] : [{ kind: 'priority' as const, priority }]),
    ...(await domainDrivers(sql, workspace_id, filter)),
  ];
  return first ? [first, ...others] : [{ kind: 'all' }];
}

/** Returns no drivers if `from` is given or the domain has too many senders. */
async function domainDrivers(sql: Sql | Tx, workspace_id: string, { from, domain }: MessageFilter): Promise<Driver[]> {
  if (domain === null || from !== null) return [];
  const emails = await sendersOf(sql, workspace_id, domain, MAX_SENDERS);
  return emails === null ? [] : [{ kind: 'sender', domain, emails }];
}
