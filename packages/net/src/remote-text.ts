const MAX_BYTES = 1024;
// The result is at most 1 kB, so reading further cannot change it in practice.
const MAX_READ_CHARACTERS = 8192;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here.
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g;
// Fast path for nearly every reply: printable, short, and without whitespace to fold.
const CLEAN = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** Makes text from the network safe to log, store and display: no control characters, at most 1 kB. */
export function cleanRemoteText(text: string): string {
  if (text.length <= MAX_BYTES && CLEAN.test(text)) return text;
  const clean = text
    .slice(0, MAX_READ_CHARACTERS)
    .toWellFormed()
    .replace(UNPRINTABLE, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  const bytes = Buffer.from(clean);
  if (bytes.length <= MAX_BYTES) return clean;
  let end = MAX_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
