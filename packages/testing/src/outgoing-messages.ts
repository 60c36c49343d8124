import { headerProblem, type Mailbox, type OutgoingMessage } from '@postrider/mail';
import fc from 'fast-check';

// Characters that a parser may drop: a byte order mark at the start, and control characters, invalid in text/*.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are excluded.
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g;
const phrase = fc
  .string({ unit: 'grapheme', maxLength: 120 })
  .map((text) => text.replace(unprintable, '').replace(/\s+/gu, ' ').trim());
const fragment = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary-ascii', maxLength: 1200 }),
  fc.constantFrom('\n', '\r\n', '\r', '.\n', '\n.', '=', ' \n', 'From x\n', '--', 'é'.repeat(90), 'x'.repeat(1100)),
);
const body = fc
  .array(fragment, { maxLength: 8 })
  .map((pieces) => `x${pieces.join('')}`.replace(/[^\S\n\r\t ]|[\0\ufeff]/gu, ''));
const address = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[a-z0-9]{1,10}){0,2}$/),
    fc.stringMatching(/^[a-z0-9]{1,20}(-[a-z0-9]{1,9})?\.(test|example)$/),
  )
  .map(([local, domain]) => ({ local, domain, email: `${local}@${domain}` }));
const mailboxes = fc
  .tuple(fc.option(phrase, { freq: 1 }), address)
  .map(([name, parts]): Mailbox => ({ name: name || null, ...parts }));
const customHeaders = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^X-[A-Za-z0-9-]{1,60}$/), phrase), {
    maxLength: 6,
    selector: ([name]) => name.toLowerCase(),
  })
  .filter((entries) => entries.every(([name, value]) => headerProblem(name, value) === null))
  .map((entries) => Object.fromEntries(entries));
const attachments = fc.array(
  fc.record({
    filename: fc.tuple(phrase, fc.constantFrom('.bin', '.pdf', '.png', '.txt')).map(([stem, end]) => stem + end),
    content: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  }),
  { maxLength: 3 },
);
/** Arbitrary messages that the product accepts. */
export const outgoingMessages: fc.Arbitrary<OutgoingMessage> = fc.record({
  message_id: fc.stringMatching(/^msg_[a-z0-9]{26}@[a-z]{1,20}\.test$/),
  date: fc.date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
  from: mailboxes,
  to: fc.array(mailboxes, { minLength: 1, maxLength: 8 }),
  cc: fc.array(mailboxes, { maxLength: 3 }),
  reply_to: fc.option(mailboxes),
  subject: phrase,
  html: body,
  text: body,
  headers: customHeaders,
  attachments,
});
