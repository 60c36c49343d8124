import type { AddressObject, ParsedMail } from 'mailparser';
import { fieldText } from '../parsing/field-text.ts';

export interface MailAddress {
  readonly name: string | null;
  readonly email: string;
}

/** A received message, as shown on a page. */
export interface ReadMail {
  readonly subject: string;
  readonly from: MailAddress | null;
  readonly to: MailAddress[];
  readonly cc: MailAddress[];
  readonly reply_to: MailAddress[];
  readonly date: Date | null;
  /** The Message-ID without angle brackets. */
  readonly message_id: string | null;
  /** Names as written, values unfolded and decoded, in the message's order. */
  readonly headers: [name: string, value: string][];
  readonly text: string | null;
  /** The HTML as sent: cid: references are preserved, and nothing is inlined or sanitized. */
  readonly html: string | null;
  readonly attachments: ReadAttachment[];
}

export interface ReadAttachment {
  readonly filename: string | null;
  readonly content_type: string;
  readonly size: number;
  readonly content_id: string | null;
  readonly content: Buffer;
}

const PARSING = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepCidLinks: true,
  keepDeliveryStatus: true,
  // Passed to the parser's splitter, whose default is 1,000.
  maxChildNodes: 100_000,
};

/** Parses a message without conversions whose results are not shown, which also keeps hostile HTML cheap. */
export async function readMail(raw: Buffer): Promise<ReadMail> {
  // The parser is loaded with the first message: loading takes a tenth of a second, and 7 MB from then on.
  const { simpleParser } = await import('mailparser');
  const mail = await simpleParser(raw, PARSING);
  return {
    subject: mail.subject ?? '',
    from: addresses(mail.from)[0] ?? null,
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    reply_to: addresses(mail.replyTo),
    date: mail.headers.has('date') ? (mail.date ?? null) : null,
    message_id: mail.messageId?.replace(/^<|>$/g, '') ?? null,
    headers: headers(mail),
    text: mail.text ?? null,
    html: mail.html || null,
    attachments: mail.attachments.map((attachment) => ({
      filename: attachment.filename ?? null,
      content_type: attachment.contentType,
      size: attachment.size,
      content_id: attachment.cid ?? null,
      content: attachment.content,
    })),
  };
}

function addresses(field: AddressObject | AddressObject[] | undefined): MailAddress[] {
  return [field ?? []]
    .flat()
    .flatMap((object) =>
      object.value
        .flatMap((entry) => entry.group ?? [entry])
        .map((entry) => ({ name: entry.name || null, email: entry.address ?? '' })),
    );
}

function headers(mail: ParsedMail): [string, string][] {
  return mail.headerLines.map(({ line }) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), fieldText(line)];
  });
}
