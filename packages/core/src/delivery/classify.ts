import type { Reply } from '@postrider/mail';
import { exactTexts, replyCodes, statusCodes } from './refusals/codes.ts';
import { contentWords, trafficWords, unreachedWords } from './refusals/message-words.ts';
import { disabledWords, domainWords, quotaWords, unknownUserWords } from './refusals/recipient-words.ts';
import type { RefusalCategory, RefusalRule } from './refusals/rule.ts';
import { policyWords, rateWords, senderStatus, senderWords } from './refusals/sender-words.ts';

export { type RefusalCategory, refusalCategories } from './refusals/rule.ts';

/** A server's reply, from the session or from a bounce report. */
export type ReplyText = Pick<Reply, 'enhanced' | 'text'> & { readonly code: number | null };

export interface Classification {
  readonly category: RefusalCategory;
  /** Whether a retry cannot help. */
  readonly permanent: boolean;
  /** Whether the mailbox or its domain does not exist. */
  readonly hard: boolean;
  /** Whether the address should be suppressed. */
  readonly suppress: boolean;
  /** The rule that matched. */
  readonly rule: string;
  /** Whether a code alone decided, or no rule did. */
  readonly weak: boolean;
}

/**
 * The first rule whose conditions all match decides. Texts come first, because the same codes are used for many things;
 * then the codes by their RFC.
 *
 * Texts: the sender documentation of Google, Microsoft, Yahoo, Apple, Comcast, 1&1, Yandex, Mail.ru, Tencent, NetEase,
 * Proofpoint, Mimecast, Barracuda and Cisco, and the sources of Postfix, Exim, Sendmail, qmail and OpenSMTPD.
 */
const rules: Readonly<Record<string, RefusalRule>> = {
  ...exactTexts,
  ...rateWords,
  ...quotaWords,
  ...disabledWords,
  ...senderWords,
  ...contentWords,
  ...senderStatus,
  ...domainWords,
  ...trafficWords,
  ...unreachedWords,
  ...policyWords,
  ...unknownUserWords,
  ...statusCodes,
  ...replyCodes,
};

// A text may contain the recipient's or the sender's address, whose words must not match a rule. A character of a
// script without spaces between words ends an address.
const ADDRESSES = /<[^<>\s]*@[^<>\s]*>|[^\s<>()":;,\u2e80-\uffef]+@[^\s<>()":;,\u2e80-\uffef]+/g;
const HOSTS = /\b[\w-]{1,63}(?:\.[\w-]{1,63}){1,10}\b/g;
const table: readonly (readonly [string, RefusalRule])[] = Object.entries(rules);

/** Classifies a rejection. Only a permanent rejection of the address itself suppresses the address. */
export function classify(reply: ReplyText): Classification {
  const text = reply.text
    .replace(ADDRESSES, ' ')
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\s+/g, ' ');
  // Phrases end at a full stop, and host names contain dots.
  const texts = [...new Set([text, text.replace(HOSTS, 'x')])];
  const status = /^[245]\.(\d{1,3}\.\d{1,3})$/.exec(reply.enhanced ?? '')?.[1] ?? null;
  const entry = table.find(([, rule]) => fits(rule, reply.code, status, texts));
  // The last rule matches everything.
  if (!entry) throw new Error('no rule matches a refusal');
  const [name, rule] = entry;
  const permanent = isPermanent(reply) && !rule.for_now;
  return {
    category: rule.category,
    permanent,
    hard: permanent && rule.hard === true,
    suppress: permanent && rule.suppress === true,
    rule: name,
    weak: rule.weak === true,
  };
}

function fits(rule: RefusalRule, code: number | null, status: string | null, texts: readonly string[]): boolean {
  if (rule.status && !rule.status.some((entry) => (entry.endsWith('.') ? status?.startsWith(entry) : status === entry)))
    return false;
  if (rule.code && !rule.code.some((one) => one === code)) return false;
  if (rule.unspecific && status !== null && status !== '0.0') return false;
  return rule.text === undefined || texts.some((text) => rule.text?.test(text));
}

/** Returns whether the reply code or, in a report without one, the class of the status is permanent. */
function isPermanent({ code, enhanced }: ReplyText): boolean {
  return code === null ? enhanced?.startsWith('5') === true : code >= 500;
}
