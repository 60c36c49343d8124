import type { RefusalRule } from './rule.ts';

/** Texts with an exact meaning, although other words in them would match later rules. */
export const exactTexts = {
  'not in the directory': {
    category: 'mailbox',
    text: /RESOLVER\.(?:ADR|FWD)\.\w*NotFound|000C05A6|RCP-P1\b/i,
    hard: true,
    suppress: true,
  },
  'not in the directory of the edge': {
    category: 'mailbox',
    status: ['4.1'],
    text: /recipient address rejected: access denied/i,
    hard: true,
    suppress: true,
  },
  'group takes known senders only': { category: 'policy', text: /RESOLVER\.RST\.\w*(?:Auth|Restrict)/i },
  'too large for the recipient': { category: 'content', text: /RESOLVER\.RST\.\w*Size/i },
  'domain of Exchange': { category: 'domain', text: /SMTPSEND\.DNS\.NonExistentDomain|DNS\.NonExistent/i, hard: true },
  'policy of Facebook': { category: 'policy', text: /\b(?:RCP-P[2-9]|POL-P\d|INT-P\d|CON-P\d)\b/ },
} as const satisfies Record<string, RefusalRule>;

/** RFC 3463, RFC 5248 and the IANA registry, used if no words matched. Exact details come before their subjects. */
export const statusCodes = {
  'mailbox status of the book': { category: 'mailbox', status: ['1.1', '1.3', '1.6'], hard: true, suppress: true },
  // Exchange Online uses the code of a null MX (RFC 7505) for a recipient that is not in the directory.
  'recipient not found': { category: 'mailbox', status: ['1.10'], hard: true, suppress: true },
  'domain status of the book': { category: 'domain', status: ['1.2', '4.4'], hard: true },
  'any other address status': { category: 'mailbox', status: ['1.'], weak: true },
  'quota status of the book': { category: 'quota', status: ['2.2'] },
  'size status of the book': { category: 'content', status: ['2.3', '3.4'] },
  'disabled by its status': { category: 'mailbox', status: ['2.1'] },
  'any other mailbox status': { category: 'mailbox', status: ['2.'], weak: true },
  'security or policy status': { category: 'policy', status: ['7.1', '7.0', '7.13', '7.17', '7.18'], weak: true },
  'security status of authentication': {
    category: 'authentication',
    status: [
      '7.20',
      '7.21',
      '7.22',
      '7.23',
      '7.24',
      '7.25',
      '7.26',
      '7.27',
      '7.29',
      '7.30',
      '7.8',
      '7.9',
      '7.11',
      '7.12',
    ],
  },
  'security status of reputation': { category: 'reputation', status: ['7.606', '7.511', '7.507', '7.708', '7.705'] },
  'any other security status': { category: 'policy', status: ['7.'], weak: true },
  'system status': { category: 'network', status: ['3.', '4.'], weak: true },
  'protocol status': { category: 'protocol', status: ['5.'], weak: true },
  'content status': { category: 'content', status: ['6.'], weak: true },
} as const satisfies Record<string, RefusalRule>;

/** RFC 5321 section 4.2.3: these codes are used for many things, so they come last. */
export const replyCodes = {
  'over quota by its code': { category: 'quota', code: [452, 552], weak: true },
  'login refused by its code': { category: 'authentication', code: [530, 534, 535, 538], weak: true },
  'protocol by its code': { category: 'protocol', code: [500, 501, 502, 503, 504, 555], weak: true },
  'service by its code': { category: 'network', code: [421, 450, 451, 441, 442, 447], weak: true },
  'nothing known': { category: 'other', weak: true },
} as const satisfies Record<string, RefusalRule>;
