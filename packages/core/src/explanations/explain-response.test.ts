import { readReply } from '@postrider/mail';
import { describe, expect, it } from 'vitest';
import { refusalTexts } from '../../test/refusal-texts.ts';
import { lastResponse } from '../delivery/outcome.ts';
import { causes } from './causes.ts';
import { causeOfStatus, explainResponse } from './explain-response.ts';
import { providerPhrases } from './provider-phrases.ts';

/** The enhanced status codes of the IANA registry, without those that only report success. */
const registered: readonly (readonly [subject: number, last: number, without?: readonly number[]])[] = [
  [1, 10, [5]],
  [2, 4],
  [3, 6],
  [4, 7],
  [5, 6],
  [6, 10],
  [7, 30],
];

/** Replies that a provider uses for something more specific than the category by which Postrider acts on them. */
const specific = ['(S77719)', '(AU01)'];

function responseOf(line: string): string {
  const reply = readReply(line);
  if (!reply) throw new Error('the fixture is not a reply');
  return lastResponse({ reply, error: null });
}

describe('explanation of a response', () => {
  it('agrees with its classification for every known text', () => {
    const disagreements = refusalTexts
      .filter(([, , , line]) => !specific.some((text) => line.includes(text)))
      .map(([source, , category, line]) => ({ source, line, category, ...explainResponse(responseOf(line), null) }))
      .filter(({ cause, category }) => causes[cause].category !== category);

    expect(disagreements).toEqual([]);
  });

  it('covers every enhanced status code in the registry', () => {
    const codes = registered.flatMap(([subject, last, without = []]) =>
      Array.from({ length: last + 1 }, (_, detail) => detail)
        .filter((detail) => !without.includes(detail))
        .map((detail) => `5.${subject}.${detail}`),
    );

    expect(codes).toHaveLength(79);
    expect(codes.filter((code) => causeOfStatus(code) === null)).toEqual([]);
    expect(causeOfStatus('5.7.606')).toBe('ip_blocked');
    expect(causeOfStatus('5.2.99')).toBe('mailbox_other');
    expect(causeOfStatus('5.9.1')).toBe(null);
  });

  it('recognizes the wording of ten mailbox providers', () => {
    const texts = refusalTexts.map(([, , , line]) => responseOf(line));
    const providers = new Set(
      texts.map((text) => explainResponse(text, null).provider).filter((name) => name !== null),
    );

    expect(providers).toEqual(new Set(providerPhrases.map(({ provider }) => provider)));
    expect(providers.size).toBeGreaterThanOrEqual(10);
  });

  it.each([
    ['550 5.7.1 No such user!', 'mailbox_unknown', 'Yandex'],
    ['550 5.2.1 Account disabled', 'mailbox_disabled', null],
    ['550 5.7.26 rejected', 'not_authenticated', null],
    [
      '550 5.7.509 Access denied, sending domain a.test does not pass DMARC verification and has a DMARC policy of reject',
      'dmarc_failed',
      'Microsoft 365',
    ],
    [
      '554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes',
      'policy_or_records',
      'Yahoo',
    ],
    [
      '421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address',
      'unsolicited',
      'Gmail',
    ],
    ['451 4.7.1 Greylisted, come back later', 'greylisted', null],
    ['452 4.2.2 Mailbox full', 'mailbox_full', null],
    ['550 5.7.515 Rejected', 'not_authenticated', null],
    ['connect ECONNREFUSED 192.0.2.1:25', 'unreachable', null],
    ['DNS lookup failed for example.test: queryMx ENOTFOUND', 'dns_failed', null],
    ['the sending worker was lost', 'connection_lost', null],
  ])('maps %s to %s', (response, cause, provider) => {
    expect(explainResponse(response, null)).toMatchObject({ cause, provider });
  });

  it('follows a bounce report whose text says less', () => {
    expect(explainResponse('undelivered', { category: 'quota', code: '5.2.2' }).cause).toBe('mailbox_full');
    expect(explainResponse('undelivered', { category: 'domain', code: null }).cause).toBe('domain_unknown');
  });
});

describe('text of each cause', () => {
  it('is a sentence on what happened and one on what to do', () => {
    for (const { meaning, action } of Object.values(causes)) {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(action).toMatch(/^[A-Z].*\.$/);
    }
  });
});
