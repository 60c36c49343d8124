const MOST = 50;
const LONGEST_TEXT = 512 * 1024;
const URL_IN_TEXT = /\bhttps?:\/\/[^\s<>"'`\\]+/gi;
const HREF = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi;
const TRAILING = /[.,;:!?)\]}>]+$/;
/** Words that appear near a one-time code, in the languages of most senders. */
const NEAR_A_CODE =
  /\b(?:codes?|otp|pin|passcode|one[- ]time|2fa|verif\w*|confirm\w*|security|login|sign[- ]?in|token|bestätigung\w*|einmal\w*|código|codigo|codice|kod)\b/i;
const NEAR = 120;
const CODE =
  /(?<![\w.#/:@&=+-])(?:\d{4,8}|\d{3}[ -]\d{3}|(?=[A-Z0-9-]*\d)[A-Z0-9]{3,5}-[A-Z0-9]{3,5}|(?=[A-Z]*\d)[A-Z0-9]{6,8})(?![\w/:@&=+-]|[.,]\d|\s*(?:%|€|\$|EUR|USD))/g;
const YEAR = /^(?:19|20)\d\d$/;

/** The links of a mail, in their order in it. */
export function linksIn(html: string | null, text: string | null): string[] {
  const found = [
    ...[...(html ?? '').slice(0, LONGEST_TEXT).matchAll(HREF)].map(([, double, single, bare]) =>
      unescaped(double ?? single ?? bare ?? ''),
    ),
    ...[...(text ?? '').slice(0, LONGEST_TEXT).matchAll(URL_IN_TEXT)].map(([url]) => url.replace(TRAILING, '')),
  ];
  return [...new Set(found.filter((url) => /^https?:\/\//i.test(url)))].slice(0, MOST);
}

/** One-time codes: short numbers alone on a line, or near a word such as code. */
export function codesIn(html: string | null, text: string | null): string[] {
  const shown = (text ?? visible(html ?? '')).slice(0, LONGEST_TEXT).replace(URL_IN_TEXT, ' ');
  const found: string[] = [];
  for (const match of shown.matchAll(CODE)) {
    const [code] = match;
    const at = match.index;
    const around = shown.slice(Math.max(0, at - NEAR), at) + shown.slice(at + code.length, at + code.length + NEAR);
    const start = shown.lastIndexOf('\n', at) + 1;
    const end = shown.indexOf('\n', at);
    const alone = shown.slice(start, end < 0 ? undefined : end).trim() === code;
    if (NEAR_A_CODE.test(around) ? !YEAR.test(code) || alone : alone && /^\d{6}$/.test(code))
      found.push(code.replace(/ /g, ''));
  }
  return [...new Set(found)].slice(0, MOST);
}

function visible(html: string): string {
  return unescaped(
    html
      .slice(0, LONGEST_TEXT)
      .replace(/<(style|script|head)\b[\s\S]*?<\/\1>/gi, ' ')
      .replace(/<(?:br|\/p|\/div|\/td|\/tr|\/h\d|\/li)\b[^>]*>/gi, '\n')
      .replace(/<[^>]*>/g, ' '),
  );
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(\w{2,5}));/gi, (whole, decimal, hex, name) => {
    const point = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (point !== null) return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    return entities[String(name).toLowerCase()] ?? whole;
  });
}
