import { createHash } from 'node:crypto';

export const failureKinds = ['smtp', 'webhook', 'job', 'dns'] as const;
export type FailureKind = (typeof failureKinds)[number];

/** The normalized form of similar failures. */
export interface FailureSignature {
  /** Derived from signature, code and kind: identical in every workspace, and stable. */
  readonly id: string;
  readonly signature: string;
  readonly code: number | null;
  readonly enhanced_code: string | null;
}

const LONGEST = 1000;
const REPLY = /^([1-6]\d\d)(?:[ -]+([245]\.\d{1,3}\.\d{1,3}))?(?=\s|$)[ -]*/;
// Spaces around each placeholder, so that adjacent characters make no difference.
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\bhttps?:\/\/\S+/gi, ' <url> '],
  [/<[^<>\s]*@[^<>\s]*>|[^\s<>()[\]{}"':;,=]+@[^\s<>()[\]{}"':;,=]+/g, ' <address> '],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, ' <id> '],
  [/\[?(?:ipv6:)?\b(?:[0-9a-f]{0,4}:){3,7}[0-9a-f.]{0,15}\]?/gi, ' <ip> '],
  [/\[?\b\d{1,3}(?:\.\d{1,3}){3}\b\]?(?::\d{1,5}\b)?/g, ' <ip> '],
  [
    /\b[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.[a-z]{2,24}\b\.?(?::\d{1,5}\b)?/gi,
    ' <host> ',
  ],
  // Mixed letters and digits, or more characters than a word has, are an id. A code in brackets such as [S3140] is not.
  [/(?<!\[)\b(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}\b/gi, ' <id> '],
  [/\b[\w-]{33,}\b/g, ' <id> '],
  // Enhanced codes and providers' short codes distinguish failures; other numbers do not.
  [/(?<![\w.#<])#?[245]\.\d{1,3}\.\d{1,3}(?![\w.])/g, ' '],
  [/(?<![\w[])\d+(?:[.,:]\d+)*(?!\w*\])/g, ' # '],
];

/**
 * Normalizes a reply or an error by removing numbers, addresses, ids, hosts and URLs. A pure function of text and kind.
 */
export function failureSignature(text: string, kind: FailureKind = 'smtp'): FailureSignature {
  // Multi-line replies leave multiple spaces.
  const normalized = text
    .slice(0, LONGEST)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const head = REPLY.exec(normalized);
  const code = head?.[1] === undefined ? null : Number(head[1]);
  const enhanced_code = head?.[2] ?? /(?<![\w.])([245]\.\d{1,3}\.\d{1,3})(?![\w.])/.exec(normalized)?.[1] ?? null;
  const words = normalised(head ? normalized.slice(head[0].length) : normalized);
  const signature = [code, enhanced_code, words].filter((part) => part !== null && part !== '').join(' ');
  const id = createHash('sha256').update(`${kind}\n${signature}`).digest('hex').slice(0, 16);
  return { id, signature, code, enhanced_code };
}

function normalised(words: string): string {
  let text = words;
  for (const [pattern, replacement] of replacements) text = text.replace(pattern, replacement);
  return text
    .replace(/\s+/g, ' ')
    .replace(/(<\w+>|#)(?: (?:[-,;:/.] )?\1)+/g, '$1')
    .replace(/ (?=[.,;:!?)\]])/g, '')
    .replace(/(?<=[([]) /g, '')
    .trim()
    .toLowerCase();
}

const DNS_WORDS =
  /\bDNS has (?:no answer|no such name)|DNS lookup failed for|does not exist in DNS|no MX, A or AAAA record|publishes a null MX|no host of its MX records|The mail servers of \S+ are not known|could not be resolved/;

/** Returns whether a server or the DNS failed. DNS errors are our own texts; server replies start with a code. */
export function replyKind(text: string): FailureKind {
  return DNS_WORDS.test(text) ? 'dns' : 'smtp';
}
