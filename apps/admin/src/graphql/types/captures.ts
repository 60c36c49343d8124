import {
  type CaptureDetail,
  type CaptureEntry,
  clearCaptures,
  deleteCapture,
  listCaptures,
  releaseCapture,
} from '@postrider/core/captures';
import { messageNotFound } from '@postrider/core/messages';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { call, page, present } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { Message } from '../kit/refs.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';
import { MessageResult } from './messages.ts';

// A message may be megabytes in size.
const CONTENT_COST = 100;
/** The longest effective wait, because responses time out after 15 seconds. */
const MAX_WAIT = 10;

const CaptureHeader = builder.objectRef<CaptureDetail['headers'][number]>('CaptureHeader').implement({
  fields: (t) => ({ name: t.exposeString('name'), value: t.exposeString('value') }),
});
const CaptureAttachment = builder.objectRef<CaptureDetail['attachments'][number]>('CaptureAttachment').implement({
  fields: (t) => ({
    filename: t.exposeString('filename', { nullable: true }),
    contentType: t.string({ resolve: ({ content_type }) => content_type }),
    sizeBytes: t.int({ resolve: ({ size_bytes }) => size_bytes }),
    contentId: t.string({ nullable: true, resolve: ({ content_id }) => content_id }),
  }),
});
const CaptureContent = builder.objectRef<CaptureDetail>('CaptureContent').implement({
  fields: (t) => ({
    html: t.exposeString('html', { nullable: true }),
    text: t.exposeString('text', { nullable: true }),
    headers: t.field({ type: [CaptureHeader], resolve: ({ headers }) => headers }),
    attachments: t.field({ type: [CaptureAttachment], resolve: ({ attachments }) => attachments }),
    links: t.stringList({ resolve: ({ links }) => [...links] }),
    codes: t.stringList({ description: 'One-time codes found in the text.', resolve: ({ codes }) => [...codes] }),
    raw: t.exposeString('raw', { description: 'The raw source, truncated to one megabyte.' }),
  }),
});

const Capture = builder.objectRef<CaptureEntry>('Capture').implement({
  description: 'An email that was captured instead of delivered.',
  fields: (t) => ({
    id: t.exposeID('id'),
    from: t.exposeString('from', { description: 'The envelope sender; empty for a bounce.' }),
    sender: t.exposeString('sender', {
      description: 'The From address of email sent through Postrider; otherwise the envelope sender.',
    }),
    to: t.stringList({ resolve: ({ to }) => [...to] }),
    subject: t.exposeString('subject'),
    sizeBytes: t.int({ resolve: ({ size_bytes }) => size_bytes }),
    receivedAt: t.field({ type: 'DateTime', resolve: ({ received_at }) => received_at }),
    message: t.field({
      type: Message,
      nullable: true,
      description: 'null: sent by another application.',
      resolve: ({ email_id }, _, { load }) => (email_id === null ? null : load.messages.load(email_id)),
    }),
    content: t.field({
      type: CaptureContent,
      description: 'Each read is recorded in the audit log.',
      complexity: { field: CONTENT_COST, multiplier: 1 },
      resolve: ({ id }, _, { load }) => load.captures.load(id),
    }),
  }),
});

const CaptureFilter = builder.inputType('CaptureFilter', {
  description: 'Combined with AND. Substrings, case-insensitive.',
  fields: (t) => ({
    to: t.string(),
    from: t.string(),
    subject: t.string(),
    since: t.field({ type: 'DateTime', description: 'Received at or after this time.' }),
  }),
});

builder.queryField('captures', (t) =>
  t.field({
    type: connectionOf(Capture),
    description: 'Captured email, newest first.',
    args: {
      ...pageArgs(t),
      filter: t.arg({ type: CaptureFilter }),
      wait: t.arg.int({
        description: `Seconds to wait for the first match, up to ${MAX_WAIT}.`,
      }),
    },
    resolve: (_, { filter, wait, ...args }, g) =>
      page(g, listCaptures, args, { ...filter, ...(wait != null && { wait: Math.min(wait, MAX_WAIT) }) }),
  }),
);

const ReleaseInput = builder.inputType('CaptureReleaseInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    to: t.stringList({ description: 'Recipients to use instead of the original ones.' }),
  }),
});
const CapturesClearPayload = builder.objectRef<{ readonly deleted: number }>('CapturesClearPayload').implement({
  fields: (t) => ({ deleted: t.exposeInt('deleted') }),
});
const CapturesClearResult = resultOf('CapturesClearResult', CapturesClearPayload);
const CapturesClearInput = builder.inputType('CapturesClearInput', {
  fields: (t) => ({ all: t.boolean({ required: true, description: 'true: all captured email in the workspace.' }) }),
});

builder.mutationFields((t) => ({
  captureDelete: t.field({
    type: DeleteResult,
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deleteCapture, input)).id })),
  }),
  capturesClear: t.field({
    type: CapturesClearResult,
    args: { input: t.arg({ type: CapturesClearInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => (input.all ? call(g, clearCaptures, {}) : { deleted: 0 })),
  }),
  captureRelease: t.field({
    type: MessageResult,
    description: 'Sends the content of a captured email as a new message.',
    args: { input: t.arg({ type: ReleaseInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const { id } = await call(g, releaseCapture, input);
        return { email: present(await g.load.messages.load(id), messageNotFound(id)) };
      }),
  }),
}));
