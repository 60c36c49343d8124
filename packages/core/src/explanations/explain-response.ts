import { type Bounce, classify, type RefusalCategory, type ReplyText, readRecord } from '../delivery/index.ts';
import { type Cause, type CauseName, causes } from './causes.ts';
import { commonPhrases, errorPhrases, providerPhrases } from './provider-phrases.ts';
import { statusCauses, vendorRanges } from './status-codes.ts';

export interface Explanation {
  readonly cause: CauseName;
  /** The mailbox provider whose wording was recognized. */
  readonly provider: string | null;
  readonly meaning: string;
  readonly action: string;
}

const MAX_CHARACTERS = 2000;

/** A cause per category, for responses without a code or phrase that says more. */
const categoryCauses: Readonly<Record<RefusalCategory, CauseName>> = {
  mailbox: 'mailbox_unknown',
  domain: 'domain_unknown',
  quota: 'mailbox_full',
  policy: 'not_permitted',
  reputation: 'reputation',
  authentication: 'not_authenticated',
  content: 'spam',
  throttled: 'rate_limited',
  protocol: 'protocol',
  network: 'server_unavailable',
  signing: 'signing_failed',
  other: 'other',
};

/** Explains a response or an error. A bounce report's own category and code complete what the response says. */
export function explainResponse(response: string, bounce: Pick<Bounce, 'category' | 'code'> | null): Explanation {
  const text = response.slice(0, MAX_CHARACTERS);
  const reply = readRecord(text);
  const phrase = providerPhrases.find((one) => one.text.test(reply.text));
  if (phrase) return explanation(phrase.cause, phrase.provider, phrase.action);
  if (bounce?.category === 'signing') return explanation('signing_failed');
  if (reply.code === null && reply.enhanced === null && bounce === null) return explanation(causeOfError(text));
  const enhanced = reply.enhanced ?? (bounce?.code?.includes('.') ? bounce.code : null);
  const { weak, category } = classify({ ...reply, enhanced });
  return explanation(causeOfReply({ ...reply, enhanced }, bounce?.category ?? category, weak));
}

/** Returns the explanation of the enhanced status code, of the words, or of the category, whichever fits first. */
function causeOfReply(reply: ReplyText, category: RefusalCategory, is_weak: boolean): CauseName {
  const by_code = causeOfStatus(reply.enhanced);
  const by_words = commonPhrases.find(
    ({ text, cause }) => text.test(reply.text) && causes[cause].category === category,
  );
  if (by_words) return by_words.cause;
  // The same code is used for many things, so it counts only if the text does not say otherwise.
  if (by_code !== null && (is_weak || causes[by_code].category === category)) return by_code;
  return categoryCauses[category];
}

export function causeOfStatus(enhanced: string | null): CauseName | null {
  const [, subject = '', detail = ''] = enhanced?.split('.') ?? [];
  const exact = statusCauses[`${subject}.${detail}`];
  if (exact) return exact;
  if (subject === '7') {
    const range = vendorRanges.find(([first, last]) => Number(detail) >= first && Number(detail) <= last);
    if (range) return range[2];
  }
  return statusCauses[`${subject}.0`] ?? null;
}

function causeOfError(text: string): CauseName {
  return errorPhrases.find((one) => one.text.test(text))?.cause ?? 'unreachable';
}

function explanation(cause: CauseName, provider: string | null = null, action?: string): Explanation {
  const { meaning, action: usual }: Cause = causes[cause];
  return { cause, provider, meaning, action: action ?? usual };
}
