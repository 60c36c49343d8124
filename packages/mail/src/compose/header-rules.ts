export interface HeaderProblem {
  readonly kind: 'invalid' | 'reserved';
  readonly message: string;
}

// RFC 5322 section 3.6.8: printable ASCII except the colon.
const NAME = /^[!-9;-~]{1,76}$/;

// The composer, the signer or servers along the way write these headers. A second copy would contradict the envelope,
// forge a trace or break a signature.
const RESERVED = new Set([
  'apparently-to',
  'authentication-results',
  'bcc',
  'cc',
  'date',
  'delivered-to',
  'dkim-signature',
  'domainkey-signature',
  'envelope-to',
  'from',
  'message-id',
  'mime-version',
  'received',
  'received-spf',
  'reply-to',
  'return-path',
  'sender',
  'subject',
  'to',
  'x-envelope-from',
  'x-envelope-to',
  'x-original-to',
]);
const RESERVED_PREFIXES = ['arc-', 'content-', 'resent-', 'x-postrider-'];

// Spaces separate syntax in these headers, so encoded-words cannot carry a long or non-ASCII value (RFC 2047 section
// 5).
const STRUCTURED = /^(?:list-.+|in-reply-to|references)$/i;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here.
const CONTROL_BUT_TAB = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the class is the whole of ASCII.
const NON_ASCII = /[^\x00-\x7f]/;
// A continuation line is one space and at most 997 more octets before its CRLF (RFC 5322 section 2.1.1).
const MAX_STRUCTURED_TOKEN = 997;

/** Returns whether a text contains a control character other than TAB, which is not allowed in any header value. */
export function holdsControl(text: string): boolean {
  return CONTROL_BUT_TAB.test(text);
}

/** Returns the problem with a custom header, or null if the header is valid. The caller limits count and total size. */
export function headerProblem(name: string, value: string): HeaderProblem | null {
  if (!NAME.test(name)) {
    return {
      kind: 'invalid',
      message: 'A header name is 1 to 76 printable ASCII characters without spaces and colons.',
    };
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    return { kind: 'reserved', message: `The header ${name} is set by the service and cannot be overridden.` };
  }
  if (holdsControl(value)) {
    return {
      kind: 'invalid',
      message: `The value of ${name} must not contain line breaks, NUL or other control characters.`,
    };
  }
  if (!value.isWellFormed()) {
    return { kind: 'invalid', message: `The value of ${name} contains half of a surrogate pair.` };
  }
  if (isStructuredHeader(name) && NON_ASCII.test(value)) {
    return {
      kind: 'invalid',
      message: `The value of ${name} must be ASCII, because mail clients do not decode other text in it. Percent-encode URLs.`,
    };
  }
  if (isStructuredHeader(name) && value.split(/[ \t]+/).some((token) => token.length > MAX_STRUCTURED_TOKEN)) {
    return {
      kind: 'invalid',
      message: `The value of ${name} has more than ${MAX_STRUCTURED_TOKEN} characters without a space, too many for one line.`,
    };
  }
  return null;
}

/** Returns whether the value of a header is structured, so that it must be written unchanged. */
export function isStructuredHeader(name: string): boolean {
  return STRUCTURED.test(name);
}
