import type { ReportedRecipient, ReturnedReport } from '@postrider/mail';
import { cleanRemoteText } from '@postrider/net';
import type { Bounce } from './bounce.ts';
import { type Classification, classify, type ReplyText } from './classify.ts';
import { isClassAlone, readRecord, replyInText, statusInText } from './refusals/reply-in-text.ts';

export interface BounceVerdict {
  readonly bounce: Bounce;
  readonly suppress: boolean;
  /** The text that decided the classification, or the closest match; safe to store. */
  readonly response: string;
}

/** The categories of PowerMTA, for reports whose text is inconclusive. */
const SORTED: Readonly<Record<string, Pick<Classification, 'category'> & { hard?: true; suppress?: true }>> = {
  'bad-mailbox': { category: 'mailbox', hard: true, suppress: true },
  'bad-domain': { category: 'domain', hard: true },
  'inactive-mailbox': { category: 'mailbox' },
  'quota-issues': { category: 'quota' },
  'spam-related': { category: 'content' },
  'virus-related': { category: 'content' },
  'content-related': { category: 'content' },
  'policy-related': { category: 'policy' },
  'relaying-issues': { category: 'policy' },
  'invalid-sender': { category: 'policy' },
  'message-expired': { category: 'network' },
  'no-answer-from-host': { category: 'network' },
  'routing-errors': { category: 'network' },
  'bad-connection': { category: 'network' },
  'bad-configuration': { category: 'network' },
  'protocol-errors': { category: 'protocol' },
};

// After DATA a server judges the message, whatever its text says: only an exact status is about the mailbox. m-FILTER
// names the command below the reply; Yahoo has [BODY], Google (state 18) and qmail a specific sentence.
const AFTER_DATA =
  /end of data|failed after I sent the message|after (?:pipelined )?(?:sending )?(?:end of )?data\b|\[BODY\]|\(state 1[78]\)|smtp command\s*\n\s*data\b|>>> \.\s*$/im;
const EXACT = /^5\.1\.(?:1|3|6|10)$/;
const TEMPORARY = /temporar|try again|timed? ?out|\bexpired|deferred|retr(?:y|ies)|\b4\.\d\.\d/i;
const MAX_SECTION_CHARACTERS = 2000;
const MAX_RESPONSE_CHARACTERS = 300;

/**
 * Classifies a failure by the field group of its recipient, if it has one, and by its text. If the reply in the fields
 * is inconclusive, the text about the recipient is used, then the whole text.
 */
export function classifyReturned(
  report: ReturnedReport,
  group: ReportedRecipient | null,
  email: string,
): BounceVerdict {
  const section = sectionAbout(report.text, [email, ...(group?.addresses ?? [])]);
  const status = group?.status ?? null;
  const phrases = sayingsOf(report, section, group);
  const replies = phrases.map((reply) => ({ said: reply, classification: classify(reply) }));
  const decided = replies.find(({ classification }) => !classification.weak);
  const sorted = decided ? undefined : SORTED[group?.sorted_as ?? ''];
  const { said: reply, classification } = decided ?? replies[0] ?? { said: NOTHING, classification: classify(NOTHING) };
  const code = codeOf(reply, status, section);
  const after_data = AFTER_DATA.test(`${group?.diagnostic ?? ''}\n${section}`) && !EXACT.test(code ?? '');
  const hard = (sorted ? sorted.hard === true : classification.hard) && !after_data;
  // The server gave up on a temporary failure: that ends this message but says nothing about the next.
  const given_up = status?.startsWith('4') === true;
  const suppress = sorted ? sorted.suppress === true : classification.suppress;
  return {
    bounce: { class: hard ? 'hard' : 'soft', category: sorted?.category ?? classification.category, code },
    suppress: suppress && hard && !given_up && report.from_system,
    response: responseOf(group, reply, section),
  };
}

const NOTHING: ReplyText = { code: null, enhanced: null, text: '' };

/** Returns the texts to classify, most specific first. */
function sayingsOf({ text, subject }: ReturnedReport, section: string, group: ReportedRecipient | null): ReplyText[] {
  const status = group?.status ?? null;
  const code = status !== null && !isClassAlone(status) ? status : null;
  const phrases: ReplyText[] = [];
  if (group?.diagnostic) {
    const reply = replyInDiagnostic(group.diagnostic);
    phrases.push({ ...reply, enhanced: reply.enhanced ?? code ?? status });
  } else if (code !== null) phrases.push({ code: null, enhanced: code, text: '' });
  for (const part of section === text ? [text] : [section, text]) {
    const reply = replyInText(part);
    const enhanced = code ?? statusInText(part);
    if (reply) phrases.push({ ...reply, enhanced: reply.enhanced ?? enhanced });
    // Reads a text as a permanent failure, unless a code or the text itself says otherwise.
    const temporary =
      status?.startsWith('4') || (reply ? reply.code !== null && reply.code < 500 : TEMPORARY.test(part));
    const presumed = temporary ? '4.0.0' : '5.0.0';
    phrases.push({ code: null, enhanced: reply ? presumed : (enhanced ?? presumed), text: withoutBoilerplate(part) });
  }
  if (!status?.startsWith('4')) phrases.push({ code: null, enhanced: '5.0.0', text: subject });
  return phrases;
}

/** Returns the reply in a diagnostic, which may prefix the reply with a sentence from the reporting system. */
function replyInDiagnostic(diagnostic: string): ReplyText {
  const reply = readRecord(diagnostic);
  if (reply.code !== null) return reply;
  const inside = replyInText(diagnostic);
  return inside === null ? reply : { ...inside, enhanced: inside.enhanced ?? reply.enhanced, text: reply.text };
}

function codeOf(reply: ReplyText, status: string | null, section: string): string | null {
  const exact = [reply.enhanced, status, statusInText(section)].find((one) => one && !isClassAlone(one));
  if (exact) return exact;
  return reply.code === null ? status : String(reply.code);
}

/**
 * Returns the part of a text about one of the addresses: from the line that names the address to the line that begins
 * another entry.
 */
function sectionAbout(text: string, addresses: readonly string[]): string {
  const lower = text.toLowerCase();
  const start = Math.min(...addresses.filter((one) => one !== '').map((one) => placeOf(lower, one.toLowerCase())));
  if (!Number.isFinite(start)) return text;
  const lines = text.slice(start, start + MAX_SECTION_CHARACTERS).split('\n');
  const end = lines.findIndex((line, index) => {
    if (index === 0) return false;
    const address = /^[\s<>"'*-]*([^\s<>"'(),;\u2e80-\uffef]+@[^\s<>"'(),;:\u2e80-\uffef]+)/
      .exec(line)?.[1]
      ?.toLowerCase();
    return address !== undefined && !addresses.some((one) => one.toLowerCase() === address);
  });
  return (end < 0 ? lines : lines.slice(0, end)).join('\n');
}

/** Returns where the line that names an address begins. */
function placeOf(lower: string, address: string): number {
  const index = lower.indexOf(address);
  return index < 0 ? Number.POSITIVE_INFINITY : lower.lastIndexOf('\n', index) + 1;
}

// Sentences that mail systems add to every report, and whose words would match the rule for some other failure.
const BOILERPLATE = [
  /this is (?:a|an) (?:permanent|automat)[^.\n]*[.\n]/gi,
  /(?:please )?(?:check|verify|double-?check|make sure|re-?check)[^.\n]*(?:\n[^.\n]+)?[.\n]/gi,
  /(?:see|read|open|consult|refer to)[^.\n]*\battach[^.\n]*[.\n]/gi,
  /(?:if|should) you (?:have|need|continue|believe|feel|want|think)[^.\n]*(?:\n[^.\n]+)?[.\n]/gi,
  /(?:please )?(?:do not|don't) reply[^.\n]*[.\n]?/gi,
  /(?:for (?:further|more|additional) (?:information|assistance|help|details)|please (?:contact|send|include|forward|see|visit|direct))[^.\n]*(?:\n[^.\n]+)?[.\n]/gi,
  /(?:may|might|could|can) (?:be|have|also|not)[^.\n]* or [^.\n]*[.\n]/gi,
];

function withoutBoilerplate(text: string): string {
  return BOILERPLATE.reduce((rest, sentence) => rest.replace(sentence, '\n'), text);
}

function responseOf(group: ReportedRecipient | null, reply: ReplyText, section: string): string {
  if (group?.diagnostic) return group.diagnostic;
  const { code, enhanced, text } = reply;
  if (code !== null)
    return cleanRemoteText([code, enhanced, text].filter((part) => part !== null && part !== '').join(' '));
  const words = cleanRemoteText(section.slice(0, MAX_RESPONSE_CHARACTERS));
  return group?.status ?? (words || 'undelivered');
}
