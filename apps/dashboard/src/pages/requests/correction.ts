import type { Outputs } from '../../api/trpc.ts';
import { quoted } from '../../parts/calls/curl.ts';

type Request = Outputs['requests']['get'];
type Fault = Request['faults'][number];
type Body = Record<string, unknown>;

const EXAMPLES: Readonly<Record<string, unknown>> = {
  to: 'ada@example.com',
  cc: 'ada@example.com',
  bcc: 'ada@example.com',
  reply_to: 'ada@example.com',
  email: 'ada@example.com',
  subject: 'A subject',
  html: '<p>Hello.</p>',
  text: 'Hello.',
  content: 'SGVsbG8u',
  filename: 'hello.txt',
  name: 'example.com',
  url: 'https://example.com/hooks',
};
const EVENT = 'email.delivered';
const REQUIRED = new Set(['from', 'to', 'subject', 'url', 'name', 'content', 'filename']);
// The request log's placeholder for an omitted value.
const LEFT_OUT = /^\[\d+ (?:characters|entries|fields)\]$/;

/**
 * Returns the request with each fault fixed, as a command, or null if too little of it was stored. Values that the log
 * masked or omitted are replaced with examples, and so is a sender whose domain may not send.
 */
export function correctedCurl({ api, method, path, body, faults }: Request, senders: readonly string[]): string | null {
  if (api !== 'rest' || method === 'GET') return null;
  if (body !== null && (typeof body !== 'object' || Array.isArray(body))) return null;
  // The cast is safe because the log stores JSON, and repaired() checks for a record.
  const fixed = repaired(body as Body | null, faults, senders);
  if (path.startsWith('/email/send') && fixed.html === undefined && fixed.text === undefined)
    fixed.text = EXAMPLES.text;
  const lines = [`curl -X ${method} ${location.origin}/v1${path}`, `  -H 'Authorization: Bearer <API key>'`];
  if (Object.keys(fixed).length > 0) {
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(fixed, null, 2))}`);
  }
  return lines.join(' \\\n');
}

/** Returns the body with each fault fixed. */
export function repaired(body: Body | null, faults: readonly Fault[], senders: readonly string[]): Body {
  const fixed = filled(body);
  const sender = `hello@${senders[0]}`;
  // An earlier fault may hide that the sender's domain may not send, which would get the next request rejected too.
  if (typeof fixed.from === 'string' && !senders.some((name) => sentBy(fixed.from, name))) fixed.from = sender;
  for (const fault of faults) repair(fixed, fault, sender);
  // Safe because compacted() maps a record to a record.
  return compacted(fixed) as Body;
}

function sentBy(from: unknown, domain: string): boolean {
  return new RegExp(`@${domain.replaceAll('.', '\\.')}>?\\s*$`, 'i').test(String(from));
}

/** Removes gaps from lists. Gaps stay until all faults are fixed because pointers refer to the original indexes. */
function compacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => one !== undefined).map(compacted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, compacted(inner)]));
}

function filled(body: Body | null): Body {
  const fill = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      if (LEFT_OUT.test(value)) return EXAMPLES[name];
      return name === 'from' ? value.replace(/…@/g, 'hello@') : value.replace(/…@/g, 'ada@');
    }
    if (Array.isArray(value)) return value.map((one) => fill(one, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        const filled_value = fill(inner, key);
        return filled_value === undefined ? [] : [[key, filled_value] as const];
      }),
    );
  };
  // Safe because fill() maps a record to a record.
  return fill(body ?? {}, '') as Body;
}

/** Fixes the value at a fault's pointer. */
function repair(body: Body, { pointer, reason, message }: Fault, sender: string): void {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  if (last === undefined) return;
  const field = parts.findLast((part) => !/^\d+$/.test(part)) ?? last;
  const holder = parts.reduce<unknown>((at, part) => (isRecord(at) ? at[part] : undefined), body);
  if (!isRecord(holder)) return;
  const name = /^\d+$/.test(last) ? field : last;
  if (reason === 'misspelled_field') {
    const suggestion = /did you mean (?:\S*\.)?(\w+)\?/.exec(message)?.[1];
    if (suggestion !== undefined) holder[suggestion] = EXAMPLES[suggestion] ?? holder[last];
    delete holder[last];
  } else if (name === 'from') holder[last] = sender;
  else if (reason === 'no_content') holder.text = EXAMPLES.text;
  else if (reason === 'missing_field' || reason === 'invalid_email' || REQUIRED.has(name))
    holder[last] = EXAMPLES[name] ?? '…';
  // Without `events`, a webhook would receive every event type, which is more than was requested.
  else if (name === 'events' && !Array.isArray(holder)) holder[last] = [EVENT];
  else if (name === 'events' && !Object.values(holder).includes(EVENT)) holder[last] = EVENT;
  else if (Array.isArray(holder)) holder[Number(last)] = undefined;
  else delete holder[last];
}

function isRecord(value: unknown): value is Body {
  return typeof value === 'object' && value !== null;
}
