/** A remote server's answer, safe to store and to show. */
export interface Reply {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
}

const MAX_REPLY_BYTES = 1024;
// Cleaning cuts a reply to 1 kB, so reading further than this cannot change the result in practice.
const MAX_READ_CHARACTERS = 8192;

// RFC 5321 section 4.2: three digits, then a hyphen on all lines but the last.
const REPLY_LINE = /^([2-5]\d\d)(?:[ -]|$)/;
// RFC 3463 section 2: class, subject and detail.
const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is replaced here.
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g;

/** Reads one or many reply lines as received; null when they do not start with a reply code. */
export function readReply(received: string): Reply | null {
  const lines = received.slice(0, MAX_READ_CHARACTERS).split(/\r?\n/);
  const code = REPLY_LINE.exec(lines[0] ?? '')?.[1];
  if (code === undefined) return null;
  let enhanced: string | null = null;
  const texts: string[] = [];
  for (const line of lines) {
    let text = line.startsWith(code) ? line.slice(code.length + 1).trimStart() : line;
    const status = ENHANCED.exec(text)?.[1];
    if (status !== undefined) {
      enhanced ??= status;
      if (status === enhanced) text = text.slice(status.length);
    }
    texts.push(text);
  }
  return { code: Number(code), enhanced, text: cleanRemoteText(texts.join(' ')) };
}

// What nearly every server says: printable, short, no blanks to fold.
const CLEAN = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** Text from the network made fit for a log, a row and a page: no control characters, at most 1 kB. */
export function cleanRemoteText(text: string): string {
  if (text.length <= MAX_REPLY_BYTES && CLEAN.test(text)) return text;
  const clean = text
    .slice(0, MAX_READ_CHARACTERS)
    .toWellFormed()
    .replace(UNPRINTABLE, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  const bytes = Buffer.from(clean);
  if (bytes.length <= MAX_REPLY_BYTES) return clean;
  let end = MAX_REPLY_BYTES;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** The reply as one line, the way a server would write it. */
export function replyLine(reply: Reply): string {
  return [String(reply.code), reply.enhanced, reply.text].filter((part) => part).join(' ');
}
