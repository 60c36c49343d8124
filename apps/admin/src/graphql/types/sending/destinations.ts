import {
  closedReasons,
  type Destinations,
  limitDestination,
  listDestinations,
  releaseDestination,
} from '@postrider/core/lanes';
import { builder } from '../../kit/builder.ts';
import { enumOf } from '../../kit/enums.ts';
import { call } from '../../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../../kit/mutation-results.ts';

// The typical number of destinations that need attention.
const SAMPLE_SIZE = 20;

const ClosedReason = enumOf(
  'DestinationClosedReason',
  closedReasons,
  'Closed because of failures, or because the limit of the destination or of the transport is used up.',
);

const Destination = builder.objectRef<Destinations['data'][number]>('Destination').implement({
  description: 'A destination that is limited, closed or held, or has waiting email.',
  fields: (t) => ({
    name: t.string({
      description: 'A recipient domain, or a relay as host:port.',
      resolve: ({ destination }) => destination,
    }),
    transportId: t.id({
      nullable: true,
      description: 'The transport of its email; null: DELIVERY.',
      resolve: ({ transport_id }) => transport_id,
    }),
    transportName: t.string({
      nullable: true,
      description: 'The name of the transport; null: DELIVERY.',
      resolve: ({ transport_name }) => transport_name,
    }),
    connections: t.exposeInt('connections', { nullable: true, description: 'The limit on concurrent emails, if any.' }),
    messagesPerMinute: t.int({
      nullable: true,
      description: 'The limit on emails per minute; null: none.',
      resolve: ({ messages_per_minute }) => messages_per_minute,
    }),
    closedUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'null: open.',
      resolve: ({ closed_until }) => closed_until,
    }),
    closedReason: t.field({
      type: ClosedReason,
      nullable: true,
      description: 'Why it is closed; null while it is open.',
      resolve: ({ reason }) => reason,
    }),
    lastReply: t.string({
      nullable: true,
      description: 'The last reply that closed it; null: none.',
      resolve: ({ last_reply }) => last_reply,
    }),
    heldUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its hold expires; null: not held.',
      resolve: ({ held_until }) => held_until,
    }),
    holdId: t.id({
      nullable: true,
      description: 'The hold on the destination; null: not held.',
      resolve: ({ hold_id }) => hold_id,
    }),
    parked: t.exposeInt('parked', { description: 'Waiting emails, counted up to 10,000.' }),
  }),
});

builder.queryField('destinations', (t) =>
  t.field({
    type: [Destination],
    description: 'Destinations that are limited, closed or held, or have waiting email. Requires operator.',
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: async (_, __, g) => (await call(g, listDestinations, {})).data,
  }),
);

interface Limit {
  readonly destination: string;
  readonly connections: number | null;
  readonly messages_per_minute: number | null;
}

const DestinationPayload = builder.objectRef<Limit>('DestinationPayload').implement({
  description: 'The limited destination.',
  fields: (t) => ({
    name: t.string({
      description: 'A recipient domain, or a relay as host:port.',
      resolve: ({ destination }) => destination,
    }),
    connections: t.exposeInt('connections', {
      nullable: true,
      description: 'Concurrent emails across all workers; null: no limit.',
    }),
    messagesPerMinute: t.int({
      nullable: true,
      description: 'Emails per minute across all workers; null: no limit.',
      resolve: ({ messages_per_minute }) => messages_per_minute,
    }),
  }),
});
const DestinationResult = resultOf('DestinationResult', DestinationPayload);

const DestinationReleasePayload = builder
  .objectRef<{ readonly destination: string; readonly released: boolean }>('DestinationReleasePayload')
  .implement({
    description: 'The destination without its limit.',
    fields: (t) => ({
      name: t.string({
        description: 'A recipient domain, or a relay as host:port.',
        resolve: ({ destination }) => destination,
      }),
      released: t.exposeBoolean('released', { description: 'Whether there was a limit.' }),
    }),
  });
const DestinationReleaseResult = resultOf('DestinationReleaseResult', DestinationReleasePayload);

const DestinationLimitInput = builder.inputType('DestinationLimitInput', {
  description: 'Set one limit or both.',
  fields: (t) => ({
    destination: t.string({ required: true, description: 'A recipient domain, or a relay as host:port.' }),
    connections: t.int({ description: 'Concurrent emails across all workers.' }),
    messagesPerMinute: t.int({ description: 'Emails per minute across all workers.' }),
  }),
});
const DestinationInput = builder.inputType('DestinationInput', {
  description: 'The destination to change.',
  fields: (t) => ({
    destination: t.string({ required: true, description: 'A recipient domain, or a relay as host:port.' }),
  }),
});

builder.mutationFields((t) => ({
  destinationLimit: t.field({
    type: DestinationResult,
    description: 'Limits the sending rate for a destination. Requires operator.',
    args: { input: inputArg(t, DestinationLimitInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, limitDestination, input)),
  }),
  destinationRelease: t.field({
    type: DestinationReleaseResult,
    description: 'Removes a destination limit. Requires operator.',
    args: { input: inputArg(t, DestinationInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, releaseDestination, input)),
  }),
}));
