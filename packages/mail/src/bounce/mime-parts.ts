import { decodeText, unquoted } from './charset.ts';
import { htmlToText } from './html-text.ts';

/** The header fields of a part, by name in lower case; of a repeated field the first. */
export type Headers = ReadonlyMap<string, string>;

/** A leaf of a mail's structure. */
export interface MailPart {
  /** Such as text/plain, in lower case. */
  readonly type: string;
  readonly headers: Headers;
  readonly is_attached: boolean;
  /** Decoded; html as text. Empty where it is not needed. */
  readonly text: string;
}

export interface MailStructure {
  readonly headers: Headers;
  readonly parts: readonly MailPart[];
}

const MAX_DEPTH = 6;
const MAX_PARTS = 30;
// Space for the line that MIME readers do not show.
const MAX_PREAMBLE_CHARACTERS = 120;
const MAX_HEADER_LINES = 300;
const MAX_VALUE_CHARACTERS = 4096;
// A report is a few kilobytes; what is behind this is the copy.
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
 * Splits a mail into its leaves. Not a general MIME parser: it accepts what mail systems write that is not MIME (a
 * boundary behind a blank, a part without a type, a boundary that was never declared), and does not look into the mail
 * that was returned. Time and memory are bounded by the size of the mail and the limits above.
 */
export function readStructure(raw: Buffer): MailStructure {
  const whole = entityOf(raw.toString('latin1').replace(/^From [^\n]*\n/, ''));
  const parts: MailPart[] = [];
  collect(whole, 0, parts);
  return { headers: whole.headers, parts };
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

/** Header and body. A first line that is no field begins the body, also where the empty line is missing. */
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
      // A repeated field, and its continuation, is dropped.
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

/** The parts between boundary lines; none if the body is one part. */
function splitBody(body: string, { type, parameters }: ContentType): string[] {
  if (type !== '' && !type.startsWith('multipart/')) return [];
  const declared = parameters.get('boundary')?.trim();
  const pieces = declared ? splitAt(body, declared) : [];
  if (pieces.length > 0) return pieces;
  // The declared boundary never occurs, or there is none: a line of dashes above a Content- field is one. Without a
  // type it must come first, or it would be that of a copy.
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
    // Some servers indent the boundary by a blank.
    if (body.slice(start, Math.min(index, start + 8)).trim() !== '') continue;
    const end = body.indexOf('\n', index);
    const rest = body.slice(from, end < 0 ? Math.min(body.length, from + 80) : Math.min(end, from + 80)).trim();
    if (rest !== '' && rest !== '--') continue;
    if (first >= 0) pieces.push(body.slice(first, start));
    first = rest === '--' || end < 0 ? -1 : end + 1;
    if (rest === '--' || pieces.length >= MAX_PARTS) return pieces;
  }
  // The last part of a mail that was cut off.
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
  const how = encoding.trim().toLowerCase();
  if (how === 'base64') return Buffer.from(body, 'base64');
  return how === 'quoted-printable' ? unquoted(body) : Buffer.from(body, 'latin1');
}
