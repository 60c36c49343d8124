import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes, idTime } from '../fields/ids.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { retainedRange } from '../operation/retention.ts';
import { idRange } from '../paging/candidate-pages.ts';
import { readRequestGroups } from './store.ts';

const DAY_MS = 86_400_000;
/** The maximum number of requests counted, newest first; counting that many takes about 20 ms. */
const MAX_COUNTED = 10_000;
const MAX_GROUPS = 50;

const groupSchema = z.object({
  reason: z.string(),
  code: z.string(),
  status: z.int(),
  api: z.enum(['rest', 'trpc']),
  method: z.string(),
  path: z.string(),
  count: z.int(),
  message: z.string().meta({ description: 'Of the newest.' }),
  last_id: idField(idPrefixes.request),
  last_at: timeField,
});
const groupsSchema = z.object({
  object: objectName('list'),
  since: timeField,
  exact: z.boolean().meta({ description: `false: the newest ${MAX_COUNTED} were counted.` }),
  data: z.array(groupSchema).readonly(),
});
export type RequestGroups = z.output<typeof groupsSchema>;

/** Groups rejected and failed requests by reason and route, most frequent first. */
export const requestGroups = operation({
  name: 'requests.groups',
  scope: 'admin',
  summary: 'Rejected and failed requests by reason and route, most frequent first',
  input: z.object({
    since: timestampField('since').optional().meta({ description: 'At or after this time. Default: 24 hours ago.' }),
  }),
  output: groupsSchema,
  async run(ctx, { since = new Date(ctx.clock.now() - DAY_MS) }): Promise<RequestGroups> {
    const range = retainedRange(ctx, 'requests', 'request', idRange('request', { since }, null));
    const rows = await readRequestGroups(ctx.sql, ctx.actor.workspace_id, range, MAX_COUNTED, MAX_GROUPS);
    return {
      object: 'list',
      since: isoTime(since),
      exact: rows.every(({ examined }) => examined < MAX_COUNTED),
      data: rows.map(({ examined: _, api, ...group }) => ({
        ...group,
        api: api === 'trpc' ? 'trpc' : 'rest',
        last_at: isoTime(idTime(group.last_id)),
      })),
    };
  },
});
