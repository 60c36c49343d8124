import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { heldDestinations, laneSummaries } from './closing-store.ts';
import { holdLane, isHoldLane } from './hold-lane.ts';
import { destinationLimitSchema } from './limit-destination.ts';
import { destinationLimits } from './limit-store.ts';

const MAX_COUNTED = 10_000;

const destinationSchema = destinationLimitSchema.extend({
  closed_until: timeField.nullable().meta({ description: 'null while it is open.' }),
  reason: z.enum(['failing', 'limit']).nullable(),
  last_reply: z.string().nullable(),
  held_until: timeField.nullable().meta({ description: 'null if it is not held.' }),
  hold_id: z.string().nullable(),
  parked: z.int().meta({ description: `Waiting emails, counted up to ${MAX_COUNTED}.` }),
});
const destinationsSchema = z.object({ object: objectName('list'), data: z.array(destinationSchema).readonly() });
export type Destinations = z.output<typeof destinationsSchema>;

/** Lists every destination that is limited, closed, or on hold, or that has parked messages. */
export const listDestinations = operation({
  name: 'destinations.list',
  scope: 'operator',
  summary: 'List destinations that are limited, closed or held, or have waiting email',
  input: z.object({}),
  output: destinationsSchema,
  async run(ctx): Promise<Destinations> {
    const [limits, summaries, holds] = await Promise.all([
      destinationLimits(ctx.sql),
      laneSummaries(ctx.sql, MAX_COUNTED),
      heldDestinations(ctx.sql),
    ]);
    // A hold lane is not a destination: its messages count toward the destination on hold.
    const parkedIn = new Map(summaries.map(({ lane, parked }) => [lane, parked]));
    const lanes = summaries.filter(({ lane }) => !isHoldLane(lane));
    const limitOf = new Map(limits.map((limit) => [limit.destination, limit]));
    const laneOf = new Map(lanes.map((lane) => [lane.lane, lane]));
    const holdOf = new Map(holds.map((hold) => [hold.destination, hold]));
    const names = [...new Set([...limitOf.keys(), ...laneOf.keys(), ...holdOf.keys()])].sort();
    return {
      object: 'list',
      data: names.map((destination) => {
        const limit = limitOf.get(destination);
        const lane = laneOf.get(destination);
        const hold = holdOf.get(destination);
        const kept_back = hold ? (parkedIn.get(holdLane(hold.id)) ?? 0) : 0;
        return {
          destination,
          connections: limit?.connections ?? null,
          messages_per_minute: limit?.messages_per_minute ?? null,
          closed_until: lane?.closed_until ? isoTime(lane.closed_until) : null,
          reason: lane?.reason ?? null,
          last_reply: lane?.last_reply ?? null,
          held_until: hold ? isoTime(hold.expires_at) : null,
          hold_id: hold?.id ?? null,
          parked: Math.min((lane?.parked ?? 0) + kept_back, MAX_COUNTED),
        };
      }),
    };
  },
});
