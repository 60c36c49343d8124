import type { AddressObject, ParsedMail } from 'mailparser';

export interface MailAddress {
  readonly name: string | null;
  readonly email: string;
}

/** A received mail as a page shows it. */
export interface ReadMail {
  readonly subject: string;
  readonly from: MailAddress | null;
  readonly to: MailAddress[];
  readonly cc: MailAddress[];
  readonly reply_to: MailAddress[];
  readonly date: Date | null;
  /** Without angle brackets. */
  readonly message_id: string | null;
  /** Names as written, values unfolded and decoded, in the order of the mail. */
  readonly headers: [name: string, value: string][];
  readonly text: string | null;
  /** As sent: cid: references are kept, nothing is inlined or cleaned. */
  readonly html: string | null;
  readonly attachments: ReadAttachment[];
}

export interface ReadAttachment {
  readonly filename: string | null;
  readonly content_type: string;
  readonly size: number;
  readonly content_id: string | null;
}

const ENCODED_WORD = /=\?([\w-]+)(?:\*[\w-]*)?\?([BbQq])\?([^?\s]*)\?=/g;
const BETWEEN_ENCODED_WORDS = /(=\?[\w*-]+\?[BbQq]\?[^?\s]*\?=)\s+(?==\?[\w*-]+\?[BbQq]\?)/g;

/** Parses without conversions that are not shown, which also keeps hostile html cheap. */
export async function readMail(raw: Buffer): Promise<ReadMail> {
  // With the first mail: the parser takes a tenth of a second to load, and 7 MB from then on.
  const { simpleParser } = await import('mailparser');
  const mail = await simpleParser(raw, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    keepCidLinks: true,
    keepDeliveryStatus: true,
  });
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
    // RFC 5322 section 2.2.3: unfolding removes the line break and leaves the blank after it.
    const value = line.slice(colon + 1).replace(/\r?\n(?=[ \t])/g, '');
    return [line.slice(0, colon), decodeWords(value).trim()];
  });
}

/** RFC 2047 for custom headers; mailparser decodes only those it knows. */
function decodeWords(value: string): string {
  if (!value.includes('=?')) return value;
  // Blanks between two encoded-words belong to neither (section 6.2).
  return value
    .replace(BETWEEN_ENCODED_WORDS, '$1')
    .replace(ENCODED_WORD, (word: string, charset: string, encoding: string, text: string) => {
      const octets =
        encoding.toUpperCase() === 'B'
          ? Buffer.from(text, 'base64')
          : Buffer.from(
              text
                .replaceAll('_', ' ')
                .replace(/=([0-9A-Fa-f]{2})/g, (_: string, hex: string) =>
                  String.fromCharCode(Number.parseInt(hex, 16)),
                ),
              'latin1',
            );
      try {
        return new TextDecoder(charset).decode(octets);
      } catch {
        return word;
      }
    });
}
