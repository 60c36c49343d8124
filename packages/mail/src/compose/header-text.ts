const CRLF = '\r\n';
// RFC 5322 section 2.1.1 recommends 78 and allows 998; RFC 2047 section 2 allows 76 around an encoded-word.
const FOLD_AT = 76;
const MAX_LINE = 998;
const MAX_ENCODED_WORD = 75;
const Q_START = '=?UTF-8?Q?';
const B_START = '=?UTF-8?B?';
const WORD_END = '?=';
const WORD_FRAME = Q_START.length + WORD_END.length;
// The shortest useful first word: one four-octet code point in Q.
const MIN_ROOM = WORD_FRAME + 12;

// RFC 2047 section 5 (3): the characters that are literal in a phrase, the strictest of the three contexts.
const LITERAL_IN_Q = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/') {
  LITERAL_IN_Q[character.charCodeAt(0)] = 1;
}
const SPACE = 0x20;
const Q_CODE = Array.from({ length: 256 }, (_, byte) => {
  if (LITERAL_IN_Q[byte]) return String.fromCharCode(byte);
  return byte === SPACE ? '_' : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/**
 * Returns whether a client could decode part of this text as an encoded-word, so that the text itself must be encoded.
 */
export function looksEncoded(text: string): boolean {
  return text.includes('=?') && /=\?[^?\s]+\?[BbQq]\?/.test(text);
}

/** Builds a header from tokens joined by single spaces, folding before any token that would exceed the line limit. */
export function foldHeader(name: string, tokens: readonly string[]): string {
  let out = `${name}:`;
  let column = out.length;
  for (const [index, token] of tokens.entries()) {
    const width = column + 1 + token.length;
    // The first token stays next to the name if it can, because some clients mishandle an empty first line.
    const limit = index === 0 && !token.startsWith('=?') ? MAX_LINE : FOLD_AT;
    if (width > limit) {
      out += CRLF;
      column = 0;
    }
    out += ` ${token}`;
    column += 1 + token.length;
  }
  return out + CRLF;
}

/**
 * Returns a header of printable ASCII text unchanged, folded only at single spaces so that any way of unfolding
 * restores the text. Returns null if a token is too long for any line.
 */
export function foldText(name: string, value: string): string | null {
  if (name.length + 2 + value.length <= FOLD_AT) return `${name}: ${value}${CRLF}`;
  const tokens = value.split(/(?<=[^ \t]) (?=[^ \t])/);
  if (tokens.some((token) => token.length > MAX_LINE - 1)) return null;
  return foldHeader(name, tokens);
}

/**
 * Encodes the whole text as RFC 2047 encoded-words, using the shorter of Q and B, split between code points. Spaces
 * between the words carry no meaning, so the decoded text is exact. The first word uses at most firstRoom characters if
 * possible.
 */
export function encodedWords(text: string, firstRoom: number): string[] {
  const bytes = Buffer.from(text);
  let escaped = 0;
  for (const byte of bytes) if (!LITERAL_IN_Q[byte] && byte !== SPACE) escaped++;
  const useQ = bytes.length + 2 * escaped <= Math.ceil(bytes.length / 3) * 4;
  const words: string[] = [];
  let room = Math.min(firstRoom < MIN_ROOM ? MAX_ENCODED_WORD : firstRoom, MAX_ENCODED_WORD) - WORD_FRAME;
  for (let start = 0; start < bytes.length; ) {
    const end = useQ ? endOfQ(bytes, start, room) : endOfB(bytes, start, room);
    let word = '';
    if (useQ) for (let at = start; at < end; at++) word += Q_CODE[bytes[at] ?? 0];
    else word = bytes.toString('base64', start, end);
    words.push((useQ ? Q_START : B_START) + word + WORD_END);
    start = end;
    room = MAX_ENCODED_WORD - WORD_FRAME;
  }
  return words;
}

function endOfQ(bytes: Buffer, start: number, room: number): number {
  let end = start;
  let used = 0;
  while (end < bytes.length) {
    let next = end + 1;
    while (isContinuation(bytes[next])) next++;
    let cost = 0;
    for (let at = end; at < next; at++) cost += Q_CODE[bytes[at] ?? 0]?.length ?? 0;
    if (used + cost > room) break;
    used += cost;
    end = next;
  }
  return end;
}

function endOfB(bytes: Buffer, start: number, room: number): number {
  let end = Math.min(start + Math.floor(room / 4) * 3, bytes.length);
  while (isContinuation(bytes[end])) end--;
  return end;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
