import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sendSchema } from '../accept/index.ts';
import { editDistance, likelyMeant } from './spelling.ts';

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['replyTo', 'reply_to', 2],
    ['form', 'from', 1],
    ['tag', 'tags', 1],
    ['sceduled_at', 'scheduled_at', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('returns the distance from %j to %j, which is %i', (left, right, distance) => {
    expect(editDistance(left, right)).toBe(distance);
  });

  it('is symmetric, zero only for equal texts, and never more than the longer text’s length', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = editDistance(left, right);
        expect(editDistance(right, left)).toBe(distance);
        expect(distance === 0).toBe(left === right);
        expect(distance).toBeGreaterThanOrEqual(Math.abs(left.length - right.length));
        expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
      }),
    );
  });
});

describe('likelyMeant', () => {
  const fields = Object.keys(sendSchema.shape);

  it.each([
    ['replyTo', 'reply_to'],
    ['reply-to', 'reply_to'],
    ['scheduledAt', 'scheduled_at'],
    ['schedule_at', 'scheduled_at'],
    ['SCHEDULED-AT', 'scheduled_at'],
    ['From', 'from'],
    ['TO', 'to'],
    ['t_o', 'to'],
    ['Bcc', 'bcc'],
    ['REPLYTO', 'reply_to'],
    ['form', null],
    ['fron', null],
    ['texts', null],
    ['bbc', null],
    ['tasg', null],
    ['subect', 'subject'],
    ['sbjct', 'subject'],
    ['headrs', 'headers'],
    ['heaers_x', null],
    ['object', 'subject'],
    ['Subject', 'subject'],
    ['subjet', 'subject'],
    ['HTML', 'html'],
    ['Html', 'html'],
    ['tag', 'tags'],
    ['header', 'headers'],
    ['attachment', 'attachments'],
    ['meta_data', 'metadata'],
    ['foo', null],
    ['too', null],
    ['id', null],
    ['template_id', null],
    ['from', null],
    ['', null],
  ])('interprets %j as %j', (name, expected) => {
    expect(likelyMeant(name, fields)).toBe(expected);
  });

  it('finds every known name of five or more letters after one edit', () => {
    const longer = fields.filter((field) => field.length >= 5);
    fc.assert(
      fc.property(fc.constantFrom(...longer), fc.nat(), fc.constantFrom('_', 'x', ''), (field, place, put) => {
        const at = place % field.length;
        const typo = field.slice(0, at) + put + field.slice(at + 1);
        fc.pre(!fields.includes(typo));
        expect(fields).toContain(likelyMeant(typo, fields));
      }),
    );
  });
});
