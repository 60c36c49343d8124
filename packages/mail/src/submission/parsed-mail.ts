import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Attachment, AttachmentStream, HeaderLines, Headers, MessageText } from 'mailparser';

/** A node of the structure of a mail. */
export interface Part {
  /** In lower case. */
  readonly contentType: string | false;
  readonly headers: Headers;
  readonly charset?: string;
  /** Of a leaf: whether it is no inline text. */
  readonly isAttachment?: boolean;
  /** Of inline text. */
  readonly textContent?: string;
  readonly children: readonly Part[];
}

export interface ReadMail {
  readonly headers: Headers;
  readonly headerLines: HeaderLines;
  readonly attachments: readonly Attachment[];
  readonly structure: Part;
}

/** As simpleParser reads a mail, but with its structure. */
export async function parseMail(raw: Buffer): Promise<ReadMail> {
  const { MailParser } = await import('mailparser');
  const parser = new MailParser({
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    // Else a report of a delivery would be text among text.
    keepDeliveryStatus: true,
  });
  const attachments: Attachment[] = [];
  // An attachment that is being read hears nothing of an error of its parser, and would be waited for forever.
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
  // Its types leave out these fields, which hold what it has read once it has ended.
  const { headerLines, tree } = parser as unknown as { readonly headerLines: HeaderLines; readonly tree: Part };
  return { headers: tree.headers, headerLines, attachments, structure: tree };
}
