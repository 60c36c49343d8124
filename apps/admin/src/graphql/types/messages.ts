import { deliveryStates } from '@postrider/core/delivery';
import { cancelMessage, type LogEntry, listMessages } from '@postrider/core/messages';
import { builder } from '../builder.ts';
import { connectionOf, pageArgs } from '../connections.ts';
import { enumOf } from '../enums.ts';
import { outcome, resultOf } from '../errors.ts';
import { call, page } from '../from-operation.ts';
import { claimIds } from '../node-ids.ts';
import { TargetInput } from './target.ts';

export const MessageStatus = enumOf('MessageStatus', deliveryStates);

export const Message = builder.objectRef<LogEntry>('Message');
claimIds('message', 'Message');
builder.node(Message, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.messages.loadMany(ids),
  fields: (t) => ({
    status: t.field({ type: MessageStatus, resolve: ({ status }) => status }),
    from: t.exposeString('from'),
    to: t.exposeStringList('to'),
    subject: t.exposeString('subject'),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
  }),
});

const MessageFilter = builder.inputType('MessageFilter', {
  fields: (t) => ({
    status: t.field({ type: [MessageStatus] }),
  }),
});

const MessageConnection = connectionOf(Message);

builder.queryField('messages', (t) =>
  t.field({
    type: MessageConnection,
    args: { ...pageArgs(t), filter: t.arg({ type: MessageFilter }) },
    resolve: (_, { filter, ...args }, g) =>
      page(g, listMessages, args, { ...filter, status: filter?.status?.join(',') }),
  }),
);

const MessagePayload = builder.objectRef<{ readonly email: LogEntry }>('MessagePayload').implement({
  // Not message: that is what an error says, and a document asks for both.
  fields: (t) => ({ email: t.field({ type: Message, resolve: ({ email }) => email }) }),
});

const MessageResult = resultOf('MessageResult', MessagePayload);

builder.mutationField('messageCancel', (t) =>
  t.field({
    type: MessageResult,
    description: 'Ends what no attempt has begun of.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, cancelMessage, input) })),
  }),
);
