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
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { call, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { Message } from '../kit/refs.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';
import { MessageResult } from './messages.ts';

// A message may be megabytes in size.
const CONTENT_COST = 100;
/** The longest effective wait, because responses time out after 15 seconds. */
const MAX_WAIT = 10;

const CaptureHeader = builder.objectRef<CaptureDetail['headers'][number]>('CaptureHeader').implement({
  description: 'A header of a captured email, decoded.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the header.' }),
    value: t.exposeString('value', { description: 'The decoded value.' }),
  }),
});
const CaptureAttachment = builder.objectRef<CaptureDetail['attachments'][number]>('CaptureAttachment').implement({
  description: 'An attachment of a captured email.',
  fields: (t) => ({
    filename: t.exposeString('filename', { nullable: true, description: 'The filename; null: none was given.' }),
    contentType: t.string({ description: 'The MIME type.', resolve: ({ content_type }) => content_type }),
    sizeBytes: t.int({ description: 'The decoded size in bytes.', resolve: ({ size_bytes }) => size_bytes }),
    contentId: t.string({
      nullable: true,
      description: 'The content ID that html can refer to; null: none.',
      resolve: ({ content_id }) => content_id,
    }),
  }),
});
const CaptureContent = builder.objectRef<CaptureDetail>('CaptureContent').implement({
  description: 'The content of a captured email.',
  fields: (t) => ({
    html: t.exposeString('html', { nullable: true, description: 'The HTML body; null: none.' }),
    text: t.exposeString('text', { nullable: true, description: 'The text body; null: none.' }),
    headers: t.field({
      type: [CaptureHeader],
      description: 'Decoded, in message order.',
      resolve: ({ headers }) => headers,
    }),
    attachments: t.field({
      type: [CaptureAttachment],
      description: 'The attachments, in message order.',
      resolve: ({ attachments }) => attachments,
    }),
    links: t.stringList({
      description: 'From html, then from text, without duplicates.',
      resolve: ({ links }) => [...links],
    }),
    codes: t.stringList({ description: 'One-time codes found in the text.', resolve: ({ codes }) => [...codes] }),
    raw: t.exposeString('raw', { description: 'The raw source, truncated to one megabyte.' }),
  }),
});

const Capture = builder.objectRef<CaptureEntry>('Capture').implement({
  description: 'An email that was captured instead of delivered.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The same ID as in REST.' }),
    from: t.exposeString('from', { description: 'The envelope sender; empty for a bounce.' }),
    sender: t.exposeString('sender', {
      description: 'The From address of email sent through Postrider; otherwise the envelope sender.',
    }),
    to: t.stringList({ description: 'The envelope recipients.', resolve: ({ to }) => [...to] }),
    subject: t.exposeString('subject', { description: 'The decoded subject.' }),
    sizeBytes: t.int({ description: 'The size of the raw source in bytes.', resolve: ({ size_bytes }) => size_bytes }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When it was captured.',
      resolve: ({ received_at }) => received_at,
    }),
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
    to: t.string({ description: 'Part of a recipient address.' }),
    from: t.string({ description: 'Part of the sender address.' }),
    subject: t.string({ description: 'Part of the subject.' }),
    since: t.field({ type: 'DateTime', description: 'Received at or after this time.' }),
  }),
});

builder.queryField('captures', (t) =>
  t.field({
    type: connectionOf(Capture),
    description: 'Captured email, newest first.',
    args: {
      ...pageArgs(t),
      filter: filterArg(t, CaptureFilter),
      wait: t.arg.int({
        description: `Seconds to wait for the first match, up to ${MAX_WAIT}.`,
      }),
    },
    resolve: (_, { filter, wait, ...args }, g) =>
      page(g, listCaptures, args, { ...filter, ...(wait != null && { wait: Math.min(wait, MAX_WAIT) }) }),
  }),
);

const ReleaseInput = builder.inputType('CaptureReleaseInput', {
  description: 'The captured email to send.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The ID of the captured email.' }),
    to: t.stringList({ description: 'Recipients to use instead of the original ones.' }),
  }),
});
const CapturesClearPayload = builder.objectRef<{ readonly deleted: number }>('CapturesClearPayload').implement({
  description: 'The result of deleting captured email.',
  fields: (t) => ({ deleted: t.exposeInt('deleted', { description: 'Number of deleted emails.' }) }),
});
const CapturesClearResult = resultOf('CapturesClearResult', CapturesClearPayload);
const CapturesClearInput = builder.inputType('CapturesClearInput', {
  description: 'Confirms that captured email is deleted.',
  fields: (t) => ({ all: t.boolean({ required: true, description: 'true: all captured email in the workspace.' }) }),
});

builder.mutationFields((t) => ({
  captureDelete: t.field({
    type: DeleteResult,
    description: 'Deletes a captured email. Requires admin or a sandbox key.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deleteCapture, input)).id })),
  }),
  capturesClear: t.field({
    type: CapturesClearResult,
    description: 'Deletes all captured email in the workspace (admins) or in the sandbox (sandbox keys).',
    args: { input: inputArg(t, CapturesClearInput) },
    resolve: (_, { input }, g) => outcome(async () => (input.all ? call(g, clearCaptures, {}) : { deleted: 0 })),
  }),
  captureRelease: t.field({
    type: MessageResult,
    description: 'Sends the content of a captured email as a new message.',
    args: { input: inputArg(t, ReleaseInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        const { id } = await call(g, releaseCapture, input);
        return { email: present(await g.load.messages.load(id), messageNotFound(id)) };
      }),
  }),
}));
