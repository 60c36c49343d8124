export type TextEncoding = '7bit' | 'quoted-printable' | 'base64';

const MAX_LINE = 998;
const ENCODED_LINE = 76;
const CRLF = '\r\n';
const LF = 0x0a;
const DOT = 0x2e;
const EQUALS = 0x3d;
const SPACE = 0x20;
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

// RFC 2045 section 6.7: printable ASCII but "=" stands for itself; blanks do too, except at the end of a line.
const LITERAL_IN_QP = new Uint8Array(256);
for (let byte = 0x21; byte <= 0x7e; byte++) if (byte !== EQUALS) LITERAL_IN_QP[byte] = 1;
const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x09;

/** The plainest encoding in which the text, with \n line ends, arrives as it is. */
export function textEncoding(text: string): TextEncoding {
  if (!/[^\t\n\x20-\x7e]/.test(text)) {
    return hasLongLine(text) || hasRiskyLine(text) ? 'quoted-printable' : '7bit';
  }
  // Each octet beyond ASCII costs three in quoted-printable; from about a fifth on base64 is shorter.
  const octets = Buffer.byteLength(text);
  return (octets - text.length) * 10 > octets ? 'base64' : 'quoted-printable';
}

/** Lines that some server or archive on the way rewrites: lone dots, mbox "From ", and what could be a boundary. */
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

/** The text, with \n line ends, as the body of a part. */
export function encodeText(text: string, encoding: TextEncoding): string | Buffer {
  switch (encoding) {
    case '7bit':
      return text.replaceAll('\n', CRLF);
    case 'quoted-printable':
      return quotedPrintable(Buffer.from(text));
    case 'base64':
      return base64Lines(Buffer.from(text.replaceAll('\n', CRLF)));
  }
}

function quotedPrintable(source: Buffer): Buffer {
  // Three octets for every source octet at most, and one soft break of three for every 73 written.
  const out = Buffer.allocUnsafe(source.length * 3 + Math.ceil((source.length * 3) / 73) * 3 + 3);
  let to = 0;
  let column = 0;
  for (let from = 0; from < source.length; from++) {
    // Nearly every octet: within a line, with room for it whatever comes next.
    if (column > 0) {
      const room_end = Math.min(from + ENCODED_LINE - 1 - column, source.length - 1);
      const start = from;
      let plain = source[from] ?? 0;
      while (from < room_end) {
        const next = source[from + 1] ?? 0;
        if (LITERAL_IN_QP[plain] !== 1 && (plain !== SPACE || LITERAL_IN_QP[next] !== 1)) break;
        out[to++] = plain;
        plain = next;
        from++;
      }
      column += from - start;
    }
    const byte = source[from] ?? 0;
    if (byte === LF) {
      out[to++] = 0x0d;
      out[to++] = LF;
      column = 0;
      continue;
    }
    const next = source[from + 1];
    const endsLine = next === LF || next === undefined;
    const literal = LITERAL_IN_QP[byte] === 1 || (isBlank(byte) && !endsLine);
    // The last column is kept for the "=" of a soft break, unless the line ends here anyway.
    if (column + (literal ? 1 : 3) > (endsLine ? ENCODED_LINE : ENCODED_LINE - 1)) {
      out[to++] = EQUALS;
      out[to++] = 0x0d;
      out[to++] = LF;
      column = 0;
    }
    if (literal && !(column === 0 && (byte === DOT || startsFromLine(source, from)))) {
      out[to++] = byte;
      column++;
      continue;
    }
    out[to++] = EQUALS;
    out[to++] = HEX[byte >> 4] ?? 0;
    out[to++] = HEX[byte & 15] ?? 0;
    column += 3;
  }
  return out.subarray(0, to);
}

function startsFromLine(source: Buffer, at: number): boolean {
  return source[at] === 0x46 && source.toString('latin1', at, at + 5) === 'From ';
}

/** Base64 in lines of 76, the last one without its line end. */
export function base64Lines(content: Buffer): Buffer {
  const encoded = Buffer.from(content.toString('base64'), 'latin1');
  const breaks = Math.max(Math.ceil(encoded.length / ENCODED_LINE) - 1, 0);
  const out = Buffer.allocUnsafe(encoded.length + breaks * 2);
  let to = 0;
  for (let from = 0; from < encoded.length; from += ENCODED_LINE) {
    if (from > 0) {
      out[to++] = 0x0d;
      out[to++] = LF;
    }
    to += encoded.copy(out, to, from, from + ENCODED_LINE);
  }
  return out;
}
