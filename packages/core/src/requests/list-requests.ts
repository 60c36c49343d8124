import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { idField, listOf } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { isKept, retainedRange } from '../operation/retention.ts';
import { collectedPage, collectPage, idRange } from '../paging/candidate-pages.ts';
import { type List, pageFields, pageReasons, readCursor } from '../paging/list.ts';
import { type RequestEntry, requestEntry, requestNotFound, requestSchema } from './request-entry.ts';
import { requestOf, requestsAmong } from './store.ts';

/** Lists rejected and failed requests of the workspace, newest first; accepted sends are in the message log. */
export const listRequests = operation({
  name: 'requests.list',
  scope: 'admin',
  summary: 'List rejected and failed requests, newest first',
  reasons: [...pageReasons, 'invalid_timestamp'],
  input: z.object({
    ...pageFields,
    reason: z
      .string()
      .max(400)
      .optional()
      .meta({ description: 'One or more reasons, comma-separated.', examples: ['invalid_email'] }),
    api_key_id: idField(idPrefixes.api_key).optional().meta({ description: 'Only requests with this API key.' }),
    since: timestampField('since').optional().meta({ description: 'At or after this time.' }),
    until: timestampField('until').optional().meta({ description: 'Before this time.' }),
  }),
  output: listOf(requestSchema),
  async run(ctx, { limit, cursor, ...filters }): Promise<List<RequestEntry>> {
    const { workspace_id } = ctx.actor;
    const { reason, api_key_id = null, since, until } = filters;
    const scope = { secret_key: ctx.secret_key, list: 'requests', workspace_id, filters };
    const range = retainedRange(
      ctx,
      'requests',
      'request',
      idRange('request', { since, until }, readCursor(scope, cursor)),
    );
    const reasons = reason?.split(',').map((part) => part.trim()) ?? null;
    const filter = { reasons, api_key_id };
    const all_pass = reasons === null && api_key_id === null;
    const page = await collectPage(range, limit + 1, all_pass, (rest, count, max_rows) =>
      requestsAmong(ctx.sql, workspace_id, filter, rest, count, max_rows),
    );
    return collectedPage(scope, page, limit, requestEntry);
  },
});

export const getRequest = operation({
  name: 'requests.get',
  scope: 'admin',
  summary: 'Get a rejected or failed request with its errors and stored body',
  reasons: ['request_not_found'],
  input: z.object({ id: idField(idPrefixes.request) }),
  output: requestSchema,
  async run(ctx, { id }): Promise<RequestEntry> {
    const row = await requestOf(ctx.sql, ctx.actor.workspace_id, id);
    if (!row || !isKept(ctx, 'requests', id)) throw requestNotFound(id);
    return requestEntry(row);
  },
});
