import { cleanRemoteText } from '@postrider/net';

/** A remote server's reply, safe to store and display. */
export interface Reply {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
}

// Cleaning truncates a reply to 1 kB, so reading further cannot change the result in practice.
const MAX_READ_CHARACTERS = 8192;

// RFC 5321 section 4.2: three digits, followed by a hyphen on all lines but the last.
const REPLY_LINE = /^([2-5]\d\d)(?:[ -]|$)/;
// RFC 3463 section 2: class, subject and detail.
const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/;

/** Parses one or more reply lines as received. Returns null if they do not start with a reply code. */
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

/** Formats a reply as one line, the way a server would write it. */
export function replyLine(reply: Reply): string {
  return [String(reply.code), reply.enhanced, reply.text].filter((part) => part).join(' ');
}
