import { z } from 'zod';
import { isoTime } from '../clock.ts';
import { operation } from '../operation.ts';
import { timeField } from '../wire.ts';
import { destinationLimitSchema } from './limit-destination.ts';
import { isRoom } from './room.ts';
import { destinationLimits, laneSummaries } from './store.ts';

const MOST_COUNTED = 10_000;

const destinationSchema = destinationLimitSchema.extend({
  closed_until: timeField.nullable().meta({ description: 'Null while it is open.' }),
  reason: z.enum(['failing', 'limit']).nullable(),
  last_reply: z.string().nullable(),
  parked: z.int().meta({ description: `Mails that wait for it, counted up to ${MOST_COUNTED}.` }),
});
const destinationsSchema = z.object({ object: z.literal('list'), data: z.array(destinationSchema).readonly() });
export type Destinations = z.output<typeof destinationsSchema>;

/** Every destination that is limited, closed, or waited for. */
export const listDestinations = operation({
  name: 'destinations.list',
  scope: 'operator',
  summary: 'Destinations that are limited, closed, or waited for',
  input: z.object({}),
  output: destinationsSchema,
  async run(ctx): Promise<Destinations> {
    const [limits, summaries] = await Promise.all([destinationLimits(ctx.sql), laneSummaries(ctx.sql, MOST_COUNTED)]);
    // What a hold keeps back is no destination.
    const lanes = summaries.filter(({ lane }) => !isRoom(lane));
    const limitOf = new Map(limits.map((limit) => [limit.destination, limit]));
    const laneOf = new Map(lanes.map((lane) => [lane.lane, lane]));
    const names = [...new Set([...limitOf.keys(), ...laneOf.keys()])].sort();
    return {
      object: 'list',
      data: names.map((destination) => {
        const limit = limitOf.get(destination);
        const lane = laneOf.get(destination);
        return {
          destination,
          connections: limit?.connections ?? null,
          messages_per_minute: limit?.messages_per_minute ?? null,
          closed_until: lane?.closed_until ? isoTime(lane.closed_until) : null,
          reason: lane?.reason ?? null,
          last_reply: lane?.last_reply ?? null,
          parked: lane?.parked ?? 0,
        };
      }),
    };
  },
});
