import { createHash, hash, type KeyObject, sign } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A key that signs for a domain; its public half is published at selector._domainkey.domain. */
export interface DkimKey {
  readonly domain: string;
  readonly selector: string;
  /** RSA or Ed25519. */
  readonly private_key: KeyObject;
}

interface Field {
  readonly name: string;
  /** In relaxed form, without the line end. */
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

// Named once more than they are present, so that nobody can add one on the way and have it shown as ours.
const OVERSIGNED = ['from', 'subject', 'reply-to', 'list-unsubscribe', 'list-unsubscribe-post'];
// RFC 6376 section 5.4.1: servers on the way add and rewrite these.
const UNSIGNED = new Set(['return-path', 'received', 'dkim-signature', 'authentication-results', 'bcc']);

/**
 * Puts a signature of each key before a mail, by RFC 6376 and RFC 8463, relaxed/relaxed. The same mail, keys and
 * time give the same bytes.
 */
export async function signDkim(raw: Buffer, keys: readonly DkimKey[], at: Date): Promise<Buffer> {
  if (keys.length === 0) throw new Error('a mail cannot be signed without a key');
  const end = raw.indexOf(HEADER_END);
  const header = raw.toString('latin1', 0, end < 0 ? raw.length : end);
  const body = end < 0 ? raw.subarray(raw.length) : raw.subarray(end + HEADER_END.length);
  const signed = fieldsOf(header).filter(({ name }) => !UNSIGNED.has(name));
  const names = [...signed.map(({ name }) => name), ...OVERSIGNED];
  const facts = `t=${Math.floor(at.getTime() / 1000)};${CRLF} h=${foldNames(names)};${CRLF} bh=${await bodyHash(body)};`;
  let covered = '';
  for (const { canonical } of signed) covered += canonical + CRLF;
  const signatures = await Promise.all(keys.map((key) => signatureField(key, facts, covered)));
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), raw]);
}

async function signatureField(key: DkimKey, facts: string, covered: string): Promise<string> {
  const type = key.private_key.asymmetricKeyType;
  if (type !== 'rsa' && type !== 'ed25519') throw new Error(`a key of type ${type} cannot sign mail`);
  const unsigned = `v=1; a=${type}-sha256; c=relaxed/relaxed; d=${key.domain};${CRLF} s=${key.selector}; ${facts}${CRLF} b=`;
  const data = Buffer.from(`${covered}dkim-signature:${unsigned.replaceAll(CRLF, '')}`, 'latin1');
  // RFC 8463 section 3: Ed25519 signs the hash.
  const signature = await (type === 'rsa'
    ? signElsewhere('sha256', data, key.private_key)
    : signElsewhere(null, hash('sha256', data, 'buffer'), key.private_key));
  return `DKIM-Signature: ${unsigned}${foldBase64(signature.toString('base64'))}${CRLF}`;
}

/** On the thread pool, so that one process signs on every core and its event loop goes on. */
function signElsewhere(algorithm: string | null, data: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign(algorithm, data, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}

/** From the last to the first: of several fields of one name, RFC 6376 section 5.4.2 takes the last one first. */
function fieldsOf(header: string): Field[] {
  const fields: Field[] = [];
  const lines = header.split(CRLF);
  let value = '';
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index] ?? '';
    value = value === '' ? line : `${line} ${value}`;
    if (line.startsWith(' ') || line.startsWith('\t')) continue;
    const colon = value.indexOf(':');
    if (colon > 0) {
      const name = value.slice(0, colon).trimEnd().toLowerCase();
      fields.push({ name, canonical: `${name}:${relaxed(value.slice(colon + 1))}` });
    }
    value = '';
  }
  return fields;
}

function relaxed(value: string): string {
  return value.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');
}

/** RFC 6376 section 3.4.4. What is in that form already, as nearly all that is encoded, is hashed where it lies. */
async function bodyHash(body: Buffer): Promise<string> {
  if (!isRelaxed(body)) return relaxedHash(body);
  const text = withoutLineEnds(body);
  // A body that is not empty ends with one line end, its own where it has one.
  if (text.length === 0) return hash('sha256', text, 'base64');
  const end = text.length + LINE_END.length;
  if (end <= body.length) return hash('sha256', body.subarray(0, end), 'base64');
  return createHash('sha256').update(text).update(LINE_END).digest('base64');
}

/** In pieces of whole lines, between which the event loop goes on: a large body takes a tenth of a second. */
async function relaxedHash(body: Buffer): Promise<string> {
  const digest = createHash('sha256');
  // Line ends count only where text follows.
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

function isRelaxed(body: Buffer): boolean {
  return !body.includes(TAB) && !body.includes('  ') && !body.includes(' \r\n') && body.at(-1) !== SPACE;
}

/** Runs of blanks become one space, and none before the end of a line. */
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

function foldBase64(text: string): string {
  let out = text.slice(0, FOLD_AT - 3);
  for (let at = FOLD_AT - 3; at < text.length; at += FOLD_AT - 1) out += `${CRLF} ${text.slice(at, at + FOLD_AT - 1)}`;
  return out;
}
