import {
  type TransportFeedback as FeedbackEntry,
  getFeedback,
  type NewTransportFeedback,
  providerNames,
  removeFeedback,
  setFeedback,
} from '@postrider/core/feedback';
import { builder } from '../../kit/builder.ts';
import { enumOf } from '../../kit/enums.ts';
import { call } from '../../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../../kit/mutation-results.ts';
import { DeleteResult, TargetInput } from '../../kit/target.ts';

const FeedbackProvider = enumOf(
  'FeedbackProvider',
  providerNames,
  'The form of the reports. GENERIC: any relay that reports in the documented form, signed by Standard Webhooks.',
);
const FeedbackKind = enumOf(
  'FeedbackKind',
  ['bounced', 'complained', 'delayed', 'delivered'],
  'What a relay reports about an email that it accepted.',
);
const FeedbackState = enumOf(
  'FeedbackState',
  ['pending', 'recorded', 'ignored', 'unmatched'],
  'PENDING: matched again for up to 15 minutes. IGNORED: it changed nothing. UNMATCHED: the transport sent no such email.',
);

const FeedbackEvent = builder.objectRef<FeedbackEntry['events'][number]>('FeedbackEvent').implement({
  description: 'An event that a relay reported.',
  fields: (t) => ({
    eventId: t.string({ description: "The relay's ID of the event.", resolve: ({ event_id }) => event_id }),
    kind: t.field({ type: FeedbackKind, description: 'What the relay reports.', resolve: ({ kind }) => kind }),
    state: t.field({ type: FeedbackState, description: 'The outcome of the event.', resolve: ({ state }) => state }),
    emailId: t.id({
      nullable: true,
      description: 'The email that it was matched with; null: none yet.',
      resolve: ({ email_id }) => email_id,
    }),
    recipient: t.exposeString('recipient', {
      nullable: true,
      description: 'The recipient that the relay named, as long as no email was matched.',
    }),
    detail: t.exposeString('detail', { nullable: true, description: 'Why it changed nothing; null: it did.' }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When it was received.',
      resolve: ({ received_at }) => received_at,
    }),
  }),
});

type Shared = Omit<FeedbackEntry, 'events'>;

const TransportFeedback = builder.objectRef<Shared & Partial<FeedbackEntry>>('TransportFeedback').implement({
  description: 'Bounces, complaints and deliveries that a relay reports.',
  fields: (t) => ({
    transportId: t.id({ description: 'The ID of the transport.', resolve: ({ transport_id }) => transport_id }),
    provider: t.field({
      type: FeedbackProvider,
      description: 'The form of the reports.',
      resolve: ({ provider }) => provider,
    }),
    url: t.exposeString('url', { description: 'Where the relay sends its reports.' }),
    previousUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when the previous URL and secret are accepted; null: there are none.',
      resolve: ({ previous_until }) => previous_until,
    }),
    confirmedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last request with a valid signature was received; null: never.',
      resolve: ({ confirmed_at }) => confirmed_at,
    }),
    rejectedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last request without a valid signature was received; null: never.',
      resolve: ({ rejected_at }) => rejected_at,
    }),
    rejection: t.exposeString('rejection', {
      nullable: true,
      description: 'The problem with its signature; null: there was no such request.',
    }),
    events: t.field({
      type: [FeedbackEvent],
      description: 'The last 20 events, newest first.',
      complexity: { field: 1, multiplier: 20 },
      resolve: ({ events = [] }) => events,
    }),
  }),
});

builder.queryFields((t) => ({
  transportFeedback: t.field({
    type: TransportFeedback,
    nullable: true,
    description:
      'What the relay of a transport reports; null: it is not set up. Requires operator, or admin for a transport of the workspace.',
    args: { id: t.arg.id({ required: true, description: 'The transport ID.' }) },
    resolve: (_, { id }, g) => call(g, getFeedback, { transportId: id }),
  }),
}));

const TransportFeedbackPayload = builder
  .objectRef<{ readonly feedback: NewTransportFeedback }>('TransportFeedbackPayload')
  .implement({
    description: 'The new URL and secret for the relay.',
    fields: (t) => ({
      feedback: t.field({
        type: TransportFeedback,
        description: 'The feedback after the change.',
        resolve: ({ feedback }) => feedback,
      }),
      secret: t.string({
        nullable: true,
        description: "Proves the requests. Only returned now; null: it is the provider's.",
        resolve: ({ feedback }) => feedback.secret,
      }),
    }),
  });
const TransportFeedbackInput = builder.inputType('TransportFeedbackInput', {
  description: 'The transport and the form of its reports.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The ID of a transport of the kind SMTP.' }),
    provider: t.field({ type: FeedbackProvider, required: true, description: 'The form of the reports.' }),
    secret: t.string({
      description:
        'Required for SENDGRID (its verification key), MAILGUN (its HTTP webhook signing key) and RESEND (its signing secret).',
    }),
  }),
});

builder.mutationFields((t) => ({
  transportFeedbackSet: t.field({
    type: resultOf('TransportFeedbackResult', TransportFeedbackPayload),
    description:
      'Sets up the feedback of a relay, or replaces its URL and secret; the previous ones are accepted for 24 hours. Requires operator, or admin for a transport of the workspace.',
    args: { input: inputArg(t, TransportFeedbackInput) },
    resolve: (_, { input: { id, ...input } }, g) =>
      outcome(async () => ({ feedback: await call(g, setFeedback, { ...input, transportId: id }) })),
  }),
  transportFeedbackRemove: t.field({
    type: DeleteResult,
    description:
      'Removes the feedback of a relay, with its events. Requires operator, or admin for a transport of the workspace.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input: { id } }, g) =>
      outcome(async () => ({ deleted_id: (await call(g, removeFeedback, { transportId: id })).id })),
  }),
}));
