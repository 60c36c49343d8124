import { parseMailbox } from '@postrider/mail';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addresseesOf, emailsOf } from './addressees.ts';

const mailbox = (text: string) => {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.mailbox;
};
const nobody = () => false;

describe('addresseesOf', () => {
  it('keeps the first naming of an address: to before cc before bcc', () => {
    const addressees = addresseesOf(
      {
        to: ['b@x.test', 'B@x.test', 'b@X.TEST'].map(mailbox),
        cc: ['c@x.test', 'Name <b@x.test>'].map(mailbox),
        bcc: ['c@x.test', 'd@x.test'].map(mailbox),
      },
      nobody,
    );

    expect(addressees.map(({ email, kind }) => `${kind} ${email}`)).toEqual([
      'to b@x.test',
      'to B@x.test',
      'cc c@x.test',
      'bcc d@x.test',
    ]);
  });

  it('marks whoever is suppressed and leaves the others', () => {
    const input = { to: ['a@x.test', 'b@x.test'].map(mailbox), cc: [], bcc: [] };

    const marks = addresseesOf(input, (email) => email === 'b@x.test').map(({ suppressed }) => suppressed);

    expect(marks).toEqual([false, true]);
  });

  it('names every address that the message names, once', () => {
    const list = fc.array(fc.constantFrom('a@x.test', 'b@x.test', 'A@x.test', 'a@Y.test').map(mailbox));
    fc.assert(
      fc.property(list, list, list, (to, cc, bcc) => {
        const emails = addresseesOf({ to, cc, bcc }, nobody).map(({ email }) => email);
        expect(new Set(emails).size).toBe(emails.length);
        expect(new Set(emails)).toEqual(new Set(emailsOf({ to, cc, bcc })));
      }),
    );
  });
});
