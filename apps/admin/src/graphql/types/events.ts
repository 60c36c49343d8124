import { type EventEntry, followEvents, listEvents, type TimelineEvent } from '@postrider/core/events';
import { eventDataOf } from '@postrider/core/messages';
import { builder } from '../kit/builder.ts';
import { connectionOf, edgeOf, filterArg, pageArgs } from '../kit/connections.ts';
import { call, page } from '../kit/from-operation.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Event, Message, Recipient } from '../kit/refs.ts';
import { recipientOf } from './recipients.ts';

claimIds('event', 'Event');
builder.node(Event, {
  description: 'A change to a message, or to something else in the workspace such as a domain.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.events.loadMany(ids),
  fields: (t) => ({
    type: t.exposeString('type', { description: 'Such as email.delivered.' }),
    at: t.field({ type: 'DateTime', description: 'When it happened.', resolve: ({ created_at }) => created_at }),
    sequence: t.exposeInt('sequence', {
      description: 'Increases by one per message event; 0 for events without a message.',
    }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'The message; null if the event has none or the message has expired.',
      resolve: ({ email_id }, _, { load }) => (email_id === null ? null : load.messages.load(email_id)),
    }),
    recipient: t.field({
      type: Recipient,
      nullable: true,
      description: 'The recipient; null if the event applies to the whole message or has none.',
      async resolve({ email_id, recipient_id }, _, { load }) {
        if (email_id === null || recipient_id === null) return null;
        const email = await load.messages.load(email_id);
        return email && recipientOf(email, recipient_id);
      },
    }),
    data: t.field({
      type: 'JSON',
      description: 'The data field of webhook requests.',
      async resolve(event, _, { load }) {
        if (!isTimelineEvent(event)) return event.data;
        const email = event.email_id === null ? null : await load.messages.load(event.email_id);
        return email ? eventDataOf(event, email) : (await load.events.load(event.id))?.data;
      },
    }),
  }),
});

function isTimelineEvent(event: EventEntry | TimelineEvent): event is TimelineEvent {
  return 'facts' in event;
}

export const EventConnection = connectionOf(Event);

const EventFilter = builder.inputType('EventFilter', {
  description: 'The filters of GET /v1/events, combined with AND.',
  fields: (t) => ({
    types: t.stringList({ description: 'Any of these, such as email.bounced.' }),
    messageId: t.id({ description: 'The timeline of one message.' }),
    since: t.field({ type: 'DateTime', description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }),
});

builder.queryField('events', (t) =>
  t.field({
    type: EventConnection,
    description: 'The events of the workspace, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, EventFilter) },
    resolve: (_, { filter, ...args }, g) => {
      const { types, messageId, ...rest } = filter ?? {};
      return page(g, listEvents, args, { ...rest, type: types?.join(','), emailId: messageId });
    },
  }),
);

const FollowFilter = builder.inputType('FollowFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    types: t.stringList({ description: 'Any of these, such as email.bounced.' }),
    messageId: t.id({ description: 'The events of one message.' }),
  }),
});

builder.subscriptionField('events', (t) =>
  t.field({
    type: edgeOf(Event),
    description:
      'New events, or the ones after a cursor. Mostly in ID order: an event that is committed late comes ' +
      'after newer ones. A stream that resumes from a cursor starts half a minute earlier, so ignore IDs that you have already seen.',
    args: {
      after: t.arg.string({ description: 'The cursor of an edge. Default: only new events.' }),
      filter: filterArg(t, FollowFilter),
    },
    subscribe: (_, { after, filter }, g) =>
      g.follow(g, () => call(g, followEvents, { after, type: filter?.types?.join(','), emailId: filter?.messageId })),
    resolve: (edge) => edge,
  }),
);
