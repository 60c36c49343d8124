import { AppError, type Context, invoke, invokeParsed } from '@postrider/core';
import { sendBatch, sendMessage } from '@postrider/core/accept';
import {
  cancelMessage,
  getContent,
  getMessage,
  type LogEntry,
  listMessages,
  rescheduleMessage,
} from '@postrider/core/messages';
import { resendTag } from '@postrider/core/webhooks';
import { pageAfter } from './page-after.ts';
import { fieldsOf, isObject, type ResendRequest } from './resend-request.ts';

const notSupported: Readonly<Record<string, string>> = {
  template: 'template is not supported. Render the email and send it as html.',
  topic_id: 'topic_id is not supported. Omit it and send only to people who opted in.',
};

/** Maps a Resend send request to our fields. Rejects fields that would otherwise be dropped silently. */
export function sendFields(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { tags, attachments, reply_to, ...rest } = body;
  for (const [field, message] of Object.entries(notSupported)) {
    if (rest[field] !== undefined && rest[field] !== null) throw unsupported(field, message);
  }
  if (Array.isArray(attachments)) {
    for (const [index, attachment] of attachments.entries()) {
      if (isObject(attachment) && attachment.path != null) {
        throw unsupported(
          `attachments[${index}].path`,
          'attachments.path is not supported. Read the file and send its content.',
        );
      }
    }
  }
  const { template: _, topic_id: __, ...fields } = rest;
  return {
    ...fields,
    ...(reply_to !== undefined && { reply_to: soleAddress(reply_to) }),
    ...(tags !== undefined && { tags: Array.isArray(tags) ? tags.map(tagText) : tags }),
    ...(attachments !== undefined && {
      attachments: Array.isArray(attachments) ? attachments.map(withoutPath) : attachments,
    }),
  };
}

/** Returns a single reply_to address. Resend's client sends a list if it is given one. */
function soleAddress(reply_to: unknown): unknown {
  if (!Array.isArray(reply_to)) return reply_to;
  if (reply_to.length > 1) throw unsupported('reply_to', 'reply_to must be a single address.');
  return reply_to[0] ?? null;
}

/** Returns a Resend tag as text: {name, value} becomes "name:value". */
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

export async function send(ctx: Context, { body }: ResendRequest) {
  const { id } = await invokeParsed(ctx, sendMessage, mapped(body));
  return { id };
}

function mapped(body: ResendRequest['body']): ResendRequest['body'] {
  if (!body.ok) return body;
  try {
    return { ok: true, value: sendFields(body.value) };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, error };
    throw error;
  }
}

/**
 * Sends a batch. Strict mode, the default, rejects the whole batch if any message is invalid. Permissive mode accepts
 * the others. Rejects features that do not exist here before calling core, which would ignore them.
 */
export async function batch(ctx: Context, { body, headers }: ResendRequest) {
  const permissive = headers['x-batch-validation'] === 'permissive';
  if (!body.ok) throw body.error;
  // Core would also accept an object with messages, which no Resend client sends.
  if (!Array.isArray(body.value)) throw new AppError('invalid_type', 'The body must be an array of emails.');
  const errors: { index: number; message: string }[] = [];
  const items: { index: number; fields: unknown }[] = [];
  for (const [index, one] of body.value.entries()) {
    const message = mapped({ ok: true, value: one });
    if (message.ok) items.push({ index, fields: message.value });
    else if (permissive) errors.push({ index, message: message.error.message });
    else {
      const { reason, message: cause, facts } = message.error;
      throw new AppError(reason, `messages[${index}]: ${cause}`, facts);
    }
  }
  const emails: { id: string }[] = [];
  if (items.length > 0 || errors.length === 0) {
    const messages = items.map(({ fields }) => fields);
    const { data } = await invoke(ctx, sendBatch, { messages, all_or_nothing: !permissive });
    for (const [at, one] of data.entries()) {
      if ('error' in one) errors.push({ index: items[at]?.index ?? at, message: one.error.message });
      else emails.push({ id: one.id });
    }
  }
  errors.sort((left, right) => left.index - right.index);
  return permissive ? { data: emails, errors } : { data: emails };
}

/** Returns an email. Content is available only to keys with the admin scope. For other keys, html and text are null. */
export async function get(ctx: Context, { params }: ResendRequest) {
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
    tags: entry.tags.map(resendTag),
  };
}

export async function list(ctx: Context, request: ResendRequest) {
  const page = await pageAfter(ctx, listMessages, request);
  return { object: 'list', has_more: page.has_more, data: page.data.map(summary) };
}

export async function update(ctx: Context, request: ResendRequest) {
  const { scheduled_at } = fieldsOf(request);
  const { id } = await invoke(ctx, rescheduleMessage, { id: request.params.id, scheduled_at });
  return { object: 'email', id };
}

export async function cancel(ctx: Context, { params }: ResendRequest) {
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
