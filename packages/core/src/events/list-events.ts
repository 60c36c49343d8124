import { z } from 'zod';
import { timestampField } from '../fields/timestamp-field.ts';
import { listOf } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { issueFor } from '../operation/parse-input.ts';
import { retainedRange } from '../operation/retention.ts';
import { collectedPage, collectPage, idRange } from '../paging/candidate-pages.ts';
import { type List, pageFields, pageReasons, readCursor } from '../paging/list.ts';
import { type EventType, eventTypes } from './catalogue.ts';
import { type EventEntry, eventEntry, eventSchema } from './event-entry.ts';
import { eventEntries } from './read-events.ts';
import { areUncommon, readEventPage } from './store.ts';

const typeText = z.string().meta({
  description: `One or more of these, comma-separated: ${eventTypes.join(', ')}.`,
  examples: ['email.bounced'],
});

export const eventTypeField = typeText.transform((text, context) => {
  const types = text.split(',').map((part) => part.trim());
  const known = types.filter((type): type is EventType => eventTypes.some((one) => one === type));
  if (known.length === types.length) return [...new Set(known)].sort();
  context.addIssue(issueFor('invalid_type', `type must be one or a comma-separated list of ${eventTypes.join(', ')}.`));
  return z.NEVER;
});

export const eventFilterFields = {
  type: eventTypeField.optional(),
  email_id: z.string().max(64).optional().meta({ description: 'Only events of this email.' }),
};

/** Lists events, newest first; since is inclusive, until exclusive. */
export const listEvents = operation({
  name: 'events.list',
  scope: 'email:logs:read',
  sandbox: true,
  replica: true,
  summary: 'List events, newest first, as an alternative to webhooks',
  reasons: [...pageReasons, 'invalid_timestamp'],
  input: z.object({
    ...pageFields,
    ...eventFilterFields,
    since: timestampField('since').optional().meta({ description: 'At or after this time.' }),
    until: timestampField('until').optional().meta({ description: 'Before this time.' }),
  }),
  output: listOf(eventSchema),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<EventEntry>> {
    const { workspace_id } = ctx.actor;
    const scope = { secret_key: ctx.secret_key, list: 'events', workspace_id, filters };
    const range = retainedRange(ctx, 'events', 'event', idRange('event', filters, readCursor(scope, cursor)));
    const filter = {
      types: filters.type ?? null,
      message_id: filters.email_id ?? null,
      mode: accessibleMode(ctx.actor),
    };
    const all_pass =
      filter.mode === null && (filter.types === null || (filter.message_id === null && areUncommon(filter.types)));
    const page = await collectPage(range, limit + 1, all_pass, (part, count, max_rows) =>
      readEventPage(ctx.sql, workspace_id, filter, part, count, max_rows),
    );
    const rows = page.rows.slice(0, limit);
    const entries = await eventEntries(ctx, rows);
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    return collectedPage(scope, page, limit, (row) => byId.get(row.id) ?? eventEntry(row, undefined, undefined));
  },
});
