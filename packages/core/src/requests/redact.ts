const MAX_BYTES = 4096;
const MAX_TEXT_LENGTH = 200;
const MAX_ENTRIES = 50;
const MAX_DEPTH = 6;
/** Message content and credentials. */
const HIDDEN = /^(?:html|text|content|subject|headers|metadata|attachments|authorization|code)$|password|secret|token/i;
const ADDRESS = /[^\s<>"',;:]+@([^\s<>"',;]+)/g;
const SECRET = /\b(pr_(?:live|test|sess)_|whsec_)[\w+/=-]+/g;

/** Returns a body as the request log may store it: without content, with masked addresses, and at most 4 kB. */
export function redactedBody(body: unknown): string | null {
  if (body === undefined) return null;
  const text = JSON.stringify(redacted(body, 0));
  return text.length <= MAX_BYTES ? text : JSON.stringify(`${redactedText(text.slice(0, MAX_BYTES - 100))}…`);
}

/** Masks addresses and secrets in a text. */
export function redactedText(text: string): string {
  return text.replace(ADDRESS, '…@$1').replace(SECRET, '$1…');
}

function redacted(value: unknown, depth: number): unknown {
  if (typeof value === 'string')
    return redactedText(value.length > MAX_TEXT_LENGTH ? `${value.slice(0, MAX_TEXT_LENGTH)}…` : value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((inner) => redacted(inner, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_ENTRIES)
      .map(([name, inner]) => [
        redactedText(name.slice(0, MAX_TEXT_LENGTH)),
        HIDDEN.test(name) ? hidden(inner) : redacted(inner, depth + 1),
      ]),
  );
}

function hidden(value: unknown): unknown {
  if (typeof value === 'string') return `[${value.length} characters]`;
  if (Array.isArray(value)) return `[${value.length} entries]`;
  if (typeof value === 'object' && value !== null) return `[${Object.keys(value).length} fields]`;
  return value === null ? null : `[${typeof value}]`;
}
