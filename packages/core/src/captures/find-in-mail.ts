const MAX_ENTRIES = 50;
const MAX_TEXT_LENGTH = 512 * 1024;
const URL_IN_TEXT = /\bhttps?:\/\/[^\s<>"'`\\]+/gi;
const HREF = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;
const TRAILING = '.,;:!?)]}>';
const MAX_URL_LENGTH = 2048;
/** Codes are searched for in at most this many places. */
const MAX_SCANNED = 2000;
/** Words that appear near a one-time code, in the languages of most senders. */
const NEAR_A_CODE =
  /\b(?:codes?|otp|pin|passcode|one[- ]time|2fa|verif\w*|confirm\w*|security|login|sign[- ]?in|token|bestätigung\w*|einmal\w*|código|codigo|codice|kod)\b/i;
const NEAR = 120;
const CODE =
  /(?<![\w.#/:@&=+-])(?:\d{4,8}|\d{3}[ -]\d{3}|(?=[A-Z0-9-]*\d)[A-Z0-9]{3,5}-[A-Z0-9]{3,5}|(?=[A-Z]*\d)[A-Z0-9]{6,8})(?![\w/:@&=+-]|[.,]\d|\s*(?:%|€|\$|EUR|USD))/g;
const YEAR = /^(?:19|20)\d\d$/;

/** Returns the links in a message, in order. */
export function linksIn(html: string | null, text: string | null): string[] {
  const links = [
    ...[...(html ?? '').slice(0, MAX_TEXT_LENGTH).matchAll(HREF)].map(([, double, single, bare]) =>
      unescaped(double ?? single ?? bare ?? ''),
    ),
    ...[...(text ?? '').slice(0, MAX_TEXT_LENGTH).matchAll(URL_IN_TEXT)].flatMap(([url]) => withoutTrail(url)),
  ];
  return [...new Set(links.filter((url) => /^https?:\/\//i.test(url)))].slice(0, MAX_ENTRIES);
}

/** Returns one-time codes: short numbers alone on a line, or near a word such as code. */
export function codesIn(html: string | null, text: string | null): string[] {
  const plain_text = (text ?? visible(html ?? '')).slice(0, MAX_TEXT_LENGTH).replace(URL_IN_TEXT, ' ');
  const codes: string[] = [];
  let looked_at = 0;
  for (const match of plain_text.matchAll(CODE)) {
    if (++looked_at > MAX_SCANNED) break;
    const [code] = match;
    const at = match.index;
    const before = plain_text.slice(Math.max(0, at - NEAR), at);
    const cursor = plain_text.slice(at + code.length, at + code.length + NEAR);
    const single =
      before.slice(before.lastIndexOf('\n') + 1).trim() === '' && (cursor.split('\n', 1)[0] ?? '').trim() === '';
    if (NEAR_A_CODE.test(before + cursor) ? !YEAR.test(code) || single : single && /^\d{6}$/.test(code))
      codes.push(code.replace(/ /g, ''));
  }
  return [...new Set(codes)].slice(0, MAX_ENTRIES);
}

/**
 * Returns a list with the URL without trailing punctuation; the list is empty if the URL is too long for a person to
 * follow.
 */
function withoutTrail(url: string): string[] {
  if (url.length > MAX_URL_LENGTH) return [];
  let end = url.length;
  while (end > 0 && TRAILING.includes(url[end - 1] ?? '')) end -= 1;
  return [url.slice(0, end)];
}

const HIDDEN = ['style', 'script', 'head'];
const BREAKS = /^(?:br|\/p|\/div|\/td|\/tr|\/h\d|\/li)\b/i;

/** Returns the text between the tags in a single pass, because the input may be crafted to be slow to parse. */
function visible(source: string): string {
  const html = source.slice(0, MAX_TEXT_LENGTH);
  const lower = html.toLowerCase();
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const close = open < 0 ? -1 : html.indexOf('>', open);
    if (close < 0) break;
    parts.push(html.slice(at, open));
    const tag = lower.slice(open + 1, Math.min(close, open + 20));
    parts.push(BREAKS.test(tag) ? '\n' : ' ');
    at = close + 1;
    const hidden = HIDDEN.find((name) => tag.startsWith(name) && !/\w/.test(tag[name.length] ?? ' '));
    const end = hidden === undefined ? -1 : lower.indexOf(`</${hidden}`, at);
    if (hidden !== undefined && end < 0) return unescaped(parts.join(''));
    if (end >= 0) at = end;
  }
  return unescaped(parts.join('') + html.slice(at));
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(\w{2,5}));/gi, (entity, decimal, hex, name) => {
    const point = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (point !== null) return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
    return entities[String(name).toLowerCase()] ?? entity;
  });
}
