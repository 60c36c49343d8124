import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createServices, invoke } from '@postrider/core';
import { revokeKey } from '@postrider/core/api-keys';
import { getMessage } from '@postrider/core/messages';
import { expiredCertificate, mailCertificate } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { afterAll, describe, expect, it } from 'vitest';
import { startSubmission } from '../src/submission.ts';

const directory = mkdtempSync(join(tmpdir(), 'postrider-submission-'));
const files = { TLS_CERT_FILE: join(directory, 'cert.pem'), TLS_KEY_FILE: join(directory, 'key.pem') };
writeFileSync(files.TLS_CERT_FILE, mailCertificate.cert);
writeFileSync(files.TLS_KEY_FILE, mailCertificate.key);

const world = await openWorld();
await world.domain('good.test');
const plain = await startSubmission(world.services, 0, { implicit: false });
afterAll(() => plain.stop());

const program = (password = world.secret, user = 'api', port = plain.port) =>
  createTransport({ host: '127.0.0.1', port, auth: { user, pass: password }, tls: { rejectUnauthorized: false } });
const hello = { from: 'Shop <hello@good.test>', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

const sealed = (rest: string) => ({
  raw: `From: a@good.test\r\nTo: ada@example.com\r\nSubject: S\r\n${rest}\r\n`,
  envelope: { from: 'a@good.test', to: ['ada@example.com'] },
});

const lines = (...fields: readonly string[]) => ({
  raw: `${fields.join('\r\n')}\r\nTo: ada@example.com\r\nSubject: S\r\n\r\nx\r\n`,
  envelope: { from: 'a@good.test', to: ['ada@example.com'] },
});

interface SmtpError {
  readonly responseCode?: number;
  readonly response?: string;
}
const refusalOf = (sending: Promise<unknown>): Promise<SmtpError> =>
  sending.then(
    () => ({}),
    (error: SmtpError) => error,
  );

async function waitingStatements(sql: typeof world.services.sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_locks where not granted and relation = 'messages'::regclass`;
  return row?.count ?? 0;
}

/** Returns the greeting and the reply to each line. */
async function talk(port: number, lines: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const responses: string[] = [];
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (!/^\d{3} .*\r\n$/m.test(text.slice(text.lastIndexOf('\n', text.length - 2) + 1))) continue;
    responses.push(text);
    text = '';
    const next = lines[responses.length - 1];
    if (next === undefined) break;
    socket.write(`${next}\r\n`);
  }
  return responses;
}

async function stored(response: string) {
  const id = /msg_[0-9a-z]+/.exec(response)?.[0] ?? '';
  const [row] = await world.services.sql<Record<string, unknown>[]>`
    select m.from_address, m.to_addresses, m.cc_addresses, m.bcc_addresses, m.subject, m.tags, m.metadata, m.reply_to,
      b.html, b.text, b.headers, b.attachments
    from messages m join bodies b on b.message_id = m.id where m.id = ${id}`;
  return { id, row: row ?? {} };
}

describe('a program that logs in as "api" with a key', () => {
  it('can submit an email, which is accepted, sent and shown like any other', async () => {
    const { response } = await program().sendMail({
      ...hello,
      html: '<p>Hi</p>',
      cc: 'Bob <bob@example.com>',
      bcc: 'eve@example.com',
      replyTo: 'help@good.test',
      messageId: '<own@shop.test>',
      headers: { 'X-Order': '1815', 'X-Tags': 'receipt, shop', 'X-Metadata': '{"order":"1815"}' },
      attachments: [{ filename: 'a.txt', content: 'file' }],
    });

    expect(response).toMatch(/^250 2\.0\.0 Accepted as msg_/);
    const { id, row } = await stored(response);
    expect(row).toMatchObject({
      from_address: 'Shop <hello@good.test>',
      to_addresses: ['ada@example.com'],
      cc_addresses: ['Bob <bob@example.com>'],
      bcc_addresses: ['eve@example.com'],
      reply_to: 'help@good.test',
      tags: ['receipt', 'shop'],
    });
    expect(JSON.parse(String(row.metadata))).toEqual({ message_id: '<own@shop.test>', order: '1815' });
    expect(JSON.parse(String(row.headers))).toMatchObject({ 'X-Order': '1815' });
    await world.drain();
    const copies = world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));
    expect(copies).toHaveLength(3);
    for (const copy of copies) expect(copy.raw.toString()).not.toContain('eve@example.com');
  });

  it('stores an email exactly as REST does', async () => {
    const { response } = await program().sendMail({ ...hello, html: '<p>Hi</p>' });
    const { row } = await stored(response);

    expect({ ...row, metadata: '{}' }).toMatchObject({
      subject: 'Hello',
      html: '<p>Hi</p>',
      text: 'Hi',
      attachments: '[]',
    });
  });

  it('sets the priority with X-Priority-Class, which must be valid and appears in no copy', async () => {
    const urgent = { ...hello, to: 'urgent@example.com' };

    const { response } = await program().sendMail({ ...urgent, headers: { 'X-Priority-Class': 'high' } });
    const wrong = await refusalOf(program().sendMail({ ...urgent, headers: { 'X-Priority-Class': 'urgent' } }));

    const { id } = await stored(response);
    expect(await invoke(world.as(world.workspace_id), getMessage, { id })).toMatchObject({ priority: 'high' });
    await world.drain();
    const [copy] = world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));
    expect(copy?.raw.toString()).not.toMatch(/priority/i);
    expect(wrong.responseCode).toBe(554);
    expect(wrong.response).toMatch(/priority must be one of/);
  });

  it('gets the same id for a repeated Idempotency-Key', async () => {
    const mail = {
      ...hello,
      messageId: '<one@shop.test>',
      date: new Date(0),
      headers: { 'Idempotency-Key': 'order-7' },
    };
    const [first, second] = [await program().sendMail(mail), await program().sendMail(mail)];

    expect(second.response).toBe(first.response);
  });

  it('gets the same id for a repeated Idempotency-Key even with a different Message-ID', async () => {
    const mail = { ...hello, headers: { 'Idempotency-Key': 'order-8' } };
    const [first, second] = [await program().sendMail(mail), await program().sendMail(mail)];
    const other = await refusalOf(program().sendMail({ ...mail, subject: 'Other' }));

    expect(second.messageId).not.toBe(first.messageId);
    expect(second.response).toBe(first.response);
    expect(other.responseCode).toBe(554);
    expect(other.response).toMatch(/Idempotency-Key/);
  });

  it('cannot use an invalid Idempotency-Key, as over REST', async () => {
    const refusal = await refusalOf(program().sendMail({ ...hello, headers: { 'Idempotency-Key': 'k'.repeat(256) } }));

    expect(refusal.response).toBe('554 5.6.0 Idempotency-Key must be 1 to 255 printable ASCII characters.');
  });

  it.each([
    ['of an unverified domain', { ...hello, from: 'a@unverified.test' }, 554, /unverified\.test/],
    ['without a recipient in To', { ...hello, to: undefined, bcc: 'ada@example.com' }, 554, /To is empty/],
    ['with two senders', { ...hello, from: 'a@good.test, b@good.test' }, 554, /From names two senders/],
    ['with two fields From', lines('From: a@good.test', 'From: b@good.test'), 554, /the field from is set twice/],
    ['with two subjects', lines('From: a@good.test', 'Subject: T'), 554, /the field subject is set twice/],
    ['with a space before a colon', lines('From : a@good.test'), 554, /"From" has a space before its colon/],
    ['with a tab before a colon', lines('From: a@good.test', 'X-Order\t: 7'), 554, /"X-Order" has a space before its/],
    [
      'that is signed',
      {
        raw: 'From: a@good.test\r\nTo: ada@example.com\r\nSubject: S\r\nContent-Type: multipart/signed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b--\r\n',
        envelope: { from: 'a@good.test', to: ['ada@example.com'] },
      },
      554,
      /multipart\/signed cannot be carried unchanged/,
    ],
    [
      'that is S/MIME',
      sealed('Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nAAAA'),
      554,
      /pkcs7-mime/,
    ],
    [
      'that is PGP/MIME',
      sealed(
        'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b--',
      ),
      554,
      /multipart\/encrypted/,
    ],
    [
      'with a calendar among its alternatives',
      sealed(
        'Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHi\r\n--b\r\nContent-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--',
      ),
      554,
      /text\/calendar/,
    ],
    [
      'with a mail attached',
      sealed(
        'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHi\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: c@example.com\r\nSubject: Old\r\n\r\nold\r\n--b--',
      ),
      554,
      /message\/rfc822/,
    ],
    [
      'that names a stranger to the envelope',
      {
        raw: 'From: a@good.test\r\nTo: ada@example.com, bob@example.com\r\nSubject: S\r\n\r\nx\r\n',
        envelope: { from: 'a@good.test', to: ['ada@example.com'] },
      },
      554,
      /bob@example\.com is in To or Cc/,
    ],
  ])('receives a rejection with instructions for an email %s', async (_, mail, code, text) => {
    const refusal = await refusalOf(program().sendMail(mail));

    expect(refusal.responseCode).toBe(code);
    expect(refusal.response).toMatch(text);
  });
});

describe('the response to a submitted email', () => {
  it('is sent only after the commit', async () => {
    const ready = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = world.services.sql.begin(async (tx) => {
      // Our own transactions are aborted after a few seconds of idling.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`lock table messages in share mode`;
      locked.resolve();
      await ready.promise;
    });
    await locked.promise;
    let is_answered = false;
    const sending = program()
      .sendMail(hello)
      .finally(() => {
        is_answered = true;
      });

    await expect.poll(() => waitingStatements(world.services.sql)).toBeGreaterThan(0);
    expect(is_answered).toBe(false);
    ready.resolve();
    await lock;

    const { row } = await stored((await sending).response);
    expect(row.subject).toBe('Hello');
  });

  it('is 552 if the declared size exceeds SIZE, before the content is sent', async () => {
    const auth = Buffer.from(`\0api\0${world.secret}`).toString('base64');

    const transcript = await talk(plain.port, [
      'EHLO me',
      `AUTH PLAIN ${auth}`,
      'MAIL FROM:<a@good.test> SIZE=99999999',
    ]);

    expect(transcript[1]).toContain('SIZE 15728640');
    expect(transcript[3]).toMatch(/^552/);
  });
});

describe('a revoked key', () => {
  it('closes an open session', async () => {
    const { id, secret } = await world.key({ scopes: ['email:send'] });
    const pooled = createTransport({
      pool: true,
      maxConnections: 1,
      host: '127.0.0.1',
      port: plain.port,
      auth: { user: 'api', pass: secret },
    });
    await pooled.sendMail(hello);

    await invoke(world.as(world.workspace_id), revokeKey, { key_id: id });

    expect((await refusalOf(pooled.sendMail(hello))).responseCode).toBe(535);
    pooled.close();
  });
});

describe('wrong passwords', () => {
  it('count toward one limit per IP address, which is shared with wrong API keys', async () => {
    await world.clock.freeze(new Date(Math.floor(world.clock.now() / 60_000) * 60_000 + 5000));
    const wrong = program(`pr_live_${'0'.repeat(64)}`);

    const { sql } = world.services;
    await sql`delete from rate_windows`;
    const codeOf = async () => (await refusalOf(wrong.sendMail(hello))).responseCode;

    expect([await codeOf(), await codeOf()]).toEqual([535, 535]);
    const window = () => sql`
      select used from rate_windows where class = 'address' and minute = date_trunc('minute', clock_now())`;
    expect([...(await window())]).toEqual([{ used: 2 }]);
    await sql`update rate_windows set used = 119 where class = 'address'`;
    expect([await codeOf(), await codeOf()]).toEqual([535, 421]);
    expect([...(await window())]).toEqual([{ used: 121 }]);
    await world.clock.advance(60_000);
  });
});

describe('a program without permission', () => {
  it.each([
    ['a wrong password', () => program(`pr_live_${'0'.repeat(64)}`), /This API key does not exist/],
    ['another user', () => program(world.secret, 'root'), /Log in as user api/],
    ['no key', () => program('secret'), /The password must be an API key/],
  ])('is rejected with %s', async (_, transport, text) => {
    const refusal = await refusalOf(transport().sendMail(hello));

    expect(refusal.responseCode).toBe(535);
    expect(refusal.response).toMatch(text);
  });

  it('is denied by scope, as over REST', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });

    expect((await refusalOf(program(secret).sendMail(hello))).responseCode).toBe(550);
  });
});

describe('TLS', () => {
  const secured = createServices({
    ...world.services,
    config: { ...world.services.config, ...files, HOST: '0.0.0.0' },
  });

  it('is required before the password if the port is reachable from other hosts', async () => {
    const server = await startSubmission(secured, 0, { implicit: false });
    const transport = createTransport({
      host: '127.0.0.1',
      port: server.port,
      ignoreTLS: true,
      auth: { user: 'api', pass: world.secret },
    });

    expect((await refusalOf(transport.sendMail(hello))).responseCode).not.toBeUndefined();
    expect((await program(world.secret, 'api', server.port).sendMail(hello)).response).toMatch(/^250/);
    await server.stop();
  });

  it('is mandatory: the server does not start without a certificate', async () => {
    const open = createServices({ ...world.services, config: { ...world.services.config, HOST: '0.0.0.0' } });

    await expect(startSubmission(open, 0, { implicit: false })).rejects.toThrow('TLS_CERT_FILE');
    await expect(startSubmission(world.services, 0, { implicit: true })).rejects.toThrow('SUBMISSIONS_PORT');
  });

  it('starts with the first byte on the implicit TLS port, and uses a renewed certificate without a restart', async () => {
    writeFileSync(files.TLS_CERT_FILE, mailCertificate.cert);
    writeFileSync(files.TLS_KEY_FILE, mailCertificate.key);
    const server = await startSubmission(secured, 0, { implicit: true });
    const subject = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connectTls({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false }, () => {
          resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
          socket.destroy();
        });
        socket.once('error', reject);
      });
    const before = await subject();

    // The file is rewritten until the watcher notices, because the watcher may first check the file after the first
    // write.
    await expect
      .poll(() => {
        writeFileSync(files.TLS_CERT_FILE, expiredCertificate.cert);
        return world.logged.some(({ msg }) => /TLS certificate is invalid/.test(String(msg)));
      })
      .toBe(true);
    expect(await subject()).toBe(before);

    await expect
      .poll(() => {
        writeFileSync(files.TLS_KEY_FILE, expiredCertificate.key);
        return subject();
      })
      .not.toBe(before);
    await server.stop();
  });
});
