import { type OctetWriter, reserve, writeAscii } from './octet-writer.ts';

export type TextEncoding = '7bit' | 'quoted-printable' | 'base64';

const MAX_LINE = 998;
const ENCODED_LINE = 76;
const CRLF = '\r\n';
const LF = 0x0a;
const CR = 0x0d;
const DOT = 0x2e;
const EQUALS = 0x3d;
const SPACE = 0x20;
const CAPITAL_F = 0x46;
const REPLACEMENT_OCTETS = 0xefbfbd;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

// RFC 2045 section 6.7: printable ASCII except "=" is literal, and so are spaces and tabs, except at the end of a line.
const LITERAL_IN_QP = new Uint8Array(256);
for (let byte = 0x21; byte <= 0x7e; byte++) if (byte !== EQUALS) LITERAL_IN_QP[byte] = 1;

/**
 * Writes a text with \n line ends as a part: its header lines, an empty line, and the body in the simplest encoding
 * that survives transport. Returns where the body begins.
 */
export function writeTextPart(to: OctetWriter, content_type: string, text: string): number {
  const start = to.length;
  const head = (encoding: TextEncoding) => {
    to.length = start;
    writeAscii(to, `Content-Type: ${content_type}${CRLF}Content-Transfer-Encoding: ${encoding}${CRLF}${CRLF}`);
    return to.length;
  };
  const plain = !/[^\t\n\x20-\x7e]/.test(text);
  if (plain && !hasLongLine(text) && !hasRiskyLine(text)) {
    const body = head('7bit');
    writeAscii(to, text.replaceAll('\n', CRLF));
    return body;
  }
  const body = head('quoted-printable');
  if (writeQuotedPrintable(to, text)) return body;
  const other_body = head('base64');
  writeBase64(to, Buffer.from(text.replaceAll('\n', CRLF)).toString('base64'));
  return other_body;
}

const isBlank = (byte: number) => byte === 0x20 || byte === 0x09;

/** Returns whether a server or archive may rewrite a line: a lone dot, mbox "From ", or a possible boundary. */
function hasRiskyLine(text: string): boolean {
  return (
    text.startsWith('.') ||
    text.startsWith('From ') ||
    text.includes('\n.') ||
    text.includes('\nFrom ') ||
    text.includes('=_')
  );
}

function hasLongLine(text: string): boolean {
  if (text.length <= MAX_LINE) return false;
  for (let start = 0; start <= text.length - MAX_LINE; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > MAX_LINE) return true;
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

// The text as UTF-16 units, which are faster to read than a string's. Little-endian, like all of Node's platforms.
const FIRST_UNITS = 32 * 1024;
const MAX_RETAINED_UNITS = 512 * 1024;
let units = new Uint16Array(FIRST_UNITS);

function unitsOf(text: string): Uint16Array {
  if (text.length > units.length) units = new Uint16Array(text.length);
  else if (units.length > MAX_RETAINED_UNITS) units = new Uint16Array(Math.max(text.length, FIRST_UNITS));
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
}

/**
 * Writes a text as quoted-printable. Writes nothing and returns false if base64 is shorter, which is the case from
 * about a fifth of non-ASCII octets on, because quoted-printable takes three octets for each.
 */
function writeQuotedPrintable(to: OctetWriter, text: string): boolean {
  const count = text.length;
  const source = unitsOf(text);
  // Room for three octets per ASCII character, six or more for the other characters (at most a ninth), and three for
  // each soft break.
  reserve(to, count * 4 + 64);
  const out = to.bytes;
  let at = to.length;
  let line = at;
  let more_octets = 0;

  for (let from = 0; from < count; ) {
    // Fast path for most of a text: literal characters within a line, with room left for a soft break.
    if (at > line) {
      const start = from;
      const end = from + Math.min(ENCODED_LINE - 1 - (at - line), count - from);
      for (; from < end; from++) {
        const unit = source[from] ?? 0;
        // Reading past the end of the table would make this loop twice as slow.
        if (unit > 0x7f || (LITERAL_IN_QP[unit] !== 1 && unit !== SPACE)) break;
        out[at++] = unit;
      }
      // Whether a space is literal depends on the next character.
      if (from > start && out[at - 1] === SPACE) {
        from--;
        at--;
      }
    }
    if (from === count) break;
    const unit = source[from] ?? 0;
    if (unit === LF) {
      out[at++] = CR;
      out[at++] = LF;
      line = at;
      from++;
      continue;
    }
    let octets = unit;
    let width = 1;
    if (unit > 0x7f) {
      const code = text.codePointAt(from) ?? 0;
      more_octets += code > 0x7ff ? 2 : 1;
      if (more_octets * 9 > count) return false;
      octets = utf8Of(code);
      width = code > 0xffff ? 4 : code > 0x7ff ? 3 : 2;
    }
    from += width === 4 ? 2 : 1;
    const endsLine = from === count || source[from] === LF;
    if (width === 1 && (LITERAL_IN_QP[unit] === 1 || (isBlank(unit) && !endsLine))) {
      // The last column is reserved for the "=" of a soft break, unless the line ends here anyway.
      if (at - line + 1 > (endsLine ? ENCODED_LINE : ENCODED_LINE - 1)) {
        out[at++] = EQUALS;
        out[at++] = CR;
        out[at++] = LF;
        line = at;
      }
      if (at > line || (unit !== DOT && !(unit === CAPITAL_F && text.startsWith('From ', from - 1)))) {
        out[at++] = unit;
        continue;
      }
    }
    for (let shift = (width - 1) * 8; shift >= 0; shift -= 8) {
      if (at - line + 3 > (endsLine && shift === 0 ? ENCODED_LINE : ENCODED_LINE - 1)) {
        out[at++] = EQUALS;
        out[at++] = CR;
        out[at++] = LF;
        line = at;
      }
      const octet = (octets >>> shift) & 0xff;
      out[at++] = EQUALS;
      out[at++] = HEX[octet >> 4] ?? 0;
      out[at++] = HEX[octet & 15] ?? 0;
    }
  }
  to.length = at;
  return true;
}

/** Returns the octets of a non-ASCII code point, most significant first. A lone surrogate becomes U+FFFD. */
function utf8Of(code: number): number {
  if (code < 0x800) return 0xc080 | ((code << 2) & 0x1f00) | (code & 0x3f);
  if (code >= 0xd800 && code <= 0xdfff) return REPLACEMENT_OCTETS;
  const low = 0x8080 | ((code << 2) & 0x3f00) | (code & 0x3f);
  if (code < 0x10000) return 0xe00000 | ((code << 4) & 0x0f0000) | low;
  return 0xf0800000 | ((code << 6) & 0x07000000) | ((code << 4) & 0x3f0000) | low;
}

/** Writes base64 in lines of 76, the last line without a line end. */
export function writeBase64(to: OctetWriter, encoded: string): void {
  const breaks = Math.max(Math.ceil(encoded.length / ENCODED_LINE) - 1, 0);
  reserve(to, encoded.length + breaks * 2);
  // The base64 is first written at the end of the space. Each line then moves forward, never over octets still to be
  // moved.
  let from = to.length + breaks * 2;
  const end = from + to.bytes.write(encoded, from, 'latin1');
  const { bytes: out, view } = to;
  let at = to.length;
  while (from < end) {
    // Lines, and base64 itself, are multiples of four.
    for (const line_end = Math.min(from + ENCODED_LINE, end); from < line_end; from += 4) {
      view.setInt32(at, view.getInt32(from, true), true);
      at += 4;
    }
    if (from === end) break;
    out[at++] = CR;
    out[at++] = LF;
  }
  to.length = at;
}
