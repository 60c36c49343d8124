import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { transition } from '../delivery/index.ts';
import { isoTime } from '../fields/clock.ts';
import { idFloor, idPrefixes, idTime, newId } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { holdSchema, keepInstanceHeld } from '../holds/index.ts';
import { dropJobs } from '../messages/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { keyOf } from '../states/index.ts';
import type { KnownSent, KnownState } from './known-sent.ts';
import { endLostLeases, newestBefore, type OpenRecipient, openRecipients, restored, storedAmong } from './store.ts';

const REASON = 'Restored from a backup. Open email may have been sent since.';
const PAGE = 1000;
/** The maximum number listed per category; all are counted. */
const MAX_NAMED = 1000;
// Ids contain the time of the process that created them, and processes' clocks differ slightly.
const CLOCKS_DIFFER_MS = 60_000;

const namedSchema = z.object({ email_id: idField(idPrefixes.message), email: z.string(), known_by: z.string() });
const countedSchema = z.object({ count: z.int(), listed: z.array(namedSchema) });
const missingSchema = z.object({ count: z.int(), listed: z.array(idField(idPrefixes.message)) });
export const restoreCheckSchema = z.object({
  object: objectName('restore_check'),
  hold: holdSchema,
  newest_mail_at: timeField.nullable().meta({ description: 'When the newest email before the hold was accepted.' }),
  live_workers: z.int(),
  open: z.object({ scheduled: z.int(), queued: z.int(), deferred: z.int(), sending: z.int() }),
  open_webhook_deliveries: z.int(),
  open_bulk_operations: z.int(),
  known_sent: countedSchema.meta({ description: 'Open here and sent since.' }),
  perhaps_sent: countedSchema.meta({
    description: 'Like known_sent, but sent to one of several recipients, or an attempt was in progress.',
  }),
  known_ended: countedSchema.meta({
    description: 'Open here, but ended there without being sent, such as canceled. Left open by this check.',
  }),
  unclear_lines: z
    .object({
      count: z.int(),
      listed: z.array(z.object({ log: z.string(), line_number: z.int(), line: z.string() })),
    })
    .meta({
      description: 'Log lines that name an email without saying whether it was sent. They count as not sent.',
    }),
  closed: z.int().meta({ description: 'The part of known_sent that this check closed as delivered.' }),
  missing: missingSchema.meta({
    description:
      'Email accepted after the restore point that is not in this database, and that no source knows as finished.',
  }),
  missing_closed: missingSchema.meta({
    description:
      'Like missing, but sent to every recipient that a log names, or closed in a replica. A log does not show recipients that were still waiting.',
  }),
});
export type RestoreCheck = z.output<typeof restoreCheckSchema>;

interface KnownRecipient {
  readonly recipient: OpenRecipient;
  readonly known: NonNullable<KnownState>;
  readonly by: string;
}

/**
 * Checks a database after a restore, before any process starts: holds the instance until an operator releases it, and
 * compares open recipients with other sources' records of email sent since the restore point.
 */
export const checkRestore = operation({
  name: 'restores.check',
  scope: 'operator',
  summary: 'Hold a restored instance and report what was sent since its backup',
  input: z.object({
    sources: z.array(z.custom<KnownSent>()),
    close: z.boolean().default(false).meta({ description: 'Closes everything in known_sent as delivered.' }),
  }),
  output: restoreCheckSchema,
  async run(ctx, { sources, close }): Promise<RestoreCheck> {
    const hold = await keepInstanceHeld(ctx, REASON);
    const { workers, webhook_deliveries, bulk_operations } = await restored(ctx.sql);
    const open = { scheduled: 0, queued: 0, deferred: 0, sending: 0 };
    const lists = { sent: emptyList(), perhaps: emptyList(), ended: emptyList() };
    let closed = 0;
    if (close) await ctx.sql.begin(endLostLeases);
    for await (const page of pagesOf(ctx)) {
      for (const { state } of page) if (state in open) open[state as keyof typeof open] += 1;
      const verdicts = await judge(page, sources);
      for (const one of verdicts) note(lists[one.known], one);
      const sent = verdicts.filter(({ known }) => known === 'sent');
      if (close) closed += await closeAsSent(ctx, sent);
    }
    const held_at = Date.parse(hold.created_at);
    const newest = await newestBefore(ctx.sql, idFloor('message', held_at));
    const { missing, missing_closed } = await missingAfter(ctx, sources, held_at);
    const diff = { known_sent: lists.sent.count, closed, missing: missing.count, missing_closed: missing_closed.count };
    await ctx.sql.begin((tx) =>
      recordAudit(tx, ctx, [{ action: 'restore.checked', target_id: hold.id, diff, workspace_id: INSTANCE }]),
    );
    return {
      object: 'restore_check',
      hold,
      newest_mail_at: newest === null ? null : isoTime(new Date(idTime(newest))),
      live_workers: workers,
      open,
      open_webhook_deliveries: webhook_deliveries,
      open_bulk_operations: bulk_operations,
      known_sent: lists.sent,
      perhaps_sent: lists.perhaps,
      known_ended: lists.ended,
      unclear_lines: {
        count: sources.reduce((sum, { unclear_lines }) => sum + unclear_lines.count, 0),
        listed: sources.flatMap(({ unclear_lines }) => unclear_lines.listed).slice(0, MAX_NAMED),
      },
      closed,
      missing,
      missing_closed,
    };
  },
});

async function* pagesOf({ sql }: ActorContext): AsyncGenerator<OpenRecipient[]> {
  for (let after: OpenRecipient | null = null; ; ) {
    const page: OpenRecipient[] = await openRecipients(sql, after, PAGE);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1) ?? null;
  }
}

/** Returns the recipients known to any of the sources; a certain answer takes precedence over an uncertain one. */
async function judge(page: readonly OpenRecipient[], sources: readonly KnownSent[]): Promise<KnownRecipient[]> {
  const responses = await Promise.all(sources.map((source) => source.lookup(page)));
  return page.flatMap((recipient, place) => {
    for (const outcome of ['sent', 'perhaps', 'ended'] as const) {
      const index = responses.findIndex((response) => response[place] === outcome);
      const source = sources[index];
      if (source) return [{ recipient, known: outcome, by: source.name }];
    }
    return [];
  });
}

async function closeAsSent(ctx: ActorContext, sent: readonly KnownRecipient[]): Promise<number> {
  const now_ms = ctx.clock.now();
  const moved = await ctx.sql.begin(async (tx) => {
    const closed = await transition(
      tx,
      'find_sent',
      sent.map(({ recipient, by: source }) => {
        const response = `Known as sent by ${source}.`;
        return {
          ...keyOf(recipient),
          event_id: newId('event', now_ms),
          event_facts: { response },
          last_response: response,
        };
      }),
    );
    await dropJobs(
      tx,
      closed,
      sent.map(({ recipient }) => recipient),
    );
    return closed;
  });
  return moved.length;
}

async function missingAfter(
  { sql }: ActorContext,
  sources: readonly KnownSent[],
  held_at: number,
): Promise<Pick<RestoreCheck, 'missing' | 'missing_closed'>> {
  // Messages accepted since the hold say nothing about the backup.
  const newest = await newestBefore(sql, idFloor('message', held_at - CLOCKS_DIFFER_MS));
  const first = idFloor('message', newest === null ? 0 : idTime(newest) - CLOCKS_DIFFER_MS);
  const missing = new Set<string>();
  const closed = new Set<string>();
  for (const source of sources) {
    for (let from = first; ; ) {
      const page = await source.messagesFrom(from, PAGE);
      const stored = await storedAmong(
        sql,
        page.map(({ id }) => id),
      );
      for (const { id, is_closed } of page) if (!stored.has(id)) (is_closed ? closed : missing).add(id);
      const last = page.at(-1)?.id;
      if (page.length < PAGE || last === undefined) break;
      // The last id is read again, which is harmless because the ids go into a set.
      from = last;
    }
  }
  // One source that knows an email as open outweighs any other.
  const finished = [...closed].filter((id) => !missing.has(id));
  return { missing: listOf([...missing]), missing_closed: listOf(finished) };
}

function listOf(ids: readonly string[]): { count: number; listed: string[] } {
  return { count: ids.length, listed: ids.slice(0, MAX_NAMED) };
}

function emptyList(): { count: number; listed: z.output<typeof namedSchema>[] } {
  return { count: 0, listed: [] };
}

function note(list: ReturnType<typeof emptyList>, { recipient, by: source }: KnownRecipient): void {
  list.count += 1;
  if (list.listed.length < MAX_NAMED)
    list.listed.push({ email_id: recipient.message_id, email: recipient.email, known_by: source });
}
