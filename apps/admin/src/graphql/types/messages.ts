import { AppError } from '@postrider/core';
import { retains } from '@postrider/core/accept';
import { deliveryStates, openStates } from '@postrider/core/delivery';
import {
  cancelMessage,
  createContentLink,
  type EmailContent,
  giveUpMessage,
  type LogEntry,
  listMessages,
  listMessagesAlone,
  listMessagesBackward,
  messageNotFound,
  readRecipientPage,
  rescheduleMessage,
  resendMessage,
  retryMessageNow,
  sendMessageNow,
} from '@postrider/core/messages';
import { priorities } from '@postrider/core/priorities';
import { builder } from '../kit/builder.ts';
import { connectionBefore, connectionFrom, connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { namesBelow } from '../kit/names-below.ts';
import { claimIds } from '../kit/node-ids.ts';
import { pageInput } from '../kit/page-size.ts';
import { ApiKey, Domain, Event, Job, Message } from '../kit/refs.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import { TargetInput } from '../kit/target.ts';
import { AttemptConnection } from './attempts.ts';
import { EventConnection } from './events.ts';
import { RecipientConnection, RecipientStatus, recipientsOf, WaitReason } from './recipients.ts';

// A body may be several megabytes, so the cost lets a request read at most ten. Points that the actual size does not
// use up are refunded.
const CONTENT_COST = 200;
const BYTES_PER_POINT = 64 * 1024;

async function meteredContent(id: string, { load, cost }: GraphqlContext): Promise<EmailContent | null> {
  const content = await load.contents.load(id);
  cost.recordUnused(CONTENT_COST - Math.max(1, Math.ceil((content ? bytesOf(content) : 0) / BYTES_PER_POINT)));
  return content;
}

/** Estimates the size of the message source without rendering it. */
function bytesOf({ html, text, attachments }: EmailContent): number {
  const attached = attachments.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  return (html?.length ?? 0) + (text?.length ?? 0) + attached;
}

const MessageStatus = enumOf(
  'MessageStatus',
  deliveryStates,
  'The least advanced open status among its recipients or, once all of them are closed, the worst status.',
);

export const Priority = enumOf(
  'Priority',
  priorities,
  "The email's priority within its workspace. While emails of all three priorities wait for a destination, they are sent in the ratio 8:4:1.",
);
const Retain = enumOf(
  'Retain',
  retains,
  'NONE: html, text and attachments are deleted within a minute of the last attempt.',
);

claimIds('message', 'Message');
builder.node(Message, {
  description: 'An accepted email.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.messages.loadMany(ids),
  fields: (t) => ({
    status: t.field({
      type: MessageStatus,
      description:
        'The least advanced open status among its recipients or, once all of them are closed, the worst status.',
      resolve: ({ status }) => status,
    }),
    captured: t.exposeBoolean('captured', { description: 'Whether any recipient was captured.' }),
    from: t.exposeString('from', { description: 'The sender, a@b.c or Name <a@b.c>.' }),
    to: t.stringList({ description: 'The To recipients, each a@b.c or Name <a@b.c>.', resolve: ({ to }) => to }),
    cc: t.stringList({ description: 'The Cc recipients.', resolve: ({ cc }) => cc }),
    bcc: t.stringList({ description: 'The Bcc recipients, which are not in the headers.', resolve: ({ bcc }) => bcc }),
    replyTo: t.string({
      nullable: true,
      description: 'The Reply-To address; null: none.',
      resolve: ({ reply_to }) => reply_to,
    }),
    subject: t.exposeString('subject', { description: 'The subject.' }),
    tags: t.stringList({ description: 'Labels for filtering the log.', resolve: ({ tags }) => tags }),
    metadata: t.field({
      type: 'JSON',
      description: 'Your own key-value pairs, as text.',
      resolve: ({ metadata }) => metadata,
    }),
    headers: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'The custom headers; null once the body retention period has passed. Reads are recorded in the audit log.',
      complexity: CONTENT_COST,
      resolve: async ({ id }, _, g) => (await meteredContent(id, g))?.headers ?? null,
    }),
    lastEvent: t.field({
      type: Event,
      nullable: true,
      description: 'Its latest event; null once the event has expired.',
      resolve: ({ id }, _, { load }) => load.lastEvents.load(id),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was accepted.',
      resolve: ({ created_at }) => created_at,
    }),
    scheduledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time it was scheduled for; null: immediately.',
      resolve: ({ scheduled_at }) => scheduled_at,
    }),
    sentAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The start of the first attempt.',
      resolve: ({ sent_at }) => sent_at,
    }),
    deliveredAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was delivered; null: not delivered.',
      resolve: ({ delivered_at }) => delivered_at,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time of its last event; null while a recipient is open.',
      resolve: ({ status, last_event }) => (openStates.some((open) => open === status) ? null : last_event.at),
    }),
    priority: t.field({
      type: Priority,
      description: 'The priority within the workspace.',
      resolve: ({ priority }) => priority,
    }),
    retain: t.field({
      type: Retain,
      description: 'Whether its content is kept once no recipient is open.',
      resolve: ({ retain }) => retain,
    }),
    sizeBytes: t.int({
      description: 'The approximate size of its bodies and encoded attachments.',
      resolve: ({ size_bytes }) => size_bytes,
    }),
    messageIdHeader: t.string({
      description: 'The Message-ID header of every copy.',
      resolve: ({ message_id }) => message_id,
    }),
    requestId: t.id({ description: 'The ID of the request that sent it.', resolve: ({ request_id }) => request_id }),
    resendOf: t.field({
      type: Message,
      nullable: true,
      description: 'The message that this one resends.',
      resolve: ({ resend_of }, _, { load }) => (resend_of === null ? null : load.messages.load(resend_of)),
    }),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The key that sent it; null: none. Requires admin.',
      resolve: ({ api_key_id }, _, { load }) => (api_key_id === null ? null : load.keys.load(api_key_id)),
    }),
    domain: t.field({
      type: Domain,
      nullable: true,
      description: 'The sender domain; null after it is removed.',
      resolve: ({ message_id }, _, { load }) =>
        load.domainsByName.load(message_id.slice(message_id.indexOf('@') + 1, -1)),
    }),
  }),
});

builder.objectFields(Message, (t) => ({
  recipients: t.field({
    type: RecipientConnection,
    description: 'One entry per unique address in to, cc and bcc.',
    args: {
      ...pageArgs(t),
      status: t.arg({ type: RecipientStatus, description: 'Only recipients with this status. Default: all.' }),
    },
    resolve: (email, { status, ...args }, { ctx }) => {
      const input = { ...pageInput(args), status: status ?? null };
      const list = readRecipientPage(ctx, email, input);
      return connectionFrom(list, args.after, (entry) => ({ id: entry.id, entry, email }));
    },
  }),
  recipientCounts: t.field({
    type: [StatusCount],
    description: 'Number of recipients per status.',
    resolve: ({ recipients }) =>
      [...Map.groupBy(recipients, ({ status }) => status)].map(([status, group]) => ({
        status,
        count: group.length,
      })),
  }),
  attempts: t.field({
    type: AttemptConnection,
    description: 'Oldest first.',
    args: pageArgs(t),
    resolve: async ({ id }, args, { load }) => connectionFrom(await load.attempts.load(id, args), args.after),
  }),
  timeline: t.field({
    type: EventConnection,
    description: 'Its events, oldest first.',
    args: pageArgs(t),
    resolve: async ({ id }, args, { load }) => connectionFrom(await load.timelines.load(id, args), args.after),
  }),
  job: t.field({
    type: Job,
    nullable: true,
    description: 'The job for its first open recipient. Requires operator.',
    async resolve({ id }, _, { load }) {
      const [first] = await load.jobsByMessage.load(id);
      return first ? load.jobs.load(first.job_id) : null;
    },
  }),
  waiting: t.field({
    type: WaitReason,
    nullable: true,
    description: 'Why it has not been sent yet, for its first open recipient.',
    resolve: (email) => recipientsOf(email).find(({ entry }) => entry.waiting !== null) ?? null,
  }),
}));

builder.objectFields(Message, (t) => ({
  content: t.field({
    type: MessageContent,
    nullable: true,
    description: 'Its content; null once the body retention period has passed. Reads are recorded in the audit log.',
    complexity: CONTENT_COST,
    resolve: ({ id }, _, g) => meteredContent(id, g),
  }),
  raw: t.field({
    type: RawMime,
    nullable: true,
    description: 'The MIME source before DKIM signing; null once the body retention period has passed.',
    complexity: CONTENT_COST,
    resolve: async ({ id }, _, g) => {
      const content = await meteredContent(id, g);
      return content && { message_id: id, size_bytes: Buffer.byteLength(content.raw) };
    },
  }),
}));

const StatusCount = builder
  .objectRef<{ readonly status: LogEntry['status']; readonly count: number }>('StatusCount')
  .implement({
    description: 'The number of recipients with one status.',
    fields: (t) => ({
      status: t.field({
        type: RecipientStatus,
        description: 'The status of the recipients.',
        resolve: ({ status }) => status,
      }),
      count: t.exposeInt('count', { description: 'Number of recipients.' }),
    }),
  });

const LINK = 'A one-time download URL, valid for five minutes. Each link is recorded in the audit log.';
// Reads the content again and writes two rows.
const LINK_COST = 10;

interface PlacedAttachment {
  readonly message_id: string;
  readonly place: number;
  readonly attachment: EmailContent['attachments'][number];
}

const Attachment = builder.objectRef<PlacedAttachment>('Attachment').implement({
  description: 'An attachment of a message.',
  fields: (t) => ({
    filename: t.string({
      description: 'The filename from the request.',
      resolve: ({ attachment }) => attachment.filename,
    }),
    contentType: t.string({
      nullable: true,
      description: 'As given in the request; null if derived from the filename.',
      resolve: ({ attachment }) => attachment.content_type,
    }),
    sizeBytes: t.int({ description: 'The decoded size in bytes.', resolve: ({ attachment }) => attachment.size_bytes }),
    contentId: t.string({
      nullable: true,
      description: 'Lets html reference the attachment as cid:…; null: none.',
      resolve: ({ attachment }) => attachment.content_id,
    }),
    url: t.field({
      type: 'URL',
      description: LINK,
      complexity: LINK_COST,
      resolve: async ({ message_id: id, place }, _, { load }) => (await load.contentLinks.load({ id, place })).url,
    }),
  }),
});

const MessageContent = builder.objectRef<EmailContent>('MessageContent').implement({
  description: 'The content of a message.',
  fields: (t) => ({
    html: t.exposeString('html', { nullable: true, description: 'The HTML body; null: none.' }),
    text: t.exposeString('text', { nullable: true, description: 'The text body; null: none.' }),
    attachments: t.field({
      type: [Attachment],
      description: 'The attachments, in request order.',
      resolve: ({ id: message_id, attachments }) =>
        attachments.map((attachment, place) => ({ message_id, place, attachment })),
    }),
  }),
});

const RawMime = builder.objectRef<{ readonly message_id: string; readonly size_bytes: number }>('RawMime').implement({
  description: 'The MIME source of a message.',
  fields: (t) => ({
    sizeBytes: t.exposeInt('size_bytes', { description: 'The size of the source in bytes.' }),
    url: t.field({
      type: 'URL',
      description: LINK,
      complexity: LINK_COST,
      resolve: async ({ message_id: id }, _, { load }) => (await load.contentLinks.load({ id, place: null })).url,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When the URL expires.',
      complexity: LINK_COST,
      resolve: async ({ message_id: id }, _, { load }) =>
        (await load.contentLinks.load({ id, place: null })).expires_at,
    }),
  }),
});

export const MessageFilter = builder.inputType('MessageFilter', {
  description: 'The filters of GET /v1/email/logs, combined with AND.',
  fields: (t) => ({
    status: t.field({ type: [MessageStatus], description: 'One of these.' }),
    tags: t.stringList({ description: 'The message must have all of these.' }),
    to: t.field({ type: 'EmailAddress', description: 'A recipient, including cc and bcc.' }),
    from: t.field({ type: 'EmailAddress', description: 'The sender address.' }),
    domain: t.string({ description: 'Sender domain.' }),
    toDomain: t.string({ description: 'A recipient domain, including cc and bcc.' }),
    priority: t.field({ type: Priority, description: 'The priority within the workspace.' }),
    transport: t.string({ description: 'The ID of a transport of any attempt, or "default" for DELIVERY.' }),
    since: t.field({ type: 'DateTime', description: 'Created at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Created before this time.' }),
  }),
});

const MessageConnection = connectionOf(Message);

/** Fields that read recipients, or that lead back to a message with such fields. */
const needRecipients = new Set([
  'captured',
  'recipients',
  'recipientCounts',
  'recipient',
  'waiting',
  'message',
  'data',
]);

builder.queryField('messages', (t) =>
  t.field({
    type: MessageConnection,
    description:
      'The log, newest first. A filtered page can be short while hasNextPage is true. To page backward, use last ' +
      'instead of first: last alone returns the end of the log; with before, it returns the page before that cursor.',
    args: {
      ...pageArgs(t),
      last: t.arg.int({ description: 'Entries from the end of the log, from 1 to 100. If set, first is ignored.' }),
      before: t.arg.string({
        description: 'startCursor of the following page, or the cursor of any edge, with the same filter.',
      }),
      filter: filterArg(t, MessageFilter),
    },
    resolve: async (_, { filter, last, before, ...args }, g, info) => {
      const { status, tags, ...rest } = filter ?? {};
      if (last != null || before != null) {
        if (args.after != null) throw bothEnds();
        const filter_values = { ...rest, status: status?.join(','), tag: tags };
        return connectionBefore(await call(g, listMessagesBackward, { ...filter_values, last, before }), before);
      }
      const with_recipients = namesBelow(info, needRecipients);
      const operation = with_recipients ? listMessages : listMessagesAlone;
      const messages = await page(g, operation, args, { ...rest, status: status?.join(','), tag: tags });
      if (!with_recipients) return messages;
      for (const { node } of messages.edges) g.load.messages.prime(node.id, node);
      return messages;
    },
  }),
);

function bothEnds(): AppError {
  const message = 'Use after with first, or before with last.';
  return new AppError('invalid_cursor', message, { details: [{ param: 'before', reason: 'invalid_cursor', message }] });
}

const MessagePayload = builder.objectRef<{ readonly email: LogEntry }>('MessagePayload').implement({
  description: 'The changed or new message.',
  // Not `message`: ApiError has a field of that name with another type, and documents select both.
  fields: (t) => ({
    email: t.field({
      type: Message,
      description: 'The message after the change, or the new message.',
      resolve: ({ email }) => email,
    }),
  }),
});

export const MessageResult = resultOf('MessageResult', MessagePayload);

const RescheduleInput = builder.inputType('RescheduleInput', {
  description: 'The message to reschedule.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The message ID.' }),
    scheduledAt: t.field({ type: 'DateTime', required: true, description: 'The new time to send it at.' }),
  }),
});

const ContentLinkInput = builder.inputType('ContentLinkInput', {
  description: 'The content to link to.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The message ID.' }),
    attachment: t.int({ description: 'The attachment index, from 0. Default: the source.' }),
  }),
});
const ContentLinkPayload = builder
  .objectRef<{ readonly url: string; readonly expires_at: string }>('ContentLinkPayload')
  .implement({
    description: 'A one-time download link.',
    fields: (t) => ({
      url: t.field({ type: 'URL', description: 'The link. It works once.', resolve: ({ url }) => url }),
      expiresAt: t.field({
        type: 'DateTime',
        description: 'When the link expires.',
        resolve: ({ expires_at }) => expires_at,
      }),
    }),
  });
const ContentLinkResult = resultOf('ContentLinkResult', ContentLinkPayload);

const GiveUpInput = builder.inputType('GiveUpInput', {
  description: 'The message to give up on.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The message ID.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
  }),
});

builder.mutationFields((t) => ({
  messageCancel: t.field({
    type: MessageResult,
    description: 'Cancels a message before its first attempt. Idempotent.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, cancelMessage, input) })),
  }),
  messageReschedule: t.field({
    type: MessageResult,
    description: 'Reschedules a message before its first attempt.',
    args: { input: inputArg(t, RescheduleInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, rescheduleMessage, input) })),
  }),
  messageSendNow: t.field({
    type: MessageResult,
    description: 'Sends a scheduled message now. Idempotent.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, sendMessageNow, input) })),
  }),
  messageResend: t.field({
    type: MessageResult,
    description: 'Resends the content of a message as a new message.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const { id } = await call(g, resendMessage, input);
        return { email: present(await g.load.messages.load(id), messageNotFound(id)) };
      }),
  }),
  messageContentLink: t.field({
    type: ContentLinkResult,
    description: 'Creates a one-time link, valid for five minutes, to the source or an attachment.',
    args: { input: inputArg(t, ContentLinkInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, createContentLink, input)),
  }),
  messageGiveUp: t.field({
    type: MessageResult,
    description: 'Gives up on the open recipients of a message. Recipients not attempted yet are canceled.',
    args: { input: inputArg(t, GiveUpInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, giveUpMessage, input) })),
  }),
  messageRetry: t.field({
    type: MessageResult,
    description: 'Retries the deferred recipients of a message now.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ email: await call(g, retryMessageNow, input) })),
  }),
}));
