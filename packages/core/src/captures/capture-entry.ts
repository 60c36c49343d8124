import type { ReadMail } from '@postrider/mail';
import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName, timeField } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import type { Actor } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { codesIn, linksIn } from './find-in-mail.ts';
import type { ListedCapture } from './store.ts';

const MAX_SOURCE_LENGTH = 1024 * 1024;

export const captureSchema = z
  .object({
    object: objectName('capture'),
    id: idField(idPrefixes.capture),
    from: z.string().meta({ description: 'The envelope sender; empty for a bounce.' }),
    sender: z
      .string()
      .meta({ description: 'The From address of email sent through Postrider; otherwise the envelope sender.' }),
    to: z.array(z.string()).readonly().meta({ description: 'The envelope recipients.' }),
    subject: z.string().meta({ description: 'The decoded Subject header.' }),
    email_id: idField(idPrefixes.message).nullable().meta({ description: 'null: sent by another application.' }),
    size_bytes: z.int().meta({ description: 'Size of the raw source.' }),
    received_at: timeField.meta({ description: 'When the email was captured.' }),
  })
  .meta({ id: 'Capture' });
export type CaptureEntry = z.output<typeof captureSchema>;

export function captureEntry(row: ListedCapture): CaptureEntry {
  return {
    object: 'capture',
    id: row.id,
    from: row.envelope_from,
    sender: row.sender,
    to: row.envelope_to,
    subject: row.subject,
    email_id: row.message_id,
    size_bytes: row.size_bytes,
    received_at: isoTime(row.received_at),
  };
}

export const captureDetailSchema = captureSchema
  .extend({
    html: z.string().nullable().meta({ description: 'The HTML part. null: none.' }),
    text: z.string().nullable().meta({ description: 'The plain-text part. null: none.' }),
    headers: z
      .array(
        z.object({
          name: z.string().meta({ description: 'As spelled in the email.' }),
          value: z.string().meta({ description: 'Unfolded and decoded.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Decoded, in message order.' }),
    attachments: z
      .array(
        z.object({
          filename: z.string().nullable().meta({ description: 'null: the part has no filename.' }),
          content_type: z.string().meta({ description: 'Media type, such as application/pdf.' }),
          size_bytes: z.int().meta({ description: 'Decoded size.' }),
          content_id: z.string().nullable().meta({ description: 'Referenced as cid:… in html. null: none.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Attached and inline files, without their content.' }),
    links: z.array(z.string()).readonly().meta({ description: 'From html, then from text, without duplicates.' }),
    codes: z
      .array(z.string())
      .readonly()
      .meta({ description: 'One-time codes found in the text.', examples: [['493817']] }),
    raw: z.string().meta({ description: 'The raw source, truncated to one megabyte.' }),
  })
  .meta({ id: 'CaptureDetail' });
export type CaptureDetail = z.output<typeof captureDetailSchema>;

export function captureDetail(row: ListedCapture & { readonly raw: Buffer }, mail: ReadMail): CaptureDetail {
  const { html, headers, attachments } = mail;
  // The parser returns empty text for a message that has only HTML.
  const text = mail.text || null;
  return {
    ...captureEntry(row),
    html,
    text,
    headers: headers.map(([name, value]) => ({ name, value })),
    attachments: attachments.map(({ filename, content_type, size, content_id }) => ({
      filename,
      content_type,
      size_bytes: size,
      content_id,
    })),
    links: linksIn(html, text),
    codes: codesIn(html, text),
    raw: row.raw.subarray(0, MAX_SOURCE_LENGTH).toString('utf8'),
  };
}

/**
 * Throws unless the actor may see captured content: admins may, and so may sandbox keys, whose messages are test
 * messages.
 */
export function requireCaptureContent(actor: Actor): void {
  const refusal = accessibleMode(actor) === 'sandbox' ? null : scopeRefusal(actor, 'admin');
  if (refusal) throw refusal;
}

export function captureNotFound(id: string): AppError {
  return new AppError(
    'capture_not_found',
    `No captured email with ID ${id.slice(0, 64)} in this workspace. List them with GET /v1/captures.`,
  );
}
