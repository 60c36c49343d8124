import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Attachment, AttachmentStream, HeaderLines, Headers, MessageText } from 'mailparser';

/** A node of a message's structure. */
export interface Part {
  /** The content type, in lower case. */
  readonly contentType: string | false;
  readonly headers: Headers;
  readonly charset?: string;
  /** Whether a leaf is anything other than inline text. */
  readonly isAttachment?: boolean;
  /** The text of an inline text part. */
  readonly textContent?: string;
  readonly children: readonly Part[];
}

export interface ReadMail {
  readonly headers: Headers;
  readonly headerLines: HeaderLines;
  readonly attachments: readonly Attachment[];
  readonly structure: Part;
}

/** Parses a message like simpleParser, but with its structure. */
export async function parseMail(raw: Buffer): Promise<ReadMail> {
  const { MailParser } = await import('mailparser');
  const parser = new MailParser({
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    // Without this option, a delivery report would be treated as ordinary text.
    keepDeliveryStatus: true,
  });
  const attachments: Attachment[] = [];
  // An attachment being read is not notified of a parser error, and would be awaited forever.
  const failed = new Promise<never>((_, reject) => parser.once('error', reject));
  failed.catch(() => undefined);
  parser.end(raw);
  for await (const part of parser as AsyncIterable<AttachmentStream | MessageText>) {
    if (part.type !== 'attachment') continue;
    const content = part.content as Readable;
    try {
      attachments.push({ ...part, content: await Promise.race([buffer(content), failed]) } as unknown as Attachment);
    } catch (error) {
      content.destroy();
      throw error;
    }
    part.release();
  }
  // The parser's types omit these fields, which hold the parsed message once the parser has ended.
  const { headerLines, tree } = parser as unknown as { readonly headerLines: HeaderLines; readonly tree: Part };
  return { headers: tree.headers, headerLines, attachments, structure: tree };
}
