import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { transportStates } from './health-store.ts';
import { ownerOf, reachField } from './ownership.ts';

const MAX_COUNTED = 10_000;

const healthSchema = z.object({
  transport_id: z.string().meta({ description: 'The transport; "default" for DELIVERY.' }),
  status: z
    .enum(['ok', 'limited', 'failing'])
    .meta({ description: 'limited: a limit is used up. failing: some of its servers do not accept email.' }),
  closed_destinations: z.int().meta({ description: 'Destinations to which it does not send now.' }),
  closed_until: timeField.nullable().meta({ description: 'When the first of them opens. null: none is closed.' }),
  waiting: z.int().meta({ description: `Email that waits for them, counted up to ${MAX_COUNTED}.` }),
  last_reply: z.string().nullable().meta({ description: 'The last response that closed one. null: none.' }),
  delivered_today: z.int().meta({
    description: 'Emails delivered through it today in UTC, as in the statistics: up to two minutes late.',
  }),
  used_today: z.int().nullable().meta({ description: 'Emails counted against the limits today. null: no limit.' }),
});
export type TransportHealth = z.output<typeof healthSchema>;

/** Returns whether each transport sends now, and what waits for it. */
export const getTransportHealth = operation({
  name: 'transports.health',
  scope: null,
  summary: 'Get the health of the transports',
  input: z.object({ reach: reachField }),
  output: z.object({ object: objectName('list'), data: z.array(healthSchema).readonly() }),
  async run(ctx, { reach }) {
    const rows = await transportStates(ctx.sql, ownerOf(ctx, reach), MAX_COUNTED);
    return {
      object: 'list',
      data: rows.map(
        ({ closed_until, failing, limited, ...row }): TransportHealth => ({
          ...row,
          status: failing > 0 ? 'failing' : limited > 0 ? 'limited' : 'ok',
          closed_destinations: failing + limited,
          closed_until: closed_until && isoTime(closed_until),
        }),
      ),
    } as const;
  },
});
