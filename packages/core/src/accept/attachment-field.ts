import { holdsControl } from '@postrider/mail';
import { z } from 'zod';
import { absentable } from '../fields/absentable.ts';

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
// A type and a subtype of RFC 2045 tokens, with optional parameters that hold no control characters.
const CONTENT_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+([ \t]*;[ \t]*[\w-]+=("[^"\r\n\0]*"|[\w!#$&^.+-]+))*$/;

const contentText = z.string().meta({ contentEncoding: 'base64', examples: ['SGVsbG8='] });

export const attachmentSchema = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .refine((text) => !holdsControl(text), 'must not contain line breaks or control characters other than TAB'),
    content: contentText.transform((text, context) => {
      const compact = text.replace(/[\r\n]/g, '');
      if (compact.length % 4 === 0 && BASE64.test(compact)) return compact;
      context.addIssue({ code: 'custom', message: 'must be base64 with padding' });
      return z.NEVER;
    }),
    content_type: absentable(
      z
        .string()
        // Aborts, because the expression would overflow the stack on a text of megabytes.
        .max(255, { abort: true })
        .regex(CONTENT_TYPE, 'must be a media type such as application/pdf'),
    ).meta({ description: 'Derived from the filename by default.', examples: ['application/pdf'] }),
    content_id: absentable(
      z
        .string()
        .max(255)
        .regex(/^[\w.@+-]+$/, 'must be letters, digits and . _ @ + -'),
    ).meta({ description: 'Lets html show it as cid:…', examples: ['logo'] }),
  })
  .meta({ id: 'Attachment' });

/** The decoded length of a base64 text, without decoding it. */
export function decodedLength(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}
