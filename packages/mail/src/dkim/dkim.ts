import { createHash, hash, type KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { signElsewhere } from './sign-elsewhere.ts';
import type { UnsignedPart } from './signature.ts';

/** A key that signs for a domain; its public half is published at selector._domainkey.domain. */
export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly private_key: KeyObject;
}

interface Field {
  readonly name: string;
  /** The field in relaxed form, without the line end. */
  readonly canonical: string;
}

const CRLF = '\r\n';
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const HEADER_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from(CRLF);
const FOLD_AT = 76;
const PIECE_BYTES = 256 * 1024;
const ONE_SPACED = /^(?: [!-~]+)+$/;
const SPACES = 0x20202020;
const LOW_BITS = 0x7f7f7f7f;
const ABOVE_SPACE = 0x5f5f5f5f;

// Fields that are signed one more time than they occur, so that a field added on the way breaks the signature.
const OVERSIGNED = ['from', 'subject', 'reply-to', 'list-unsubscribe', 'list-unsubscribe-post'];
// RFC 6376 section 5.4.1: servers along the way add and rewrite these fields.
const UNSIGNED = new Set(['return-path', 'received', 'dkim-signature', 'authentication-results', 'bcc']);
/** The fields that relays rewrite, for a signature that must survive them. */
export const REWRITTEN_BY_RELAYS: ReadonlySet<string> = new Set(['message-id', 'date', 'return-path', 'bounces-to']);
const NONE: ReadonlySet<string> = new Set();

/**
 * Prepends one signature per key to a message, following RFC 6376 and RFC 8463, relaxed/relaxed. The same message, keys
 * and time give the same bytes. The fields in `left_out` are not covered. The message is read before the promise is
 * returned.
 */
export async function signDkim(
  raw: Buffer,
  keys: readonly DkimKey[],
  at: Date,
  left_out: ReadonlySet<string> = NONE,
): Promise<Buffer> {
  if (keys.length === 0) throw new Error('a mail cannot be signed without a key');
  const end = raw.indexOf(HEADER_END);
  const header = raw.toString('latin1', 0, end < 0 ? raw.length : end);
  const body_start = end < 0 ? raw.length : end + HEADER_END.length;
  const relaxed = isRelaxed(raw, body_start);
  const in_pieces = !relaxed && raw.length - body_start > PIECE_BYTES;
  const mail = in_pieces ? Buffer.from(raw) : raw;
  const body = mail.subarray(body_start);
  const body_hash = in_pieces ? await hashInPieces(body) : relaxed ? hashAsIs(body) : hashAsIs(relaxedPiece(body));

  const signed = fieldsOf(header).filter(({ name }) => !UNSIGNED.has(name) && !left_out.has(name));
  const names = [...signed.map(({ name }) => name), ...OVERSIGNED];
  const facts = `t=${Math.floor(at.getTime() / 1000)};${CRLF} h=${foldNames(names)};${CRLF} bh=${body_hash};`;
  let covered = '';
  for (const { canonical } of signed) covered += canonical + CRLF;
  const fields = keys.map((key) => signatureField(key, facts, covered));
  const signing = signElsewhere(fields);

  const room = fields.reduce((sum, field) => sum + field.length, 0);
  const out = Buffer.allocUnsafe(room + mail.length);
  mail.copy(out, room);
  let to = 0;
  const signatures = await signing;
  for (const [index, { before, length }] of fields.entries()) {
    const text = before + foldBase64(signatures[index] ?? '') + CRLF;
    if (text.length !== length) throw new Error('a signature is not as long as its key says');
    to += out.write(text, to, 'latin1');
  }
  return out;
}

interface SignatureField extends UnsignedPart {
  /** The header field up to its signature. */
  readonly before: string;
  readonly length: number;
}

function signatureField({ private_key, domain, selector }: DkimKey, facts: string, covered: string): SignatureField {
  const type = private_key.asymmetricKeyType;
  if (type !== 'rsa' && type !== 'ed25519') throw new Error(`a key of type ${type} cannot sign mail`);
  const value = `v=1; a=${type}-sha256; c=relaxed/relaxed; d=${domain};${CRLF} s=${selector}; ${facts}${CRLF} b=`;
  const before = `DKIM-Signature: ${value}`;
  const text = `${covered}dkim-signature:${value.replaceAll(CRLF, '')}`;
  const octets = signatureOctets(private_key);
  return { text, key: private_key, before, length: before.length + foldedBase64Length(octets) + CRLF.length };
}

/**
 * Returns the fields from last to first: among fields of the same name, RFC 6376 section 5.4.2 selects the last one
 * first.
 */
function fieldsOf(header: string): Field[] {
  const fields: Field[] = [];
  for (let end = header.length; end > 0; ) {
    let start = header.lastIndexOf(CRLF, end - 1);
    while (start >= 0 && isBlank(header.charCodeAt(start + CRLF.length))) start = header.lastIndexOf(CRLF, start - 1);
    const field = start < 0 ? header.slice(0, end) : header.slice(start + CRLF.length, end);
    const colon = field.indexOf(':');
    if (colon > 0) {
      const name = field.slice(0, colon).trimEnd().toLowerCase();
      fields.push({ name, canonical: `${name}:${relaxedValue(field.slice(colon + 1))}` });
    }
    end = start;
  }
  return fields;
}

/**
 * Returns a header value in relaxed form. Takes a fast path for nearly every value: a space followed by words with one
 * space between them.
 */
function relaxedValue(value: string): string {
  if (ONE_SPACED.test(value)) return value.slice(1);
  return value
    .replaceAll(CRLF, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
}

/** Hashes a body already in relaxed form (RFC 6376 section 3.4.4). Unless empty, it ends with one line end. */
function hashAsIs(body: Buffer): string {
  const text = withoutLineEnds(body);
  if (text.length === 0) return hash('sha256', text, 'base64');
  const end = text.length + LINE_END.length;
  if (end <= body.length) return hash('sha256', body.subarray(0, end), 'base64');
  return createHash('sha256').update(text).update(LINE_END).digest('base64');
}

/** Hashes in chunks of whole lines, letting the event loop run in between, because a large body takes 100 ms. */
async function hashInPieces(body: Buffer): Promise<string> {
  const digest = createHash('sha256');
  // Line ends count only if text follows.
  let line_ends = 0;
  let empty = true;
  for (let start = 0; start < body.length; ) {
    const cut = body.indexOf(LF, start + PIECE_BYTES);
    const end = cut < 0 ? body.length : cut + 1;
    const piece = relaxedPiece(body.subarray(start, end));
    const text = withoutLineEnds(piece);
    if (text.length > 0) {
      digest.update(CRLF.repeat(line_ends)).update(text);
      line_ends = 0;
      empty = false;
    }
    line_ends += (piece.length - text.length) / LINE_END.length;
    start = end;
    if (start < body.length) await nextTurn();
  }
  if (!empty) digest.update(LINE_END);
  return digest.digest('base64');
}

/**
 * Returns whether relaxing would change nothing: there is no tab, and no space before whitespace, a line end or the
 * end.
 */
function isRelaxed(raw: Buffer, body_start: number): boolean {
  const length = raw.length;
  if (raw.indexOf(TAB, body_start) >= 0 || (length > body_start && raw[length - 1] === SPACE)) return false;
  const view = new DataView(raw.buffer, raw.byteOffset, length);
  // Processes four octets at a time; after_space carries a space at the end of one step into the next.
  let after_space = 0;
  let at = body_start;
  for (; at + 4 <= length; at += 4) {
    const four = view.getInt32(at, true);
    const unspaced = four ^ SPACES;
    // The top bits mark each octet that is a space, and each octet that is a space or lower.
    const spaces = ~(((unspaced & LOW_BITS) + LOW_BITS) | unspaced | LOW_BITS);
    const low = ~(((four & LOW_BITS) + ABOVE_SPACE) | four | LOW_BITS);
    if ((((spaces << 8) | after_space) & low) !== 0) return false;
    after_space = spaces >>> 24;
  }
  for (let before = raw[at - 1]; at < length; before = raw[at++]) {
    if (before === SPACE && (raw[at] ?? 0) <= SPACE) return false;
  }
  return true;
}

/** Reduces runs of whitespace to one space, and removes them before the end of a line. */
function relaxedPiece(body: Buffer): Buffer {
  const out = Buffer.allocUnsafe(body.length);
  let length = 0;
  let blank = false;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] ?? 0;
    if (byte === SPACE || byte === TAB) {
      blank = true;
      continue;
    }
    if (blank && !(byte === CR && body[index + 1] === LF)) out[length++] = SPACE;
    blank = false;
    out[length++] = byte;
  }
  return out.subarray(0, length);
}

function withoutLineEnds(body: Buffer): Buffer {
  let end = body.length;
  while (end >= 2 && body[end - 1] === LF && body[end - 2] === CR) end -= 2;
  return body.subarray(0, end);
}

function foldNames(names: readonly string[]): string {
  let out = '';
  let column = 3;
  for (const [index, name] of names.entries()) {
    const piece = index < names.length - 1 ? `${name}:` : name;
    if (column + piece.length > FOLD_AT) {
      out += `${CRLF} `;
      column = 1;
    }
    out += piece;
    column += piece.length;
  }
  return out;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

// Key lengths are cached, because Node computes them on each read.
const lengths = new WeakMap<KeyObject, number>();

function signatureOctets(key: KeyObject): number {
  const known = lengths.get(key);
  if (known !== undefined) return known;
  const octets = key.asymmetricKeyType === 'rsa' ? Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) : 64;
  lengths.set(key, octets);
  return octets;
}

function foldedBase64Length(octets: number): number {
  const characters = Math.ceil(octets / 3) * 4;
  const breaks = Math.max(Math.ceil((characters - (FOLD_AT - 3)) / (FOLD_AT - 1)), 0);
  return characters + breaks * (CRLF.length + 1);
}

function foldBase64(text: string): string {
  let out = text.slice(0, FOLD_AT - 3);
  for (let at = FOLD_AT - 3; at < text.length; at += FOLD_AT - 1) out += `${CRLF} ${text.slice(at, at + FOLD_AT - 1)}`;
  return out;
}
