// Names that mail systems use but the Encoding Standard does not define.
const OTHER_NAMES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  ms932: 'shift_jis',
  'windows-31j': 'shift_jis',
  'iso-2022-jp-ms': 'iso-2022-jp',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  cp936: 'gb18030',
  cp949: 'euc-kr',
  cp1252: 'windows-1252',
};
// These labels often do not match the text, so the bytes of the text determine the charset.
const IS_UNINFORMATIVE = new Set(['', 'us-ascii', 'ascii', 'unknown', 'unknown-8bit', 'x-unknown', 'default', '8bit']);
// ESC $ B, ESC $ @ and ESC ( J switch character sets in ISO 2022-JP, and occur in no other text.
const JAPANESE_SWITCHES = ['\x1b$B', '\x1b$@', '\x1b(J'];

/** Decodes bytes to text whatever the label says. Never fails, and replaces bytes that cannot be decoded. */
export function decodeText(bytes: Uint8Array, label: string): string {
  const charset = label.trim().toLowerCase();
  const plain = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  if (JAPANESE_SWITCHES.some((switch_bytes) => plain.includes(switch_bytes)))
    return decodeAs(bytes, 'iso-2022-jp') ?? plain;
  if (!IS_UNINFORMATIVE.has(charset)) {
    const text = decodeAs(bytes, OTHER_NAMES[charset] ?? charset);
    if (text !== null) return text;
  }
  return decodeAs(bytes, 'utf-8', true) ?? decodeAs(bytes, 'windows-1252') ?? '';
}

function decodeAs(bytes: Uint8Array, label: string, fatal = false): string | null {
  try {
    return new TextDecoder(label, { fatal }).decode(bytes);
  } catch {
    return null;
  }
}

const ENCODED_WORD = /=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,500})\?=/gi;
const MAX_HEADER_CHARACTERS = 2000;

/** Decodes the encoded words of an unstructured header (RFC 2047). */
export function decodeWords(value: string): string {
  return value
    .slice(0, MAX_HEADER_CHARACTERS)
    .replace(/\?=\s{1,20}=\?/g, '?==?')
    .replace(ENCODED_WORD, (_word, label: string, encoding: string, text: string) =>
      decodeText(
        encoding.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : unquoted(text.replaceAll('_', ' ')),
        label,
      ),
    );
}

/** Returns the bytes of quoted-printable text (RFC 2045 section 6.7), given as one character per byte. */
export function unquoted(text: string): Buffer {
  const joined = text.replace(/[ \t]*=[ \t]*\r?\n/g, '');
  const bytes = joined.replace(/=([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}
