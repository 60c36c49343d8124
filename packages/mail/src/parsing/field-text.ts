const ENCODED_WORD = /=\?([\w-]+)(?:\*[\w-]*)?\?([BbQq])\?([^?\s]*)\?=/g;
const BETWEEN_ENCODED_WORDS = /(=\?[\w*-]+\?[BbQq]\?[^?\s]*\?=)\s+(?==\?[\w*-]+\?[BbQq]\?)/g;

/** Returns the value of a header field: unfolded, with its encoded words decoded. */
export function fieldText(line: string): string {
  // RFC 5322 section 2.2.3: unfolding removes the line break and leaves the whitespace after it.
  return decodeWords(line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')).trim();
}

/** Decodes the encoded-words of RFC 2047 in custom headers, because mailparser decodes only headers that it knows. */
function decodeWords(value: string): string {
  if (!value.includes('=?')) return value;
  // Whitespace between two encoded-words belongs to neither (section 6.2).
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
