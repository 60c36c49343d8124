import { parseMailbox } from '@postrider/mail';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addresseesOf, emailsOf } from './addressees.ts';

const mailbox = (text: string) => {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.mailbox;
};
const noneSuppressed = () => false;

describe('addresseesOf', () => {
  it('lists an address under its first role, in the order to, cc, bcc', () => {
    const addressees = addresseesOf(
      {
        to: ['b@x.test', 'B@x.test', 'b@X.TEST'].map(mailbox),
        cc: ['c@x.test', 'Name <b@x.test>'].map(mailbox),
        bcc: ['c@x.test', 'd@x.test'].map(mailbox),
      },
      noneSuppressed,
    );

    expect(addressees.map(({ email, kind }) => `${kind} ${email}`)).toEqual([
      'to b@x.test',
      'to B@x.test',
      'cc c@x.test',
      'bcc d@x.test',
    ]);
  });

  it('marks only suppressed addresses', () => {
    const input = { to: ['a@x.test', 'b@x.test'].map(mailbox), cc: [], bcc: [] };

    const marks = addresseesOf(input, (email) => email === 'b@x.test').map(({ suppressed }) => suppressed);

    expect(marks).toEqual([false, true]);
  });

  it('lists every address in the message once', () => {
    const list = fc.array(fc.constantFrom('a@x.test', 'b@x.test', 'A@x.test', 'a@Y.test').map(mailbox));
    fc.assert(
      fc.property(list, list, list, (to, cc, bcc) => {
        const emails = addresseesOf({ to, cc, bcc }, noneSuppressed).map(({ email }) => email);
        expect(new Set(emails).size).toBe(emails.length);
        expect(new Set(emails)).toEqual(new Set(emailsOf({ to, cc, bcc })));
      }),
    );
  });
});
