import { readReply } from '@postrider/mail';
import type { ReplyText } from '../classify.ts';

// Finds replies and status codes in text that a mail system wrote for people.

// A code followed by something that only occurs in a reply: a status, words, an address, a quotation. "Call 555 0100"
// does not match.
const REPLY = String.raw`([45]\d\d)(?:[ ,-]+|(?= ?#))(?:\1[ -]+)?(?=#?[45]\.\d{1,3}\.\d{1,3}\b|["'<(\[#]|[^\d\s%.,;:)-])`;
/** Tried first at the beginning of a line or after words that introduce a reply, then after any punctuation. */
const PLACES = [
  new RegExp(
    String.raw`^[ \t]*(?:[-*>|]+[ \t]*)?(?:<<<|>>>|<--?|-->|received >>>|sent <<<|s:|\[?smtp (?:error|reply|response)[^:\n]{0,60}:|error(?: message| code)?[^:\n]{0,20}:|.{0,200}\b(?:said|says|responded|replied|answered|returned|response|reply|reason|with|was|follows|failure|host)[^:\n]{0,40}:?)?[ \t]*(?:smtp;[ \t]*)?${REPLY}`,
    'im',
  ),
  new RegExp(String.raw`[:;,("'\[>-][ \t]*${REPLY}`, 'im'),
];
const MAX_CONTINUATION_LINES = 8;
// Not part of an IPv4 address or a version.
const STATUS = /(?<![\d.]|\bv|version )([45]\.(?:\d|\d{2}|[1-9]\d\d)\.\d{1,3})(?!\.?\d)/gi;

/** Returns the first rejection in a text, with its continuation lines. */
export function replyInText(text: string): ReplyText | null {
  for (const place of PLACES) {
    const match = place.exec(text);
    if (!match?.[1]) continue;
    const start = match.index + match[0].length - codeLength(match[0], match[1]);
    return readRecord(continued(text.slice(start, start + 4000), match[1]));
  }
  return null;
}

/** Returns the status codes in a text, except those that name only a class. */
export function statusInText(text: string): string | null {
  for (const [, status = ''] of text.matchAll(STATUS)) if (!isClassAlone(status)) return status;
  return null;
}

export function isClassAlone(status: string): boolean {
  return status.endsWith('.0.0');
}

/** Parses one reply as written by a server or a report, even if its code is not at the start. */
export function readRecord(diagnostic: string): ReplyText {
  const line = unwrapped(diagnostic).replace(/^([45]\d\d)[ -]+(?=\1[ -])/, '');
  const reply = readReply(line.replace(/^([45]\d\d), */, '$1 '));
  if (reply === null) return { code: null, enhanced: statusInText(line), text: line };
  const enhanced = reply.enhanced === null || isClassAlone(reply.enhanced) ? statusInText(reply.text) : reply.enhanced;
  return { code: reply.code, enhanced, text: reply.text };
}

// Cisco's gateways and some others put the server's reply after their own status.
const WRAPPED = /^[45]\.[\dx]\.\d+ - (?:[a-z][^'"\n]{0,80}?) ([45]\d\d)[ -]*'+(.*?)'+(?: \(delivery attempts.*)?$/is;

function unwrapped(line: string): string {
  const [, code, words] = WRAPPED.exec(line) ?? [];
  return code === undefined ? line : `${code} ${words}`;
}

function codeLength(matched: string, code: string): number {
  return matched.length - matched.lastIndexOf(code);
}

/** Returns the continuation of a reply, which ends at an empty line, another code, or another address. */
function continued(text: string, code: string): string {
  const [first = '', ...others] = text.split('\n', MAX_CONTINUATION_LINES + 1);
  const lines = [first];
  for (const line of others) {
    const other = /^[\s<>*-]*([2-5]\d\d)[ -]/.exec(line)?.[1];
    if (line.trim() === '' || (other !== undefined && other !== code)) break;
    if (/^[\s<>*-]*(?:<?[^\s<>:]+@[^\s<>:]+>?:?\s*$|>>>|<<<|-->|<--|--- )/.test(line)) break;
    lines.push(line.trim());
  }
  return lines.join('\r\n');
}
