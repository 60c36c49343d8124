import { AppError, type Context, invoke, invokeParsed } from '@postrider/core';
import { previewMessage, sendBatch, sendMessage } from '@postrider/core/accept';
import {
  cancelMessage,
  getContent,
  getMessage,
  type LogEntry,
  listMessages,
  rescheduleMessage,
} from '@postrider/core/messages';
import { type Asked, fieldsOf, isObject } from './asked.ts';
import { pageAfter } from './page-after.ts';

const refused: Readonly<Record<string, string>> = {
  template: 'template is not supported: render the mail and send it as html.',
  topic_id: 'topic_id is not supported: leave it out, and send to the people who agreed.',
};

/** Maps a send of Resend to our fields. Refuses what would be dropped silently. */
export function sendFields(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { tags, attachments, ...rest } = body;
  for (const [field, message] of Object.entries(refused)) {
    if (rest[field] !== undefined && rest[field] !== null) throw unsupported(field, message);
  }
  if (Array.isArray(attachments)) {
    for (const [index, attachment] of attachments.entries()) {
      if (isObject(attachment) && attachment.path != null) {
        throw unsupported(
          `attachments[${index}].path`,
          'attachments.path is not supported: read the file and send its content.',
        );
      }
    }
  }
  const { template: _, topic_id: __, ...fields } = rest;
  return {
    ...fields,
    ...(tags !== undefined && { tags: Array.isArray(tags) ? tags.map(tagText) : tags }),
    ...(attachments !== undefined && {
      attachments: Array.isArray(attachments) ? attachments.map(withoutPath) : attachments,
    }),
  };
}

/** {name, value} is "name:value" here. */
function tagText(tag: unknown): unknown {
  return isObject(tag) && typeof tag.name === 'string' ? `${tag.name}:${String(tag.value)}` : tag;
}

function withoutPath(attachment: unknown): unknown {
  if (!isObject(attachment)) return attachment;
  const { path: _, ...fields } = attachment;
  return fields;
}

function unsupported(param: string, message: string): AppError {
  return new AppError('invalid_type', message, { details: [{ param, reason: 'invalid_type', message }] });
}

export async function send(ctx: Context, { body }: Asked) {
  const { id } = await invokeParsed(ctx, sendMessage, mapped(body));
  return { id };
}

function mapped(body: Asked['body']): Asked['body'] {
  if (!body.ok) return body;
  try {
    return { ok: true, value: sendFields(body.value) };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, error };
    throw error;
  }
}

/** Strict, as by default, refuses the whole batch for one mail that would be refused; permissive takes the others. */
export async function batch(ctx: Context, { body, headers }: Asked) {
  const permissive = headers['x-batch-validation'] === 'permissive';
  const messages: Asked['body'] =
    body.ok && Array.isArray(body.value) ? { ok: true, value: body.value.map((one) => toMessage(one)) } : body;
  if (!permissive && messages.ok && Array.isArray(messages.value)) {
    for (const [index, message] of messages.value.entries()) await previewOne(ctx, index, message);
  }
  const { data } = await invokeParsed(ctx, sendBatch, messages);
  const taken: { id: string }[] = [];
  const errors: { index: number; message: string }[] = [];
  for (const [index, one] of data.entries()) {
    if ('error' in one) errors.push({ index, message: one.error.message });
    else taken.push({ id: one.id });
  }
  return permissive ? { data: taken, errors } : { data: taken };
}

/** A mail of a batch that uses what does not exist here is refused by itself, like any other bad mail. */
function toMessage(one: unknown): unknown {
  const message = mapped({ ok: true, value: one });
  return message.ok ? message.value : one;
}

async function previewOne(ctx: Context, index: number, message: unknown): Promise<void> {
  try {
    await invoke(ctx, previewMessage, message);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.reason, `emails[${index}]: ${error.message}`, error.facts);
  }
}

/** Content is shown to keys with the scope admin only, so for the others html and text are null. */
export async function get(ctx: Context, { params }: Asked) {
  const entry = await invoke(ctx, getMessage, { id: params.id });
  const content = await invoke(ctx, getContent, { id: params.id }).catch((error: unknown) => {
    if (error instanceof AppError && (error.code === 'forbidden' || error.reason === 'content_gone')) return null;
    throw error;
  });
  return {
    object: 'email',
    ...summary(entry),
    html: content?.html ?? null,
    text: content?.text ?? null,
    tags: entry.tags.map((tag) => {
      const colon = tag.indexOf(':');
      return { name: colon < 0 ? tag : tag.slice(0, colon), value: colon < 0 ? '' : tag.slice(colon + 1) };
    }),
  };
}

export async function list(ctx: Context, asked: Asked) {
  const page = await pageAfter(ctx, listMessages, asked);
  return { object: 'list', has_more: page.has_more, data: page.data.map(summary) };
}

export async function update(ctx: Context, asked: Asked) {
  const { scheduled_at } = fieldsOf(asked);
  const { id } = await invoke(ctx, rescheduleMessage, { id: asked.params.id, scheduled_at });
  return { object: 'email', id };
}

export async function cancel(ctx: Context, { params }: Asked) {
  const { id } = await invoke(ctx, cancelMessage, { id: params.id });
  return { object: 'email', id };
}

function summary(entry: LogEntry) {
  return {
    id: entry.id,
    message_id: entry.message_id,
    from: entry.from,
    to: entry.to,
    cc: entry.cc.length > 0 ? entry.cc : null,
    bcc: entry.bcc.length > 0 ? entry.bcc : null,
    reply_to: entry.reply_to === null ? null : [entry.reply_to],
    subject: entry.subject,
    created_at: entry.created_at,
    scheduled_at: entry.scheduled_at,
    last_event: entry.last_event.type.replace(/^email\./, ''),
  };
}
