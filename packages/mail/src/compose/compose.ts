import type { Mailbox } from '../address/address.ts';
import { isStructuredHeader } from './header-rules.ts';
import { encodedWords, foldHeader, foldText, looksEncoded } from './header-text.ts';
import { filenameType } from './media-type.ts';
import { bytesOf, type OctetWriter, startWriting, writeAscii } from './octet-writer.ts';
import { writeBase64, writeTextPart } from './transfer-encoding.ts';

export interface OutgoingAttachment {
  readonly filename: string;
  /** Base64 without line ends, as it was accepted: decoding it would only mean encoding it again. */
  readonly content: string;
  readonly content_type?: string | undefined;
  /** With or without angle brackets. A Content-ID makes the part an inline part that HTML references by cid:. */
  readonly content_id?: string | undefined;
}

/** The whole content of a message. It contains no Bcc recipients, so they cannot leak. */
export interface OutgoingMessage {
  /** The Message-ID without angle brackets, which boundaries are derived from. */
  readonly message_id: string;
  readonly date: Date;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly reply_to: Mailbox | null;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** Custom headers, written in this order. Each must have passed headerProblem. */
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments: readonly OutgoingAttachment[];
}

/** Writes a MIME entity: its header lines, an empty line, and its body. Returns where the body begins. */
type Part = (to: OctetWriter) => number;

const CRLF = '\r\n';
const LF = 0x0a;
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const QUOTABLE = /^[!-~]+(?: [!-~]+)*$/;
const PLAIN_TEXT = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;
const MAX_QUOTED_NAME = 70;
const PLAIN_FILENAME = /^[A-Za-z0-9_()+-][A-Za-z0-9_()+.-]*(?: [A-Za-z0-9_()+.-]+)*$/;
const MAX_PLAIN_FILENAME = 60;
const CONTENT_TYPE = /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}$/;
const CONTENT_PARAMETER = /^[A-Za-z0-9-]{1,64}=(?:[A-Za-z0-9!#$&^_.+-]{1,128}|"[ !#-[\]-~]{0,128}")$/;
// Composite types must not be encoded in base64 (RFC 2046 section 5.2.1 and RFC 2045 section 6.4), and clients would
// expand them, so attachments of these types are sent as application/octet-stream.
const COMPOSITE_TYPE = /^(?:multipart|message)\//i;

/** Returns the message as sent on the wire. A pure function: the same message gives the same bytes on every retry. */
export function compose(message: OutgoingMessage): Buffer {
  return Buffer.from(composeBriefly(message));
}

/**
 * Composes a message like `compose`, but without a copy: the bytes are valid only until the next message is composed,
 * so the caller must read them in the same turn of the event loop.
 */
export function composeBriefly(message: OutgoingMessage): Buffer {
  let header = '';
  header += addressHeader('From', [message.from]);
  if (message.to.length > 0) header += addressHeader('To', message.to);
  if (message.cc.length > 0) header += addressHeader('Cc', message.cc);
  if (message.reply_to) header += addressHeader('Reply-To', [message.reply_to]);
  header += textHeader('Subject', message.subject);
  header += `Date: ${message.date.toUTCString().replace('GMT', '+0000')}${CRLF}`;
  header += foldHeader('Message-ID', [`<${message.message_id}>`]);
  for (const [name, value] of Object.entries(message.headers)) header += customHeader(name, value);
  const to = startWriting();
  writeAscii(to, `${header}MIME-Version: 1.0${CRLF}`);
  const body = contentPart(message)(to);
  if (to.length === body || to.bytes[to.length - 1] !== LF) writeAscii(to, CRLF);
  return bytesOf(to);
}

function contentPart(message: OutgoingMessage): Part {
  const mark = message.message_id.replace(/[^A-Za-z0-9]+/g, '_').slice(0, 48);
  const inline = message.html === null ? [] : message.attachments.filter((attachment) => attachment.content_id);
  const attached = message.attachments.filter((attachment) => !inline.includes(attachment));

  let content: Part;
  if (message.html === null) {
    content = textPart('plain', message.text ?? '');
  } else {
    content = textPart('html', message.html);
    if (inline.length > 0) {
      content = multipart('related', mark, [content, ...inline.map((part) => attachmentPart(part, 'inline'))]);
    }
    if (message.text !== null) content = multipart('alternative', mark, [textPart('plain', message.text), content]);
  }
  if (attached.length === 0) return content;
  return multipart('mixed', mark, [content, ...attached.map((part) => attachmentPart(part, 'attachment'))]);
}

function multipart(kind: 'mixed' | 'alternative' | 'related', mark: string, parts: readonly Part[]): Part {
  // No quoted-printable or base64 line contains "=_" (RFC 2045 section 6.7), and text that contains it is never sent as
  // 7bit.
  const boundary = `=_${kind.slice(0, 3)}_${mark}`;
  const parameters = kind === 'related' ? [`multipart/${kind};`, 'type="text/html";'] : [`multipart/${kind};`];
  const header = foldHeader('Content-Type', [...parameters, `boundary="${boundary}"`]);
  return (to) => {
    writeAscii(to, `${header}${CRLF}`);
    const body = to.length;
    for (const part of parts) {
      writeAscii(to, `--${boundary}${CRLF}`);
      part(to);
      writeAscii(to, CRLF);
    }
    writeAscii(to, `--${boundary}--${CRLF}`);
    return body;
  };
}

function textPart(kind: 'plain' | 'html', source: string): Part {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source;
  return (to) => writeTextPart(to, `text/${kind}; charset=utf-8`, text);
}

function attachmentPart(attachment: OutgoingAttachment, disposition: 'inline' | 'attachment'): Part {
  let header = foldHeader('Content-Type', contentType(attachment));
  header += `Content-Transfer-Encoding: base64${CRLF}`;
  const contentId = attachment.content_id?.replace(/[^!-~]|[<>]/g, '');
  if (contentId) header += foldHeader('Content-ID', [`<${contentId.slice(0, 990)}>`]);
  header += foldHeader('Content-Disposition', [`${disposition};`, ...filenameParameters(attachment.filename)]);
  return (to) => {
    writeAscii(to, `${header}${CRLF}`);
    const body = to.length;
    writeBase64(to, attachment.content);
    return body;
  };
}

function contentType(attachment: OutgoingAttachment): string[] {
  const [type = '', ...parameters] = (attachment.content_type ?? '').split(';').map((piece) => piece.trim());
  if (CONTENT_TYPE.test(type) && !COMPOSITE_TYPE.test(type)) {
    return withSemicolons([type, ...parameters.filter((parameter) => CONTENT_PARAMETER.test(parameter))]);
  }
  const detected = attachment.content_type ? 'application/octet-stream' : filenameType(attachment.filename);
  return [COMPOSITE_TYPE.test(detected) ? 'application/octet-stream' : detected];
}

/**
 * Returns the parameters for a filename. Plain names are quoted; all others use RFC 2231: percent-encoded UTF-8, in
 * numbered pieces if long.
 */
function filenameParameters(filename: string): string[] {
  if (filename.length <= MAX_PLAIN_FILENAME && PLAIN_FILENAME.test(filename)) return [`filename="${filename}"`];
  const encoded = Array.from(Buffer.from(filename || 'attachment'), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9_.-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  });
  const pieces: string[] = [];
  let piece = "utf-8''";
  for (const character of encoded) {
    if (piece.length + character.length > MAX_PLAIN_FILENAME) {
      pieces.push(piece);
      piece = '';
    }
    piece += character;
  }
  pieces.push(piece);
  if (pieces.length === 1) return [`filename*=${piece}`];
  return withSemicolons(pieces.map((text, index) => `filename*${index}*=${text}`));
}

function withSemicolons(pieces: readonly string[]): string[] {
  return pieces.map((piece, index) => (index < pieces.length - 1 ? `${piece};` : piece));
}

function addressHeader(name: string, mailboxes: readonly Mailbox[]): string {
  const tokens: string[] = [];
  let room = 76 - name.length - 2;
  for (const [index, mailbox] of mailboxes.entries()) {
    const end = index < mailboxes.length - 1 ? ',' : '';
    if (mailbox.name) tokens.push(...phrase(mailbox.name, room), `<${mailbox.email}>${end}`);
    else tokens.push(`${mailbox.email}${end}`);
    room = 75;
  }
  return foldHeader(name, tokens);
}

function phrase(name: string, room: number): string[] {
  if (!looksEncoded(name) && name.length <= MAX_QUOTED_NAME) {
    if (ATOMS.test(name)) return [name];
    if (QUOTABLE.test(name)) return [`"${name.replace(/["\\]/g, '\\$&')}"`];
  }
  return encodedWords(name, room);
}

function textHeader(name: string, value: string): string {
  if (PLAIN_TEXT.test(value) && !looksEncoded(value)) {
    const folded = foldText(name, value);
    if (folded !== null) return folded;
  }
  return foldHeader(name, encodedWords(value, 76 - name.length - 2));
}

function customHeader(name: string, value: string): string {
  if (isStructuredHeader(name)) {
    const trimmed = value.trim();
    return foldText(name, trimmed) ?? foldHeader(name, [trimmed]);
  }
  return textHeader(name, value);
}
