import { describe, expect, it } from 'vitest';
import { readFieldBlocks } from './report-fields.ts';
import { readReturnedMail } from './returned-mail.ts';

function mail(...lines: string[]): Buffer {
  return Buffer.from(lines.join('\r\n'));
}

function report(fields: readonly string[], headers: readonly string[] = []): Buffer {
  return mail(
    'From: MAILER-DAEMON@mx.example.com',
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    ...headers,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'I am sorry.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    'Arrival-Date: Thu, 31 Jan 2030 09:00:00 +0000',
    '',
    ...fields,
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    'Subject: Hello',
    'Content-Type: message/delivery-status',
    '',
    'Action: failed',
    '--b--',
    '',
  );
}

describe('a delivery report', () => {
  it('is parsed in Postfix format', () => {
    const raw = report([
      'Final-Recipient: rfc822; Ada@example.com',
      'Original-Recipient: rfc822;ada@example.org',
      'Action: failed',
      'Status: 5.1.1',
      'Remote-MTA: dns; mx.example.com',
      'Diagnostic-Code: smtp; 550 5.1.1 <ada@example.com>: Recipient address rejected:',
      '    User unknown',
    ]);

    expect(readReturnedMail(raw)).toEqual({
      kind: 'report',
      recipients: [
        {
          action: 'failed',
          status: '5.1.1',
          diagnostic: '550 5.1.1 <ada@example.com>: Recipient address rejected: User unknown',
          addresses: ['ada@example.com', 'ada@example.org'],
          sorted_as: null,
        },
      ],
      text: 'I am sorry.',
      subject: 'Undelivered Mail Returned to Sender',
      is_delay: false,
      from_system: true,
    });
  });

  it('is parsed in Exchange format, with comments and a status found only in the diagnostic', () => {
    const raw = report([
      'Final-recipient: RFC822;',
      ' <ada@example.com>',
      'Action: Failed (permanent)',
      'Diagnostic-code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; not found',
      'X-Display-Name: Ada',
    ]);

    expect(readReturnedMail(raw)).toMatchObject({
      kind: 'report',
      recipients: [{ action: 'failed', status: '5.1.10', addresses: ['ada@example.com'] }],
    });
  });

  it.each(['delayed', 'delivered', 'relayed', 'expanded'])('is parsed with action %s', (action) => {
    const raw = report(['Final-Recipient: rfc822; ada@example.com', `Action: ${action}`, 'Status: 4.4.1']);

    expect(readReturnedMail(raw)).toMatchObject({ kind: 'report', recipients: [{ action }] });
  });

  it('has one block per recipient if it covers several', () => {
    const raw = report([
      'Final-Recipient: rfc822; a@example.com',
      'Action: failed',
      'Status: 5.2.2',
      '',
      'Final-Recipient: rfc822; b@example.com',
      'Action: delivered',
      'Status: 2.0.0',
    ]);

    expect(readReturnedMail(raw)).toMatchObject({
      recipients: [
        { action: 'failed', status: '5.2.2' },
        { action: 'delivered', status: '2.0.0' },
      ],
    });
  });

  it('is as useful if truncated after its fields as if complete', () => {
    const raw = report(['Final-Recipient: rfc822; ada@example.com', 'Action: failed', 'Status: 5.1.1']);
    const cut = raw.subarray(0, raw.indexOf('message/rfc822'));

    expect(readReturnedMail(cut)).toMatchObject({ kind: 'report', recipients: [{ status: '5.1.1' }] });
  });

  it('is parsed in qmail wording', () => {
    const raw = mail(
      'From: MAILER-DAEMON@mx.example.com',
      'Subject: failure notice',
      '',
      'Hi. This is the qmail-send program at mx.example.com.',
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "This is a permanent error; I've given up. Sorry it didn't work out.",
      '',
      '<ada@example.com>:',
      'Sorry, no mailbox here by that name. (#5.1.1)',
      '',
      '--- Below this line is a copy of the message.',
    );

    expect(readReturnedMail(raw)).toMatchObject({
      kind: 'report',
      recipients: [],
      text: expect.stringMatching(/<ada@example.com>:\nSorry, no mailbox here by that name. \(#5.1.1\)$/),
      from_system: true,
    });
  });

  it('is parsed in old Exim wording', () => {
    const raw = mail(
      'From: Mail Delivery System <Mailer-Daemon@mx.example.com>',
      'X-Failed-Recipients: ada@example.com',
      'Auto-Submitted: auto-replied',
      'Subject: Mail delivery failed: returning message to sender',
      '',
      'This message was created automatically by mail delivery software.',
      '',
      '  ada@example.com',
      '    host mx.example.net [192.0.2.1]',
      '    SMTP error from remote mail server after RCPT TO:<ada@example.com>:',
      '    550 5.1.1 User unknown',
    );

    expect(readReturnedMail(raw)).toMatchObject({
      kind: 'report',
      recipients: [],
      text: expect.stringMatching(/550 5.1.1 User unknown$/),
    });
  });

  it('is parsed from its fields if the MIME is broken', () => {
    const full = report(['Final-Recipient: rfc822; ada@example.com', 'Action: failed', 'Status: 5.1.1']);
    const indented = Buffer.from(full.toString().replaceAll('\r\n--b', '\r\n --b'));
    const undeclared = Buffer.from(full.toString().replace('boundary="b"', 'boundary="other"'));

    for (const raw of [indented, undeclared]) {
      expect(readReturnedMail(raw)).toMatchObject({ recipients: [{ status: '5.1.1' }], text: 'I am sorry.' });
    }
  });

  it('is accepted from any sender, but in plain text only from the null sender or mail systems', () => {
    const text = mail('From: ada@example.com', 'Subject: Undeliverable', '', 'It did not work.');

    expect(readReturnedMail(report(['Action: failed']), 'ada@example.com')).toMatchObject({ kind: 'report' });
    expect(readReturnedMail(text, '')).toMatchObject({ kind: 'report', from_system: true });
    expect(readReturnedMail(text, 'ada@example.com')).toEqual({ kind: 'other' });
    expect(readReturnedMail(text, 'MAILER-DAEMON@mx.example.com')).toMatchObject({ kind: 'report' });
  });
});

describe('an abuse complaint', () => {
  it.each(['abuse', 'not-spam', 'fraud'])('has its type reported as %s', (type) => {
    const raw = mail(
      'From: fbl@example.com',
      'Subject: FW: Hello',
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      '',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      `Feedback-Type: ${type}`,
      'User-Agent: Loop/1.0',
      'Version: 1',
      '',
      '--b--',
    );

    expect(readReturnedMail(raw)).toEqual({ kind: 'complaint', feedback_type: type });
  });
});

describe('a message that is not a report', () => {
  it.each([
    ['Auto-Submitted: auto-replied (vacation)', 'Subject: Re: Hello'],
    ['X-Autoreply: yes', 'Subject: Re: Hello'],
    ['Precedence: auto_reply', 'Subject: Re: Hello'],
    ['X-Other: 1', 'Subject: Out of Office: Hello'],
    ['X-Other: 1', 'Subject: Automatic reply: Hello'],
    ['X-Other: 1', 'Subject: Abwesenheitsnotiz: Hallo'],
  ])('may be an automatic reply with %s and %s', (...headers) => {
    expect(readReturnedMail(mail(...headers, '', 'I am away; 550 5.1.1 is no word of mine.'))).toEqual({
      kind: 'auto_reply',
    });
  });

  it('is classified as a human reply, even if it is about a failure', () => {
    const raw = mail('From: ada@example.com', 'Subject: Re: Hello', 'Auto-Submitted: no', '', 'Action: failed');

    expect(readReturnedMail(raw)).toEqual({ kind: 'other' });
  });

  it('may be a report forwarded inside another message', () => {
    const inner = report(['Final-Recipient: rfc822; ada@example.com', 'Action: failed', 'Status: 5.1.1']);
    const raw = Buffer.concat([
      mail('Subject: Fwd: failure', 'Content-Type: multipart/mixed; boundary="o"', '', '--o', ''),
      mail('Content-Type: message/rfc822', '', ''),
      inner,
      mail('', '--o--'),
    ]);

    expect(readReturnedMail(raw)).toEqual({ kind: 'other' });
  });

  it.each(['', '\r\n'])('may be an empty message of %j', (text) => {
    expect(readReturnedMail(Buffer.from(text))).toEqual({ kind: 'other' });
  });
});

describe('header field blocks', () => {
  it('are unfolded, end at any kind of blank line, and keep their order', () => {
    const blocks = readFieldBlocks('A: 1\n  2\r\n \t3\nB:x\n\n\n \nC : y\nnot a field\nD: z');

    expect(blocks.map((block) => Object.fromEntries(block))).toEqual([{ a: '1 2 3', b: 'x' }, { c: 'y' }, { d: 'z' }]);
  });
});
