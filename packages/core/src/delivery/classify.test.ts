import { readReply } from '@postrider/mail';
import { describe, expect, it } from 'vitest';
import { type Expected, refusalTexts } from '../../test/refusal-texts.ts';
import { type Classification, classify } from './classify.ts';

function verdictOf({ permanent, suppress }: Classification): Expected {
  if (!permanent) return 'defer';
  return suppress ? 'suppress' : 'bounce';
}

describe('rejection text from a known server', () => {
  it.each(refusalTexts)('a reply of %s means %s for %s: %s', (_source, expected, category, line) => {
    const reply = readReply(line);
    if (!reply) throw new Error('the fixture is not a reply');

    const classification = classify(reply);

    expect({
      verdict: verdictOf(classification),
      category: classification.category,
      rule: classification.rule,
    }).toEqual({
      verdict: expected,
      category,
      rule: classification.rule,
    });
  });

  it('triggers over fifteen classification rules, each for less than half of the texts', () => {
    const rules = refusalTexts.map(([source, , , line]) => {
      const reply = readReply(line);
      return { source, line, rule: reply ? classify(reply).rule : 'unread' };
    });

    const byRule = Map.groupBy(rules, ({ rule }) => rule);
    console.log(
      [...byRule]
        .map(([rule, texts]) => `${rule}: ${texts.map(({ line }) => line.slice(0, 50)).join(' | ')}`)
        .join('\n'),
    );

    expect(byRule.size).toBeGreaterThan(15);
    for (const texts of byRule.values()) expect(texts.length).toBeLessThan(refusalTexts.length / 2);
  });
});

describe('a status without a reply code, as in a delivery report', () => {
  it('determines the classification', () => {
    expect(classify({ code: null, enhanced: '5.1.1', text: '' })).toMatchObject({ permanent: true, suppress: true });
    expect(classify({ code: null, enhanced: '4.1.1', text: 'user unknown' })).toMatchObject({
      category: 'mailbox',
      permanent: false,
      suppress: false,
    });
    expect(classify({ code: null, enhanced: null, text: '' })).toMatchObject({ permanent: false, suppress: false });
  });
});

describe('reply text of maximum length', () => {
  it.each(['mailbox ', 'a@', '<', 'user has been ', 'account is is is '])(
    'is classified if it consists of %s',
    (part) => {
      const text = part.repeat(1024 / part.length);

      expect(classify({ code: 550, enhanced: null, text }).permanent).toBe(true);
    },
  );
});
