import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { timestampField } from '../fields/timestamp-field.ts';
import { listOf } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { retainedRange } from '../operation/retention.ts';
import { collectedPage, collectPage, idRange } from '../paging/candidate-pages.ts';
import { type List, pageFields, pageReasons, readCursor } from '../paging/list.ts';
import { requireStillAdmitted } from '../people/index.ts';
import { type CaptureEntry, captureEntry, captureSchema } from './capture-entry.ts';
import { capturesAmong } from './store.ts';

const MAX_WAIT = 30;
const POLL_MS = 250;

/** Parsed by hand, because numbers in a query string are text. */
const waitField = z
  .unknown()
  .meta({
    type: 'integer',
    minimum: 0,
    maximum: MAX_WAIT,
    default: 0,
    description: 'Seconds to wait for the first match.',
  })
  .transform((value, context) => {
    const seconds = typeof value === 'string' && /^\d{1,2}$/.test(value) ? Number(value) : value;
    if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_WAIT) return seconds;
    context.addIssue(issueFor('invalid_type', `wait must be a whole number of seconds from 0 to ${MAX_WAIT}.`));
    return z.NEVER;
  });

const part = (description: string) => z.string().max(320).optional().meta({ description });

const input = z.object({
  ...pageFields,
  to: part('Part of a recipient, case-insensitive.'),
  from: part('Part of the sender, case-insensitive.'),
  subject: part('Part of the subject, case-insensitive.'),
  since: timestampField('since').optional().meta({ description: 'Received at or after this time.' }),
  wait: waitField.default(0),
});

/** Lists captured messages, newest first. A test can wait in this call for the messages it triggered. */
export const listCaptures = operation({
  name: 'captures.list',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'List captured email, newest first, or wait for the first match',
  reasons: [...pageReasons, 'invalid_email', 'invalid_timestamp'],
  input,
  output: listOf(captureSchema),
  async run(ctx, { wait, ...filters }): Promise<List<CaptureEntry>> {
    const until = performance.now() + wait * 1000;
    for (;;) {
      const page = await readCapturePage(ctx, filters);
      if (page.data.length > 0 || performance.now() >= until) return page;
      await pause(POLL_MS);
      await requireStillAdmitted(ctx);
    }
  },
});

async function readCapturePage(
  ctx: ActorContext,
  { limit, cursor, since, ...filters }: Omit<z.output<typeof input>, 'wait'>,
): Promise<List<CaptureEntry>> {
  const { workspace_id } = ctx.actor;
  const scope = { secret_key: ctx.secret_key, list: 'captures', workspace_id, filters: { ...filters, since } };
  const range = retainedRange(ctx, 'captures', 'capture', idRange('capture', { since }, readCursor(scope, cursor)));
  const sandbox_only = accessibleMode(ctx.actor) === 'sandbox';
  const { to, from, subject } = filters;
  const filter = {
    to: to?.toLowerCase() ?? null,
    from: from?.toLowerCase() ?? null,
    subject: subject?.toLowerCase() ?? null,
    sandbox_only,
  };
  const all_pass = !to && !from && !subject && !sandbox_only;
  const page = await collectPage(range, limit + 1, all_pass, (rest, count, max_rows) =>
    capturesAmong(ctx.sql, workspace_id, filter, rest, count, max_rows),
  );
  return collectedPage(scope, page, limit, captureEntry);
}
