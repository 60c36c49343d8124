import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { allTransports, DEFAULT_TRANSPORT } from '../transports/index.ts';
import { closedReasons, heldDestinations, laneSummaries } from './closing-store.ts';
import { holdLane, isHoldLane } from './hold-lane.ts';
import { destinationLimitSchema } from './limit-destination.ts';
import { destinationLimits } from './limit-store.ts';
import { destinationOfLane, transportOfLane } from './transport-lane.ts';

const MAX_COUNTED = 10_000;

const destinationSchema = destinationLimitSchema.extend({
  transport_id: z.string().nullable().meta({ description: 'The transport of its email. null: DELIVERY.' }),
  transport_name: z.string().nullable().meta({ description: 'The name of the transport. null: DELIVERY.' }),
  closed_until: timeField.nullable().meta({ description: 'null while it is open.' }),
  reason: z.enum(closedReasons).nullable(),
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
    const [limits, summaries, holds, transports] = await Promise.all([
      destinationLimits(ctx.sql),
      laneSummaries(ctx.sql, MAX_COUNTED),
      heldDestinations(ctx.sql),
      allTransports(ctx.sql),
    ]);
    // A hold lane is not a destination: its messages count toward the destination on hold.
    const parkedIn = new Map(summaries.map(({ lane, parked }) => [lane, parked]));
    const summaryOf = new Map(summaries.filter(({ lane }) => !isHoldLane(lane)).map((one) => [one.lane, one]));
    const limitOf = new Map(limits.map((limit) => [limit.destination, limit]));
    const holdOf = new Map(holds.map((hold) => [hold.destination, hold]));
    const nameOf = new Map(transports.map(({ id, name }) => [id, name]));
    const lanes = [...new Set([...limitOf.keys(), ...summaryOf.keys(), ...holdOf.keys()])].sort();
    return {
      object: 'list',
      data: lanes.map((lane) => {
        const [destination, transport] = [destinationOfLane(lane), transportOfLane(lane)];
        const transport_id = transport === DEFAULT_TRANSPORT ? null : transport;
        const limit = limitOf.get(destination);
        const summary = summaryOf.get(lane);
        const hold = holdOf.get(destination);
        // Held email has no transport yet.
        const kept_back = hold && transport_id === null ? (parkedIn.get(holdLane(hold.id)) ?? 0) : 0;
        return {
          destination,
          transport_id,
          transport_name: transport_id && (nameOf.get(transport_id) ?? null),
          connections: limit?.connections ?? null,
          messages_per_minute: limit?.messages_per_minute ?? null,
          closed_until: summary?.closed_until ? isoTime(summary.closed_until) : null,
          reason: summary?.reason ?? null,
          last_reply: summary?.last_reply ?? null,
          held_until: hold ? isoTime(hold.expires_at) : null,
          hold_id: hold?.id ?? null,
          parked: Math.min((summary?.parked ?? 0) + kept_back, MAX_COUNTED),
        };
      }),
    };
  },
});
