import { holdsControl } from '@postrider/mail';
import { z } from 'zod';
import { absentable } from '../fields/absentable.ts';

// A type and a subtype of RFC 2045 tokens, with optional parameters that hold no control characters.
const CONTENT_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+([ \t]*;[ \t]*[\w-]+=("[^"\r\n\0]*"|[\w!#$&^.+-]+))*$/;

const contentText = z
  .string()
  .meta({ contentEncoding: 'base64', description: 'Base64 with padding.', examples: ['SGVsbG8='] });

export const attachmentSchema = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine((text) => !holdsControl(text), 'must not contain line breaks or control characters other than TAB')
      .meta({ description: 'Name that the recipient sees.' }),
    content: contentText.transform((text, context) => {
      const compact = text.replace(/[\r\n]/g, '');
      if (isBase64(compact)) return compact;
      context.addIssue({ code: 'custom', message: 'must be base64 with padding' });
      return z.NEVER;
    }),
    content_type: absentable(
      z
        .string()
        // Aborts early, because the expression would overflow the stack on megabytes of text.
        .max(255, { abort: true })
        .regex(CONTENT_TYPE, 'must be a media type such as application/pdf'),
    ).meta({ description: 'Derived from the filename by default.', examples: ['application/pdf'] }),
    content_id: absentable(
      z
        .string()
        .max(255)
        .regex(/^[\w.@+-]+$/, 'must be letters, digits and . _ @ + -'),
    ).meta({ description: 'Lets html reference the attachment as cid:…', examples: ['logo'] }),
  })
  .meta({ id: 'Attachment' });
type Attachment = z.output<typeof attachmentSchema>;

// A multiple of four, so that no piece ends inside a group.
const PIECE_CHARACTERS = 64 * 1024;
const piece = Buffer.allocUnsafe((PIECE_CHARACTERS / 4) * 3);

/** Checks by decoding: on megabytes, a regular expression takes five times as long and blocks the process. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return false;
  // The decoder skips invalid characters and stops at the first =. Decoding a piece at a time needs no second copy of
  // an attachment of megabytes.
  let bytes = 0;
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS)
    bytes += piece.write(text.slice(at, at + PIECE_CHARACTERS), 'base64');
  return bytes === decodedLength(text);
}

/** Serializes attachments for storage. The content needs no escaping, and JSON.stringify would scan megabytes of it. */
export function attachmentsText(attachments: readonly Attachment[]): string {
  const texts = attachments.map(
    ({ content, ...rest }) => `${JSON.stringify(rest).slice(0, -1)},"content":"${content}"}`,
  );
  return `[${texts.join(',')}]`;
}

/** Returns the decoded length of base64 text without decoding it. */
export function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}
