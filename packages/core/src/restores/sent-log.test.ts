import { describe, expect, it } from 'vitest';
import { newId } from '../fields/ids.ts';
import { readSentLog } from './sent-log.ts';

const id = newId('message', Date.parse('2026-01-01T00:00:00Z'));
const message = `<${id}@sandbox.test>`;
const ada = newId('recipient', Date.parse('2026-01-01T00:00:00Z'));
const own = (fields: object) => JSON.stringify({ level: 30, time: 1, pid: 7, hostname: 'app', ...fields });

/** Returns the state that a log gives for each of these recipients of one message. */
async function readKnown(lines: readonly string[], emails: readonly string[] = ['ada@example.com']) {
  const log = await readSentLog('mail.log', lines);
  const queries = emails.map((email) => ({
    message_id: id,
    recipient_id: email.startsWith('ada@') ? ada : newId('recipient', 0),
    email,
    recipient_count: emails.length,
  }));
  return { known: await log.lookup(queries), unclear: log.unclear_lines };
}

describe('a sent-log line', () => {
  it.each([
    ['Postfix', `to=<ada@example.com>, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as 450) message-id=${message}`],
    ['Sendmail', `sm-mta[7]: 3AQEdHVb012345: to=<ada@example.com>, stat=Sent (ok), msgid=${message}`],
    ['Exim', `2026-01-01 00:00:00 1tFabc-000000001Ab-0x => ada@example.com R=dns T=smtp C="250 OK" id=${message}`],
    ['Exim, another recipient', `1tFabc-0001Ab-0x -> ada@example.com R=dns T=smtp id=${id}@sandbox.test`],
    ['CSV', `${id}@sandbox.test,Ada@Example.com,250 taken`],
    ['a reply', `${message} ada@example.com 250 2.6.0 queued for delivery`],
    ['JSON', JSON.stringify({ message_id: `${id}@sandbox.test`, to: 'ada@example.com', status: 'delivered' })],
    ['a list', `2026-01-01T00:00:00Z ${message} <ada@example.com> sent`],
    ['Postrider', `app-1 | ${own({ email_id: id, recipient_id: ada, status: 'delivered', msg: 'mail finished' })}`],
  ])('reports an email as sent if it says so: %s', async (_, line) => {
    const { known, unclear } = await readKnown([line], ['ada@example.com', 'bob@example.com']);

    expect(known).toEqual(['sent', 'perhaps']);
    expect(unclear.count).toBe(0);
  });

  it.each([
    ['deferred', `to=<ada@example.com>, status=deferred (host said: 451 4.7.1 status=sent) message-id=${message}`],
    ['an address with a status', `to=<status=sent@example.com>, status=bounced (550 5.1.1) message-id=${message}`],
    ['expired', `from=<a@sandbox.test>, status=expired, returned to sender message-id=${message}`],
    ['discarded', `h postfix/discard[7]: 4A1B2C3D: to=<ada@example.com>, status=sent (silently) message-id=${message}`],
    ['NOQUEUE', `h postfix/smtpd[7]: NOQUEUE: reject: RCPT from c: 554 5.7.1 ${message} to=<ada@example.com>`],
    ['a milter', `h postfix/cleanup[7]: 4A1B2C3D: milter-reject: END-OF-MESSAGE: 4.7.1 ${message}`],
    ['Exim, deferral', `1tFabc-000000001Ab-0x == ada@example.com R=dns T=smtp defer (-53) id=${message}`],
    ['Exim, failure', `1tFabc-000000001Ab-0x ** ada@example.com R=dns T=smtp: 550 no such user id=${message}`],
    ['a reply of 4xx', `${message} ada@example.com 451 try again`],
    ['a reply of 5xx', `${id}@sandbox.test,ada@example.com,550 5.1.1 no such user`],
    ['Postrider, accept', own({ email_id: id, via: 'rest', msg: 'mail accepted' })],
    ['Postrider, bounce', own({ email_id: id, recipient_id: ada, status: 'bounced', msg: 'mail finished' })],
    ['Postrider, request', own({ path: `/v1/email/logs/${id}`, status: 'sent', msg: 'request' })],
  ])('does not report an email as sent, and is not listed: %s', async (_, line) => {
    const { known, unclear } = await readKnown([line]);

    expect(known).toEqual([null]);
    expect(unclear).toEqual({ count: 0, listed: [] });
  });

  it.each([
    ['only an address', `message-id=${message} to=<ada@example.com>`],
    ['an unknown status', `${message} to=<ada@example.com> status=processed`],
    ['a negation', `${message} ada@example.com was not sent`],
    ['a duration', `${message} timeout after 250 ms`],
    ['a time', `2026-01-01 00:00:00,250 message ${message} begun`],
    ['a subject', `${id}@sandbox.test,ada@example.com,blocked,"250 off"`],
    ['two replies', `${message} ada@example.com 250 ok, 550 no such user`],
  ])('does not report an email as sent, but is listed: %s', async (_, line) => {
    const { known, unclear } = await readKnown(['another line', line]);

    expect(known).toEqual([null]);
    expect(unclear).toEqual({ count: 1, listed: [{ log: 'mail.log', line_number: 2, line }] });
  });

  it('is listed without control characters, up to 1,000 lines', async () => {
    const lines = Array.from({ length: 1001 }, () => `\u001b[31m${message} ${'x'.repeat(1000)}`);

    const { unclear } = await readKnown(lines);

    expect([unclear.count, unclear.listed.length]).toEqual([1001, 1000]);
    expect(unclear.listed[0]?.line).toMatch(/^\[31m<msg_.*x$/);
    expect(unclear.listed[0]?.line.length).toBeLessThan(300);
  });
});

describe('a recipient in a sent log', () => {
  const emails = ['ada@example.com', 'bob@example.com', 'cyd@example.com'];

  it('is considered sent if any line says so, before or after a deferral', async () => {
    const { known } = await readKnown(
      [
        `${message} to=<ada@example.com> status=deferred`,
        `${message} to=<ada@example.com> status=sent`,
        `${message} to=<bob@example.com> status=sent`,
        `${message} to=<bob@example.com> status=deferred`,
        `${message} to=<cyd@example.com> status=deferred`,
      ],
      emails,
    );

    expect(known).toEqual(['sent', 'sent', null]);
  });

  it('is not parsed from the sender, a reply or any other field', async () => {
    const { known } = await readKnown(
      [
        `${message} from=<bob@example.com> reply-to=<bob@example.com> to=<ada@example.com> status=sent (250 cyd@example.com)`,
      ],
      emails,
    );

    expect(known).toEqual(['sent', 'perhaps', 'perhaps']);
  });

  it('is parsed from a Sendmail line that lists several recipients', async () => {
    const { known } = await readKnown(
      [
        `h sendmail[7]: 3AQEdHVb012345: from=<hello@sandbox.test>, size=7, msgid=${message}, relay=app`,
        'h sendmail[8]: 3AQEdHVb012345: to=<ada@example.com>,<bob@example.com>, dsn=2.0.0, stat=Sent (ok)',
        'h sendmail[8]: 3AQEdHVb012345: to=<cyd@example.com>, dsn=4.0.0, stat=Deferred: Connection refused',
      ],
      emails,
    );

    expect(known).toEqual(['sent', 'sent', null]);
  });

  it('is not considered sent because of a copy that a relay sends elsewhere', async () => {
    const copy = `${message} to=<archive@example.com> status=sent`;

    expect((await readKnown([copy, `${message} to=<ada@example.com> status=deferred`])).known).toEqual([null]);
    expect((await readKnown([copy])).known).toEqual(['perhaps']);
    expect((await readKnown([`${message} status=sent`])).known).toEqual(['sent']);
  });

  it('may have an equals sign in its address', async () => {
    const { known } = await readKnown(
      [`${message} to=<bob=ada@example.com> status=sent`],
      ['ada@example.com', 'bob=ada@example.com'],
    );

    expect(known).toEqual(['perhaps', 'sent']);
  });
});

describe('a relay’s queue id', () => {
  const arrival = `h postfix/cleanup[7]: 4A1B2C3D: message-id=${message}`;
  const sent = 'h postfix/smtp[8]: 4A1B2C3D: to=<ada@example.com>, dsn=2.0.0, status=sent (250 2.0.0 Ok)';

  it('identifies the email for a Postfix line without a Message-ID', async () => {
    const { known, unclear } = await readKnown([arrival, sent, 'h postfix/qmgr[7]: 4A1B2C3D: removed']);

    expect(known).toEqual(['sent']);
    expect(unclear.count).toBe(0);
  });

  it('identifies the email for an Exim line without a Message-ID', async () => {
    const exim = (text: string) => `2026-01-01 00:00:00 1tFabc-000000001Ab-0x ${text}`;
    const { known, unclear } = await readKnown(
      [
        exim(`<= hello@sandbox.test H=app [127.0.0.1] P=esmtp S=700 id=${id}@sandbox.test`),
        exim('=> ada@example.com F=<bob@example.com> R=dns T=smtp H=mx [127.0.0.1] C="250 OK"'),
        exim('== bob@example.com R=dns T=smtp defer (-53)'),
        exim('Completed'),
      ],
      ['ada@example.com', 'bob@example.com'],
    );

    expect(known).toEqual(['sent', null]);
    expect(unclear.count).toBe(0);
  });

  it('is not confused with the same id used for another email or on another machine', async () => {
    const line = 'h postfix/cleanup[7]: 4A1B2C3D: message-id=<another@example.com>';

    expect((await readKnown([arrival, 'h postfix/qmgr[7]: 4A1B2C3D: removed', sent])).known).toEqual([null]);
    expect((await readKnown([arrival, line, sent])).known).toEqual([null]);
    expect((await readKnown([arrival, sent.replace('h ', 'other ')])).known).toEqual([null]);
  });

  it('is used to list email that arrived but has no outcome', async () => {
    const { known, unclear } = await readKnown([arrival, `${message} and no more`]);

    expect(known).toEqual([null]);
    expect(unclear.listed.map(({ line_number }) => line_number)).toEqual([1, 2]);
  });
});
