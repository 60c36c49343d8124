import { decodeText, unquoted } from './charset.ts';
import { htmlToText } from './html-text.ts';

/** The header fields of a part, by lower-case name. If a field is repeated, the first one counts. */
export type Headers = ReadonlyMap<string, string>;

/** A leaf of a message's structure. */
export interface MailPart {
  /** For example text/plain, in lower case. */
  readonly type: string;
  readonly headers: Headers;
  readonly is_attached: boolean;
  /** The decoded text, with HTML converted to text. Empty if the part is not needed. */
  readonly text: string;
}

export interface MailStructure {
  readonly headers: Headers;
  readonly parts: readonly MailPart[];
}

const MAX_DEPTH = 6;
const MAX_PARTS = 30;
// The maximum length of the preamble, which MIME clients do not show.
const MAX_PREAMBLE_CHARACTERS = 120;
const MAX_HEADER_LINES = 300;
const MAX_VALUE_CHARACTERS = 4096;
// A report is a few kilobytes; anything beyond this limit is the copy.
const MAX_TEXT_CHARACTERS = 128 * 1024;

interface Entity {
  readonly headers: Headers;
  readonly body: string;
}

interface ContentType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Splits a message into its leaves. This is not a general MIME parser: it accepts invalid MIME that mail systems write
 * (a boundary after a space, a part without a type, an undeclared boundary), and does not look into the returned
 * message. Time and memory are bounded by the message size and the limits above.
 */
export function readStructure(raw: Buffer): MailStructure {
  const entity = entityOf(raw.toString('latin1').replace(/^From [^\n]*\n/, ''));
  const parts: MailPart[] = [];
  collect(entity, 0, parts);
  return { headers: entity.headers, parts };
}

function collect(entity: Entity, depth: number, parts: MailPart[]): void {
  if (parts.length >= MAX_PARTS) return;
  const content = contentTypeOf(entity.headers.get('content-type') ?? '');
  const pieces = depth < MAX_DEPTH ? splitBody(entity.body, content) : [];
  if (pieces.length === 0) {
    parts.push(leaf(entity, content));
    return;
  }
  for (const piece of pieces) collect(entityOf(piece), depth + 1, parts);
}

/**
 * Splits a header from its body. A first line that is not a field begins the body, even if the empty line is missing.
 */
function entityOf(text: string): Entity {
  const headers = new Map<string, string>();
  let at = 0;
  let name = '';
  for (let count = 0; at < text.length; count++) {
    const end = text.indexOf('\n', at);
    const next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, Math.min(next, at + MAX_VALUE_CHARACTERS)).trimEnd();
    if (line === '') {
      at = next;
      break;
    }
    const field = /^([\w-]{1,80})[ \t]*:(.*)$/s.exec(line);
    if (/^[ \t]/.test(line) && name !== '') {
      const value = headers.get(name) ?? '';
      if (value.length < MAX_VALUE_CHARACTERS) headers.set(name, `${value} ${line.trim()}`);
    } else if (field?.[1]) {
      const lower = field[1].toLowerCase();
      // A repeated field is dropped, along with its continuation.
      name = headers.has(lower) || count > MAX_HEADER_LINES ? '' : lower;
      if (name !== '') headers.set(name, (field[2] ?? '').trim());
    } else if (!/^[ \t]/.test(line)) {
      break;
    }
    at = next;
  }
  return { headers, body: text.slice(at) };
}

function contentTypeOf(value: string): ContentType {
  const type = /^\s*([\w.+-]{1,60}\/[\w.+-]{1,60})/.exec(value)?.[1]?.toLowerCase() ?? '';
  const parameters = new Map<string, string>();
  for (const match of value.matchAll(/;\s*([\w-]{1,40})\s*=\s*(?:"([^"]{0,200})"|([^\s;"]{1,200}))/g)) {
    const [, name = '', quoted, bare] = match;
    if (parameters.size < 10) parameters.set(name.toLowerCase(), quoted ?? bare ?? '');
  }
  return { type, parameters };
}

/** Returns the parts between boundary lines, or nothing if the body is a single part. */
function splitBody(body: string, { type, parameters }: ContentType): string[] {
  if (type !== '' && !type.startsWith('multipart/')) return [];
  const declared = parameters.get('boundary')?.trim();
  const pieces = declared ? splitAt(body, declared) : [];
  if (pieces.length > 0) return pieces;
  // If the declared boundary never occurs, or none is declared, a line of dashes above a Content- field is taken as the
  // boundary. Without a type, that line must come first; otherwise it would be the boundary of a copy.
  const guessed = /^[ \t]*--(\S{1,72})[ \t]*\r?\ncontent-/im.exec(body.slice(0, MAX_TEXT_CHARACTERS));
  if (!guessed?.[1] || (type === '' && guessed.index > MAX_PREAMBLE_CHARACTERS)) return [];
  return splitAt(body, guessed[1]);
}

function splitAt(body: string, boundary: string): string[] {
  const mark = `--${boundary}`;
  const pieces: string[] = [];
  let first = -1;
  let from = 0;
  for (;;) {
    const index = body.indexOf(mark, from);
    if (index < 0) break;
    from = index + mark.length;
    const start = body.lastIndexOf('\n', index) + 1;
    // Some servers indent the boundary by a space.
    if (body.slice(start, Math.min(index, start + 8)).trim() !== '') continue;
    const end = body.indexOf('\n', index);
    const rest = body.slice(from, end < 0 ? Math.min(body.length, from + 80) : Math.min(end, from + 80)).trim();
    if (rest !== '' && rest !== '--') continue;
    if (first >= 0) pieces.push(body.slice(first, start));
    first = rest === '--' || end < 0 ? -1 : end + 1;
    if (rest === '--' || pieces.length >= MAX_PARTS) return pieces;
  }
  // The last part of a truncated message.
  if (first >= 0) pieces.push(body.slice(first));
  return pieces;
}

function leaf({ headers, body }: Entity, { type, parameters }: ContentType): MailPart {
  const kind = type || 'text/plain';
  const is_attached = /^\s*attachment/i.test(headers.get('content-disposition') ?? '');
  if (!/^(?:text\/|message\/(?!rfc822|partial|external))/.test(kind))
    return { type: kind, headers, is_attached, text: '' };
  const bytes = decoded(body.slice(0, MAX_TEXT_CHARACTERS), headers.get('content-transfer-encoding') ?? '');
  const text = decodeText(bytes, parameters.get('charset') ?? '').replace(/\r\n?/g, '\n');
  return { type: kind, headers, is_attached, text: kind === 'text/html' ? htmlToText(text) : text };
}

function decoded(body: string, encoding: string): Uint8Array {
  const encoding_name = encoding.trim().toLowerCase();
  if (encoding_name === 'base64') return Buffer.from(body, 'base64');
  return encoding_name === 'quoted-printable' ? unquoted(body) : Buffer.from(body, 'latin1');
}
