import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Services } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { createWorld, type SinkMail, sharedByTests, type World } from '@postrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { countEach, fillWindow } from './rate-windows.ts';
import { openRaw, requestHead } from './raw-http.ts';
import {
  type Answer,
  type CallOptions,
  detailsOf,
  errorOf,
  type RestServer,
  rateOf,
  startRest,
} from './rest-server.ts';

let world: World;
let rest: RestServer;
/** The same /v1 in what would be another process. */
let other: RestServer;
let peer: Services;

sharedByTests(open, close);

async function open(): Promise<void> {
  world = await createWorld();
  rest = await startRest(world.services, world.secret);
  peer = await world.peer();
  other = await startRest(peer, world.secret);
  await world.domain('good.test');
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
}
// Each test has windows of its own, and none of them turns while it runs.
beforeEach(() => world.clock.advance(60_000));
afterEach(() => vi.useRealTimers());
async function close(): Promise<void> {
  await rest.stop();
  await other.stop();
  await world.stop();
}

const hello = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
const MIB = 1024 * 1024;

const send = (fields: Record<string, unknown> = {}, options: CallOptions = {}) =>
  rest.call('POST', '/email/send', { body: { ...hello, ...fields }, ...options });
const post = (body: unknown, options: CallOptions = {}) => rest.call('POST', '/email/send', { body, ...options });
const keyed = (idempotency_key: string) => ({ headers: { 'idempotency-key': idempotency_key } });

/** Drains what is due and gives back the copies of one message. */
async function copiesOf(answer: Answer): Promise<readonly SinkMail[]> {
  expect(answer.status, answer.text).toBe(202);
  await world.drain();
  return world.smtp.mails.filter((mail) => mail.message_id?.startsWith(`<${answer.body.id}@`));
}

async function onlyCopyOf(answer: Answer): Promise<SinkMail> {
  const [copy, ...more] = await copiesOf(answer);
  if (!copy || more.length > 0) throw new Error(`${more.length + (copy ? 1 : 0)} copies arrived`);
  return copy;
}

/** The header block of a mail, unfolded, as `name: value` lines. */
function headerLines(mail: SinkMail): string[] {
  const head = mail.raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
  return head.replace(/\r\n[ \t]/g, ' ').split('\r\n');
}

function longestLine(mail: SinkMail): number {
  return Math.max(
    ...mail.raw
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.length),
  );
}

async function storedMessages(): Promise<number> {
  const [row] = await world.services.sql<{ count: number }[]>`select count(*) as count from messages`;
  return row?.count ?? -1;
}

async function usedMails(workspace_id: string): Promise<number> {
  const [row] = await world.services.sql<{ used: number }[]>`
    select coalesce(sum(used), 0)::int8 as used from usage_months where workspace_id = ${workspace_id}`;
  return row?.used ?? -1;
}

/** Leaves so many mails of the month of a workspace on the Free plan. */
async function leaveMails(workspace_id: string, left: number): Promise<void> {
  await world.services.sql`
    insert into usage_months (workspace_id, month, used)
    values (${workspace_id}, date_trunc('month', clock_now(), 'UTC')::date, ${3000 - left})
    on conflict (workspace_id, month) do update set used = excluded.used`;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `r${index}@example.com`);
}

describe('202', () => {
  it('accepts a mail, delivers it once and shows it delivered', async () => {
    const sent = await send();

    expect(sent.status).toBe(202);
    expect(sent.body).toEqual({ id: expect.stringMatching(/^msg_/), status: 'queued', created_at: expect.any(String) });
    const copy = await onlyCopyOf(sent);
    expect(copy.envelope_to).toEqual(['ada@example.com']);
    const shown = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(shown.body).toMatchObject({ status: 'delivered', recipients: [{ attempts: 1, status: 'delivered' }] });
  });

  it('carries the headers of an answer of /v1', async () => {
    const sent = await send({}, { headers: { 'x-request-id': 'req_mine' } });

    expect(rateOf(sent, world.clock.now())).toMatchObject({ limit: 1000, remaining: 999 });
    expect(sent.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(sent.headers.get('cache-control')).toBe('no-store');
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
    expect(sent.headers.get('ratelimit-policy')).toBe('"send";q=1000;w=60');
    expect(sent.headers.get('ratelimit')).toBe('"send";r=999;t=55');
  });

  it('ignores a field that it does not know and that looks like no other', async () => {
    const sent = await send({ foo: 1, status: 'delivered', workspace_id: 'wsp_other', id: 'msg_mine' });

    expect(sent.status).toBe(202);
    expect(sent.body.id).not.toBe('msg_mine');
  });

  it('takes constructor.prototype as an unknown field without effect on any later request', async () => {
    const sent = await send({ constructor: { prototype: { html: 'polluted', bcc: ['spy@example.com'] } } });

    expect((await onlyCopyOf(sent)).envelope_to).toEqual(['ada@example.com']);
    expect((await onlyCopyOf(await send())).raw.toString()).not.toContain('polluted');
    expect(Object.prototype).not.toHaveProperty('html');
  });

  it('takes five tags, fifty headers and fifty addresses', async () => {
    const sent = await send({
      to: numbered(50),
      tags: ['a', 'B', '1', 'a.b:c-d_e', 'x'.repeat(64)],
      headers: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-Number-${index}`, `${index}`])),
    });

    expect(await copiesOf(sent)).toHaveLength(50);
  });

  it('counts up to a hundred unique recipients of to, cc and bcc together on Business', async () => {
    const [to, cc, bcc] = [numbered(50), numbered(75).slice(50), numbered(100).slice(75)];

    expect((await send({ to, cc, bcc })).status).toBe(202);
    expect(errorOf(await send({ to, cc, bcc: [...bcc, 'one-more@example.com'] })).reason).toBe(
      'recipient_cap_exceeded',
    );
  });

  it('delivers to ten recipients on Free', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('ten.test', workspace_id);

    const sent = await send({ from: 'a@ten.test', to: numbered(10) }, { key: secret });

    expect(await copiesOf(sent)).toHaveLength(10);
    expect(await usedMails(workspace_id)).toBe(10);
  });

  it('delivers and counts an address once however often it is named', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('once.test', workspace_id);

    const sent = await send(
      {
        from: 'a@once.test',
        to: ['ada@example.com', 'Ada <ada@EXAMPLE.com>'],
        cc: ['ada@example.com.'],
        bcc: 'ada@example.com',
      },
      { key: secret },
    );

    expect((await onlyCopyOf(sent)).envelope_to).toEqual(['ada@example.com']);
    expect(await usedMails(workspace_id)).toBe(1);
  });

  it('reaches to, cc and bcc and shows bcc in no copy', async () => {
    const sent = await send({ to: 'to@example.com', cc: 'cc@example.com', bcc: ['Blind <bcc@example.com>'] });

    const copies = await copiesOf(sent);
    expect(copies.flatMap((copy) => copy.envelope_to).sort()).toEqual([
      'bcc@example.com',
      'cc@example.com',
      'to@example.com',
    ]);
    for (const copy of copies) expect(copy.raw.toString()).not.toMatch(/bcc@example\.com|^bcc:|Blind/im);
  });

  it('writes the domain of from in lower case and the local part as given', async () => {
    const copy = await onlyCopyOf(await send({ from: 'A@GOOD.TEST' }));

    expect(headerLines(copy)).toContain('From: A@good.test');
    expect(copy.envelope_from).toMatch(/@good\.test$/);
  });

  it('removes one trailing dot from every domain', async () => {
    const copy = await onlyCopyOf(await send({ from: 'a@good.test.', to: 'ada@example.com.' }));

    expect(headerLines(copy)).toContain('From: a@good.test');
    expect(headerLines(copy)).toContain('To: ada@example.com');
    expect(copy.envelope_to).toEqual(['ada@example.com']);
  });

  it.each(['bücher.test', 'xn--bcher-kva.test', 'BÜCHER.test'])('sends from %s as its A-label', async (domain) => {
    await world.services.sql`delete from domains where name = 'xn--bcher-kva.test'`;
    await world.domain('xn--bcher-kva.test');

    const sent = await send({ from: `a@${domain}`, to: 'ada@bücher.example' });

    const lines = headerLines(await onlyCopyOf(sent));
    expect(lines).toContain('From: a@xn--bcher-kva.test');
    expect(lines).toContain('To: ada@xn--bcher-kva.example');
    // The sink's library shows envelopes decoded; the transcript has the commands as they were written.
    const shown = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(JSON.stringify(shown.body.attempts)).toContain('RCPT TO:<ada@xn--bcher-kva.example>');
    expect(JSON.stringify(shown.body.attempts)).toMatch(/MAIL FROM:<[^>]*@xn--bcher-kva\.test>/);
  });

  it('keeps a subject of 2,000 characters whole in lines of at most 998', async () => {
    for (const subject of ['x'.repeat(2000), 'word '.repeat(400).trim(), '👩‍👩‍👧 שלום '.repeat(150).trim()]) {
      const copy = await onlyCopyOf(await send({ subject }));

      expect(longestLine(copy)).toBeLessThanOrEqual(998);
      expect((await world.smtp.parsed(copy)).subject).toBe(subject);
    }
  });

  it('folds a header value of 900 characters without a space and keeps it intact', async () => {
    const token = 'a'.repeat(900);

    const copy = await onlyCopyOf(await send({ headers: { 'X-Token': token, References: `<${token}@example.com>` } }));

    expect(longestLine(copy)).toBeLessThanOrEqual(998);
    const { headers } = await world.smtp.parsed(copy);
    expect(headers.get('x-token')).toBe(token);
    expect(headerLines(copy).find((line) => line.startsWith('References:'))).toContain(`<${token}@example.com>`);
  });

  it('writes list and thread headers as they were given', async () => {
    const headers = {
      'List-Unsubscribe': '<https://example.com/u?a=1&b=2>, <mailto:off@example.com?subject=unsubscribe>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'In-Reply-To': '<first@example.com>',
      References: '<zeroth@example.com> <first@example.com>',
    };

    const copy = await onlyCopyOf(await send({ headers }));

    expect(headerLines(copy)).toEqual(
      expect.arrayContaining(Object.entries(headers).map(([name, value]) => `${name}: ${value}`)),
    );
  });

  it('takes constructor and toString as the header names that they are', async () => {
    const copy = await onlyCopyOf(await send({ headers: { constructor: 'one', toString: 'two' } }));

    expect(headerLines(copy)).toEqual(expect.arrayContaining(['constructor: one', 'toString: two']));
    expect(headerLines(await onlyCopyOf(await send())).join()).not.toContain('constructor');
  });

  it('takes any character of Unicode in subject, names, bodies, metadata and header values', async () => {
    const text = 'שלום 👩‍👩‍👧 \u{10FFFF} é';
    const sent = await send({
      to: `${text} <ada@example.com>`,
      subject: text,
      text,
      html: `<p>${text}</p>`,
      metadata: { [text]: text },
      headers: { 'X-Text': text },
    });

    const copy = await onlyCopyOf(sent);
    const mail = await world.smtp.parsed(copy);
    expect(mail.subject).toBe(text);
    expect(mail.text?.trim()).toBe(text);
    expect(mail.html).toBe(`<p>${text}</p>`);
    const shown = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(shown.body).toMatchObject({ subject: text, metadata: { [text]: text } });
  });

  it('takes a body with Content-Length, in chunks, with a BOM and with a charset', async () => {
    const json = JSON.stringify(hello);
    const raw = await openRaw(rest.port);
    const authorization = `Bearer ${world.secret}`;
    const head = { authorization, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    raw.write(requestHead('POST', '/v1/email/send', head));
    raw.write(`5\r\n${json.slice(0, 5)}\r\n${(json.length - 5).toString(16)}\r\n${json.slice(5)}\r\n0\r\n\r\n`);

    expect((await raw.answer()).status).toBe(202);
    expect((await post(Buffer.from(`\uFEFF${json}`))).status).toBe(202);
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json ; a=b',
    ])
      expect((await post(json, { headers: { 'content-type': type } })).status).toBe(202);
    raw.socket.destroy();
  });

  it('takes a large body in chunks that never says how long it is', async () => {
    const json = JSON.stringify({ ...hello, text: 'x'.repeat(300_000) });
    const raw = await openRaw(rest.port);
    const authorization = `Bearer ${world.secret}`;
    const head = { authorization, 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    raw.write(requestHead('POST', '/v1/email/send', head));
    for (let at = 0; at < json.length; at += 50_000) {
      const part = json.slice(at, at + 50_000);
      raw.write(`${part.length.toString(16)}\r\n${part}\r\n`);
    }
    raw.write('0\r\n\r\n');

    expect((await raw.answer()).status).toBe(202);
    raw.socket.destroy();
  });

  it('takes a message of exactly 10 MiB', async () => {
    const content = Buffer.alloc(4 * MIB).toString('base64');
    const rest_of_it = { html: 'h'.repeat(6 * MIB - 2), attachments: [{ filename: 'a.bin', content }] };

    expect((await send({ ...rest_of_it, text: 'ok' })).status).toBe(202);
    expect(errorOf(await send({ ...rest_of_it, text: 'ok!' })).reason).toBe('body_too_large');
  });

  it('takes a schedule up to 60 s in the past as now, and one up to 30 days ahead', async () => {
    const at = (seconds: number) => new Date(world.clock.now() + seconds * 1000).toISOString();

    for (const scheduled_at of [at(-60), at(-10)]) await onlyCopyOf(await send({ scheduled_at }));
    const ahead = await send({ scheduled_at: at(30 * 86_400) });

    expect(ahead.body.status).toBe('queued');
    expect(await copiesOf(ahead)).toEqual([]);
    expect(errorOf(await send({ scheduled_at: at(30 * 86_400 + 1) })).reason).toBe('scheduled_too_far');
  });

  it.each(['+02:00', '-11:30', '+14:00'])('reads the offset %s of a schedule', async (offset) => {
    const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? [];
    const shift_ms = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    const instant = new Date(world.clock.now() + 3_600_000);
    const local = new Date(instant.getTime() + shift_ms).toISOString().replace('Z', offset);

    const sent = await send({ scheduled_at: local });

    expect((await rest.call('GET', `/email/logs/${sent.body.id}`)).body.scheduled_at).toBe(instant.toISOString());
  });

  describe('with an Idempotency-Key', () => {
    it('answers a repeat byte for byte and sends one copy', async () => {
      const first = await send({}, keyed('repeat'));
      const second = await send({}, keyed('repeat'));

      expect(second.status).toBe(202);
      expect(second.text).toBe(first.text);
      expect(first.headers.has('idempotent-replayed')).toBe(false);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      await onlyCopyOf(second);
    });

    it('makes one message of fifty concurrent duplicates on two processes', async () => {
      const servers = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? rest : other));

      const answers = await Promise.all(
        servers.map((server) => server.call('POST', '/email/send', { body: hello, ...keyed('duplicates') })),
      );

      expect(countEach(answers.map((answer) => answer.status))).toEqual(new Map([[202, 50]]));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
      for (const answer of answers.slice(0, 1)) await onlyCopyOf(answer);
    });

    it('keeps keys of two workspaces apart', async () => {
      const { secret, workspace_id } = await world.workspace('free');
      await world.domain('apart.test', workspace_id);

      const mine = await send({ from: 'a@good.test' }, keyed('shared'));
      const theirs = await send({ from: 'a@apart.test' }, { key: secret, ...keyed('shared') });

      expect([mine.status, theirs.status]).toEqual([202, 202]);
      expect(mine.body.id).not.toBe(theirs.body.id);
    });

    it('is not burned by a request that was refused', async () => {
      expect((await send({ from: 'a@nobody.test' }, keyed('fresh'))).status).toBe(422);
      expect((await send({ to: [] }, keyed('fresh'))).status).toBe(400);

      expect((await send({}, keyed('fresh'))).status).toBe(202);
    });

    it('is forgotten after 24 hours', async () => {
      const first = await send({}, keyed('day'));
      await world.clock.advance(86_400_000);

      const second = await send({}, keyed('day'));

      expect(second.headers.has('idempotent-replayed')).toBe(false);
      expect(second.body.id).not.toBe(first.body.id);
    });

    it('may have 255 characters', async () => {
      expect((await send({}, keyed('k'.repeat(255)))).status).toBe(202);
    });
  });
});

describe('400', () => {
  const refused = async (answer: Answer): Promise<string> => {
    const error = errorOf(answer);
    expect([answer.status, error.code], answer.text).toEqual([400, 'invalid_request']);
    rateOf(answer, world.clock.now());
    return error.reason;
  };

  it.each(['{"from":', '', 'nonsense', '{"a":1}{"b":2}', "{'a':1}", '{"a":1,}', 'NaN'])(
    'refuses %j, which is not JSON',
    async (body) => {
      expect(['malformed_json', 'missing_field']).toContain(await refused(await post(body)));
    },
  );

  it.each(['null', '[]', '"x"', '42', 'true', '[{}]'])('refuses %s, which is not an object', async (body) => {
    const answer = await post(body);

    expect(await refused(answer)).toBe('invalid_type');
    expect(errorOf(answer).message).toBe('The body must be an object.');
  });

  it('asks for a body where there is none', async () => {
    const answer = await rest.call('POST', '/email/send');

    expect(await refused(answer)).toBe('missing_field');
    expect(errorOf(answer).message).toBe('The body is required; add it.');
  });

  it.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=utf-16',
    '',
  ])('refuses the media type %j', async (type) => {
    expect(await refused(await post(hello, { headers: { 'content-type': type } }))).toBe('unsupported_media_type');
  });

  it('refuses a body whose media type is not given', async () => {
    const raw = await openRaw(rest.port);
    raw.write(requestHead('POST', '/v1/email/send', { authorization: `Bearer ${world.secret}`, 'content-length': 2 }));
    raw.write('{}');

    expect(await raw.answer()).toMatchObject({ status: 400, body: { error: { reason: 'unsupported_media_type' } } });
    raw.socket.destroy();
  });

  it('refuses a body larger than 14 MiB by its Content-Length, before one byte of it has come', async () => {
    const raw = await openRaw(rest.port);
    const head = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
    raw.write(requestHead('POST', '/v1/email/send', { ...head, 'content-length': 14 * MIB + 1 }));

    const answer = await raw.answer();

    expect(answer).toMatchObject({ status: 400, body: { error: { reason: 'body_too_large' } } });
    expect(answer.headers.get('connection')).toBe('close');
    rateOf(answer, world.clock.now());
    raw.socket.destroy();
  });

  it('tells a client that sends a too large body all the same', async () => {
    const padding = 'x'.repeat(14 * MIB);

    expect(await refused(await send({ html: padding }))).toBe('body_too_large');
  });

  it('refuses a body in chunks once it has grown larger than 14 MiB', async () => {
    const raw = await openRaw(rest.port);
    const head = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
    raw.write(requestHead('POST', '/v1/email/send', { ...head, 'transfer-encoding': 'chunked' }));
    const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 15; sent++) raw.write(chunk);

    expect(await raw.answer()).toMatchObject({ status: 400, body: { error: { reason: 'body_too_large' } } });
    raw.socket.destroy();
  });

  it('takes a body of exactly 14 MiB as far as its size goes', async () => {
    const frame = JSON.stringify({ ...hello, foo: '' });

    const answer = await send({ foo: 'x'.repeat(14 * MIB - frame.length) });

    expect(answer.status).toBe(202);
  });

  it('does not inflate a compressed body', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MIB, ' '));

    const answer = await post(bomb, { headers: { 'content-encoding': 'gzip' } });

    expect(await refused(answer)).toBe('unsupported_media_type');
  });

  it('refuses invalid UTF-8 and puts no replacement character in its place', async () => {
    const [before, after] = JSON.stringify(hello).split('Hi');
    const before_count = await storedMessages();
    for (const bytes of [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]);
      expect(await refused(await post(body))).toBe('malformed_json');
    }
    expect(await storedMessages()).toBe(before_count);
  });

  it('gives up on a body that does not move, answers and closes', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const raw = await openRaw(rest.port);
    const head = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
    raw.write(requestHead('POST', '/v1/email/send', { ...head, 'content-length': 5000 }));
    raw.write('{"from":"');

    await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 1 });
    vi.advanceTimersByTime(10_000);

    expect(await raw.answer()).toMatchObject({ status: 400, body: { error: { reason: 'body_timeout' } } });
    await raw.closed();
  });

  it('answers others at once while many connections hold back their bodies', async () => {
    const head = {
      authorization: `Bearer ${world.secret}`,
      'content-type': 'application/json',
      'content-length': 5000,
    };
    const slow = await Promise.all(Array.from({ length: 100 }, () => openRaw(rest.port)));
    for (const raw of slow) raw.write(`${requestHead('POST', '/v1/email/send', head)}{`);

    expect((await send()).status).toBe(202);

    for (const raw of slow) raw.socket.destroy();
  });

  it('logs nothing as a fault when the sender goes away in the middle of its body', async () => {
    const faults = () => world.logged.filter((line) => Number(line.level) >= 50).length;
    const before = faults();
    const raw = await openRaw(rest.port);
    const head = {
      authorization: `Bearer ${world.secret}`,
      'content-type': 'application/json',
      'content-length': 5000,
    };
    raw.write(`${requestHead('POST', '/v1/email/send', head)}{"from"`);
    raw.socket.resetAndDestroy();
    await raw.closed();

    // Another request on the same server is answered after the first one's end has been noticed.
    expect((await send()).status).toBe(202);
    expect(faults()).toBe(before);
  });

  it('takes BCC for a misspelt bcc, so that no recipient is dropped silently', async () => {
    const answer = await rest.call('POST', '/email/send', { body: { ...hello, BCC: 'x@example.com' } });

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { reason: 'misspelled_field' } });
  });

  it('refuses a header that is given twice in two cases', async () => {
    const headers = { 'List-Unsubscribe': '<mailto:a@example.com>', 'list-unsubscribe': '<mailto:b@example.com>' };

    const answer = await rest.call('POST', '/email/send', { body: { ...hello, headers } });

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { reason: 'invalid_header' } });
  });

  it('refuses deep nesting wherever it stands', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const levels of [33, 5000, 200_000]) {
      for (const field of ['headers', 'foo', 'to']) {
        const body = JSON.stringify(hello).replace(/\}$/, `,"${field}":${deep(levels)}}`);
        expect(await refused(await post(body, keyed(randomUUID())))).toBe('invalid_type');
      }
    }
  });

  it('names at most a hundred mistakes, however many there are', async () => {
    for (const fields of [
      { tags: Array(40_000).fill('') },
      { attachments: Array(40_000).fill(0) },
      { to: Array(40_000).fill(0) },
      { foo: Array(2_000_000).fill(0) },
      { metadata: Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`n${index}`, 0])) },
      { headers: Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`n ${index}`, 'x'])) },
      Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`tag${String.fromCharCode(index + 200)}`, 0])),
      { foo: Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`n${index}`, 0])) },
      { headers: { ['n'.repeat(MIB)]: 'x' } },
      { attachments: [{ filename: 'a', content: '', content_type: `a/b${'; a="'.repeat(2 * MIB)}` }] },
      { subject: '\\"'.repeat(MIB) },
      { metadata: { ['n'.repeat(MIB)]: `\0${'x'.repeat(MIB)}` } },
    ]) {
      const answer = await send(fields);

      await refused(answer);
      expect(answer.text.length).toBeLessThan(30_000);
    }
  });

  it('refuses __proto__ as a name at any depth', async () => {
    const text = JSON.stringify({ ...hello, headers: {}, metadata: {} });
    for (const body of [
      text.replace('{', '{"__proto__":{"bcc":"spy@example.com"},'),
      text.replace('"headers":{', '"headers":{"__proto__":"x"'),
      text.replace('"metadata":{', '"metadata":{"__proto__":{"a":"b"}'),
    ]) {
      expect(await refused(await post(body))).toBe('invalid_type');
    }
    expect((await onlyCopyOf(await send())).envelope_to).toEqual(['ada@example.com']);
  });

  it('lists every required field that is missing', async () => {
    const answer = await post({});

    expect(await refused(answer)).toBe('missing_field');
    expect(detailsOf(answer)).toEqual([
      'from missing_field',
      'to missing_field',
      'subject missing_field',
      'html no_content',
    ]);
  });

  it.each([{}, { html: '' }, { text: '' }, { html: '', text: '' }])(
    'refuses a mail without content: %j',
    async (body) => {
      const { text: _, ...rest_of_it } = hello;

      const answer = await post({ ...rest_of_it, ...body });

      expect(await refused(answer)).toBe('no_content');
      expect(errorOf(answer).message).toMatch(/html.*text/);
    },
  );

  it.each([
    { to: {} },
    { to: null },
    { to: [['a@example.com']] },
    { from: ['a@good.test'] },
    { subject: 5 },
    { subject: null },
    { html: ['x'] },
    { html: { path: '/etc/passwd' } },
    { text: { href: 'http://127.0.0.1' } },
    { text: 1 },
    { cc: 5 },
    { bcc: [null] },
    { reply_to: {} },
    { headers: [] },
    { headers: 'X-A: b' },
    { headers: { 'X-A': 5 } },
    { headers: { 'X-A': ['a', 'b'] } },
    { tags: 'welcome' },
    { tags: [5] },
    { metadata: [] },
    { metadata: { a: 1 } },
    { attachments: {} },
    { attachments: [{ filename: 'a' }] },
    { attachments: [{ filename: 'a', content: 'not base64!' }] },
    { attachments: [{ filename: 'a', path: '/etc/passwd' }] },
    { attachments: [{ filename: 'a', content: { path: '/etc/passwd' } }] },
    { attachments: [{ filename: 'a', content: '', href: 'http://127.0.0.1', content_type: 'text/plain\r\nX-A: b' }] },
    { scheduled_at: 1_900_000_000 },
  ])('refuses a value of the wrong type: %j', async (fields) => {
    const answer = await send(fields);

    expect(['invalid_type', 'missing_field']).toContain(await refused(answer));
    const [field = ''] = Object.keys(fields);
    for (const detail of detailsOf(answer)) expect(detail).toMatch(new RegExp(`^${field}[ [.]`));
  });

  it('counts the addresses of to before duplicates are removed', async () => {
    expect(await refused(await send({ to: [] }))).toBe('missing_field');
    expect(await refused(await send({ to: numbered(51) }))).toBe('too_many_recipients');
    expect(await refused(await send({ to: Array(51).fill('ada@example.com') }))).toBe('too_many_recipients');
  });

  it('names the index of each tag that is wrong', async () => {
    expect(await refused(await send({ tags: ['a', 'b', 'c', 'd', 'e', 'f'] }))).toBe('too_many_tags');
    const answer = await send({ tags: ['ok', 'not ok', '', 'x'.repeat(65), 'é'] });

    expect(detailsOf(answer)).toEqual([1, 2, 3, 4].map((index) => `tags[${index}] invalid_tag`));
  });

  it.each(['\0', '\ud800', '\udc00x'])('refuses %j in any string field', async (bad) => {
    const spots: [Record<string, unknown>, string][] = [
      [{ from: `${bad}a@good.test` }, 'from'],
      [{ to: ['ok@example.com', `${bad}a@example.com`] }, 'to[1]'],
      [{ subject: `a${bad}` }, 'subject'],
      [{ html: `a${bad}` }, 'html'],
      [{ text: `a${bad}` }, 'text'],
      [{ cc: `${bad}a@example.com` }, 'cc'],
      [{ bcc: [`${bad}a@example.com`] }, 'bcc[0]'],
      [{ reply_to: `${bad}a@example.com` }, 'reply_to'],
      [{ headers: { 'X-A': `a${bad}` } }, 'headers.X-A'],
      [{ tags: [`a${bad}`] }, 'tags[0]'],
      [{ metadata: { a: `a${bad}` } }, 'metadata.a'],
      [{ attachments: [{ filename: `a${bad}`, content: '' }] }, 'attachments[0].filename'],
      [{ scheduled_at: `2030-01-01T00:00:00Z${bad}` }, 'scheduled_at'],
      [{ foo: { deep: [`a${bad}`] } }, 'foo.deep[0]'],
    ];
    for (const [fields, param] of spots) {
      const answer = await send(fields);

      expect(await refused(answer)).toBe('invalid_type');
      expect(detailsOf(answer)).toEqual([`${param} invalid_type`]);
    }
    expect(await refused(await send({ metadata: { [`a${bad}`]: 'x' } }))).toBe('invalid_type');
  });

  it.each([
    ['replyTo', 'reply_to'],
    ['scheduledAt', 'scheduled_at'],
    ['form', 'from'],
    ['tag', 'tags'],
    ['attachment', 'attachments'],
  ])('says that %s should be %s', async (name, meant) => {
    const { from, ...rest_of_it } = hello;

    const answer = await post({ ...rest_of_it, ...(meant !== 'from' && { from }), [name]: 'x' });

    expect(await refused(answer)).toBe('misspelled_field');
    expect(errorOf(answer).message).toContain(`did you mean ${meant}?`);
  });

  it('lists misspelt, missing and wrong fields together', async () => {
    const answer = await post({ from: 'x', replyTo: 'a@example.com', subject: 5, headers: { Bcc: 'a@example.com' } });

    expect(detailsOf(answer)).toEqual([
      'replyTo misspelled_field',
      'from invalid_email',
      'to missing_field',
      'subject invalid_type',
      'headers.Bcc reserved_header',
      'html no_content',
    ]);
  });

  it.each([
    'x',
    'a@',
    '@b',
    '',
    ' ',
    'a b@c.test',
    'a@b@c.test',
    'a@localhost',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@[IPv6:::1]',
    '<@r.test:a@b.test>',
    '"a@evil.test x"@good.test',
    'a@good.test, b@evil.test',
    'G: a@good.test, b@evil.test;',
    'a@good.test (comment)',
    'a@good(comment).test',
    'A <a@good.test>, B <b@evil.test>',
    'A <a@good.test> <b@evil.test>',
    'a@good.test\r\nBcc: spy@example.com',
    'A\r\nBcc: spy@example.com <a@good.test>',
    '.a@good.test',
    'a.@good.test',
    'a..b@good.test',
    'a@.good.test',
    'a@good..test',
    'a@-good.test',
    `${'a'.repeat(65)}@good.test`,
    `a@${'b'.repeat(64)}.test`,
    `a@${`${'b'.repeat(49)}.`.repeat(5)}test`,
    'é@good.test',
  ])('refuses the address %j in every field and names its place', async (address) => {
    const answer = await send({
      from: address,
      to: ['ok@example.com', address],
      cc: [address],
      bcc: address,
      reply_to: address,
    });

    expect(await refused(answer)).toBe('invalid_email');
    expect(detailsOf(answer)).toEqual(
      ['from', 'to[1]', 'cc[0]', 'bcc', 'reply_to'].map((param) => `${param} invalid_email`),
    );
  });

  it.each([
    'From',
    'sender',
    'TO',
    'Cc',
    'bcc',
    'BCC',
    'Subject',
    'Date',
    'Message-ID',
    'Return-Path',
    'Received',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
    'MIME-Version',
    'Content-Type',
    'content-transfer-encoding',
    'Content-Anything',
    'Reply-To',
    'Resent-To',
    'Resent-Bcc',
  ])('refuses the header %s, which the service writes itself', async (name) => {
    const answer = await send({ headers: { [name]: 'spy@example.com' } });

    expect(await refused(answer)).toBe('reserved_header');
    expect(detailsOf(answer)).toEqual([`headers.${name} reserved_header`]);
  });

  it.each(['', 'X A', 'X:A', 'X-Ä', 'X\r\nBcc', 'X-A:', `X-${'a'.repeat(75)}`])(
    'refuses the header name %j',
    async (name) => {
      expect(await refused(await send({ headers: { [name]: 'x' } }))).toBe('invalid_header');
    },
  );

  it.each(['a\r\nBcc: spy@example.com', 'a\rb', 'a\nb', 'a\n b', 'a\u0001b'])(
    'refuses the header value %j',
    async (value) => {
      expect(await refused(await send({ headers: { 'X-A': value } }))).toBe('invalid_header');
    },
  );

  it('refuses more than 50 headers and more than 32 kB of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'x']));

    expect(await refused(await send({ headers: many }))).toBe('invalid_header');
    expect(await refused(await send({ headers: { 'X-A': 'x'.repeat(33 * 1024) } }))).toBe('invalid_header');
  });

  it.each(['a\r\nBcc: spy@example.com', 'a\nb', 'a\rb'])('refuses the subject %j', async (subject) => {
    expect(await refused(await send({ subject }))).toBe('invalid_type');
  });

  it.each(['tomorrow', '', '0', '1900000000', '2030-13-01T00:00:00Z', '2030-02-30T00:00:00Z', '2030-01-01T00:00:00'])(
    'refuses the schedule %j',
    async (scheduled_at) => {
      expect(await refused(await send({ scheduled_at }))).toBe('invalid_timestamp');
    },
  );

  it.each(['2030-12-31T23:59:60Z', '2030-01-01T24:00:00Z', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z'])(
    'refuses the schedule %j, which some parsers take',
    async (scheduled_at) => {
      expect(await refused(await send({ scheduled_at }))).toBe('invalid_timestamp');
    },
  );

  it.each(['', 'k'.repeat(256), 'käse', 'tab\tinside'])('refuses the Idempotency-Key %j', async (key) => {
    expect(await refused(await send({}, keyed(key)))).toBe('invalid_idempotency_key');
  });

  it('refuses an Idempotency-Key with a line break', async () => {
    const raw = await openRaw(rest.port);
    const head = requestHead('POST', '/v1/email/send', {
      authorization: `Bearer ${world.secret}`,
      'content-length': 0,
    });
    raw.write(head.replace('host:', 'idempotency-key: a\r\n b\r\nhost:'));

    expect((await raw.answer()).status).toBe(400);
    raw.socket.destroy();
  });

  it('stores nothing and counts no mail for any of these', async () => {
    const [before, used] = [await storedMessages(), await usedMails(world.workspace_id)];

    for (const fields of [{ from: 'x' }, { tags: ['?'] }, { headers: { bcc: 'a@example.com' } }]) await send(fields);

    expect([await storedMessages(), await usedMails(world.workspace_id)]).toEqual([before, used]);
  });
});

describe('401', () => {
  it.each([
    [undefined, 'missing_key'],
    ['', 'malformed_key'],
    ['Bearer', 'malformed_key'],
    ['Bearer ', 'malformed_key'],
    ['Basic YTpi', 'malformed_key'],
    ['Bearer x', 'malformed_key'],
    [`Bearer pr_live_${'0'.repeat(64)}`, 'unknown_key'],
    [`Bearer pr_test_${'0'.repeat(64)}`, 'unknown_key'],
    [`Bearer pr_live_${'A'.repeat(64)}`, 'malformed_key'],
  ])('refuses the header Authorization: %s as %s', async (authorization, reason) => {
    const answer = await rest.call('POST', '/email/send', {
      key: null,
      body: hello,
      headers: authorization === undefined ? {} : { authorization },
    });

    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({ code: 'unauthorized', reason });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="postrider"');
    expect(rateOf(answer, world.clock.now()).limit).toBe(120);
    expect(answer.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
  });

  it('refuses a key with one character changed, one too many, or something beside it', async () => {
    const last = world.secret.endsWith('0') ? '1' : '0';
    for (const key of [
      world.secret.slice(0, -1) + last,
      world.secret.slice(0, -1),
      `${world.secret}0`,
      `${world.secret} x`,
      `${world.secret},${world.secret}`,
      world.secret.toUpperCase(),
    ]) {
      expect((await send({}, { key })).status).toBe(401);
    }
  });

  it('does not look for a key in the query or the body', async () => {
    const path = `/email/send?api_key=${world.secret}&authorization=Bearer%20${world.secret}`;

    const answer = await rest.call('POST', path, { key: null, body: { ...hello, api_key: world.secret } });

    expect(errorOf(answer).reason).toBe('missing_key');
  });

  it('wins over a body, an Idempotency-Key and a media type that are wrong', async () => {
    const key = `pr_live_${'0'.repeat(64)}`;
    const type = { 'content-type': 'text/plain' };

    expect((await post('{', { key })).status).toBe(401);
    expect((await post(hello, { key, headers: type })).status).toBe(401);
    expect((await send({}, { key, ...keyed('') })).status).toBe(401);
    expect((await send({}, { key: null, ...keyed('') })).status).toBe(401);
  });

  it('refuses a revoked key, an expired key and a key from an address that it may not be used from', async () => {
    const revoked = await world.key({ scopes: ['email:send'] });
    const expires_at = new Date(world.clock.now() + 1000).toISOString();
    const expired = await world.key({ scopes: ['email:send'], expires_at });
    const elsewhere = await world.key({ scopes: ['email:send'], allowed_ips: ['192.0.2.0/24', '2001:db8::/32'] });
    const here = await world.key({ scopes: ['email:send'], allowed_ips: ['127.0.0.0/8'] });
    expect((await send({}, { key: revoked.secret })).status).toBe(202);
    expect((await send({}, { key: expired.secret })).status).toBe(202);

    await rest.call('DELETE', `/api-keys/${revoked.id}`);
    await world.clock.advance(1000);

    expect(errorOf(await send({}, { key: revoked.secret })).reason).toBe('revoked_key');
    expect(errorOf(await send({}, { key: expired.secret })).reason).toBe('expired_key');
    expect(errorOf(await send({}, { key: elsewhere.secret })).reason).toBe('address_not_allowed');
    expect((await send({}, { key: here.secret })).status).toBe(202);
  });

  it('follows a revocation on the other process', async () => {
    const key = await world.key({ scopes: ['email:send'] });
    const there = () => other.call('POST', '/email/send', { key: key.secret, body: hello });
    expect((await there()).status).toBe(202);

    await rest.call('DELETE', `/api-keys/${key.id}`);

    expect((await there()).status).toBe(401);
  });
});

describe('403', () => {
  it('asks for the scope email:send, whatever else a key may do', async () => {
    for (const scope of scopes) {
      const { secret } = await world.key({ scopes: [scope] });
      const answer = await send({}, { key: secret });

      if (scope === 'email:send' || scope === 'admin') expect(answer.status).toBe(202);
      else {
        expect(answer.status).toBe(403);
        expect(errorOf(answer)).toMatchObject({ reason: 'missing_scope', required_scope: 'email:send' });
        expect(rateOf(answer, world.clock.now())).toMatchObject({ limit: 1000, remaining: 999 });
      }
    }
  });

  it('wins over a body and an Idempotency-Key that are wrong', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });

    expect((await post('{', { key: secret })).status).toBe(403);
    expect((await post('[]', { key: secret })).status).toBe(403);
    expect((await send({}, { key: secret, ...keyed('') })).status).toBe(403);
  });

  it('holds a key to the domains that it is restricted to', async () => {
    const { secret } = await world.key({ scopes: ['email:send'], domains: ['GOOD.test.'] });

    expect((await send({ from: 'a@good.test' }, { key: secret })).status).toBe(202);
    expect(errorOf(await send({}, { key: secret })).reason).toBe('key_domain_restricted');
  });
});

describe('422', () => {
  const refused = async (answer: Answer): Promise<string> => {
    const error = errorOf(answer);
    expect([answer.status, error.code], answer.text).toEqual([422, 'unprocessable']);
    rateOf(answer, world.clock.now());
    return error.reason;
  };

  it('refuses a domain that is not exactly a verified one of the workspace', async () => {
    const { workspace_id } = await world.workspace('free');
    await world.domain('theirs.test', workspace_id);
    await world.domain('sub.deep.test');
    await world.drain();
    const before = [await storedMessages(), await usedMails(world.workspace_id)];

    for (const domain of [
      'unknown.test',
      'sub.good.test',
      'xgood.test',
      'theirs.test',
      'deep.test',
      'good.test.evil.test',
    ])
      expect(await refused(await send({ from: `a@${domain}` }))).toBe('domain_not_verified');
    expect(await refused(await send({ from: '"a@good.test" <a@unknown.test>' }))).toBe('domain_not_verified');

    expect(await world.drain()).toEqual([]);
    expect([await storedMessages(), await usedMails(world.workspace_id)]).toEqual(before);
  });

  it.each(['pending', 'failed', 'suspended'])('refuses a domain that is %s', async (status) => {
    await world.domain(`${status}.test`);
    await world.services.sql`update domains set status = ${status} where name = ${`${status}.test`}`;

    const answer = await send({ from: `a@${status}.test` });

    expect(await refused(answer)).toBe('domain_not_verified');
    expect(errorOf(answer).message).toContain(status);
  });

  it('refuses the eleventh unique recipient on Free', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('cap.test', workspace_id);
    const eleven = {
      from: 'a@cap.test',
      to: numbered(8),
      cc: ['c@example.com'],
      bcc: ['d@example.com', 'e@example.com'],
    };

    const answer = await send(eleven, { key: secret });

    expect(await refused(answer)).toBe('recipient_cap_exceeded');
    expect(errorOf(answer)).toMatchObject({ limit: 10, recipients: 11 });
    expect(await usedMails(workspace_id)).toBe(0);
  });

  it('refuses a schedule more than 60 s in the past', async () => {
    for (const seconds of [61, 3600]) {
      const scheduled_at = new Date(world.clock.now() - seconds * 1000).toISOString();
      expect(await refused(await send({ scheduled_at }))).toBe('scheduled_in_past');
    }
    expect(await refused(await send({ scheduled_at: '1970-01-01T00:00:00Z' }))).toBe('scheduled_in_past');
    expect(await refused(await send({ scheduled_at: '9999-12-31T23:59:59Z' }))).toBe('scheduled_too_far');
  });

  it('refuses another body under the same Idempotency-Key and keeps the first answer', async () => {
    const first = await send({}, keyed('other-body'));

    expect(await refused(await send({ subject: 'Other' }, keyed('other-body')))).toBe('idempotency_mismatch');
    expect((await send({}, keyed('other-body'))).text).toBe(first.text);
  });

  it('refuses a message whose recipients are all suppressed, and sends to the others of a mixed one', async () => {
    await world.services.sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${world.workspace_id}, derived_id('sup', no_id(), 'test'), 'gone@example.com', 'bounce', clock_now())`;

    expect(await refused(await send({ to: 'gone@EXAMPLE.com' }))).toBe('all_recipients_suppressed');
    const mixed = await send({ to: ['gone@example.com', 'here@example.com'] });

    expect((await onlyCopyOf(mixed)).envelope_to).toEqual(['here@example.com']);
  });

  it('accepts one of twenty that want the last mail of the month, on two processes', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('last.test', workspace_id);
    await leaveMails(workspace_id, 1);

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? rest : other).call('POST', '/email/send', {
          key: secret,
          body: { ...hello, from: 'a@last.test' },
        }),
      ),
    );

    expect(countEach(answers.map((answer) => answer.status))).toEqual(
      new Map([
        [202, 1],
        [422, 19],
      ]),
    );
    const [refusal] = answers.filter((answer) => answer.status === 422);
    if (refusal) expect(errorOf(refusal)).toMatchObject({ reason: 'quota_exceeded', limit: 3000, used: 3000 });
    expect(await usedMails(workspace_id)).toBe(3000);
  });

  it('shares the month between two keys, and counts none of it for a sandbox key or a refusal', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('month.test', workspace_id);
    const from = { from: 'a@month.test' };
    const made = await rest.call('POST', '/api-keys', {
      key: secret,
      body: { name: 'Second', scopes: ['email:send'] },
    });
    const sandbox = { name: 'Sandbox', scopes: ['email:send'], mode: 'sandbox' };
    const tried = await rest.call('POST', '/api-keys', { key: secret, body: sandbox });
    await leaveMails(workspace_id, 2);

    expect(await refused(await send({ ...from, to: numbered(3) }, { key: secret }))).toBe('quota_exceeded');
    expect((await send(from, { key: secret })).status).toBe(202);
    expect((await send(from, { key: String(tried.body.secret) })).status).toBe(202);
    expect((await send(from, { key: String(made.body.secret) })).status).toBe(202);
    expect(await refused(await send(from, { key: secret }))).toBe('quota_exceeded');
    expect((await send(from, { key: String(tried.body.secret) })).status).toBe(202);

    expect(await usedMails(workspace_id)).toBe(3000);
  });
});

describe('429', () => {
  it('accepts the 1,000th request of a minute and refuses the 1,001st', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });
    // A refused body takes its place in the window too, and stores nothing.
    const early = await Promise.all(Array.from({ length: 999 }, () => post('{', { key: secret })));
    expect(countEach(early.map((answer) => answer.status))).toEqual(new Map([[400, 999]]));

    const last = await send({}, { key: secret });
    const late = await send({}, { key: secret });

    expect(last.status).toBe(202);
    expect(rateOf(last, world.clock.now()).remaining).toBe(0);
    expect(errorOf(late)).toMatchObject({ code: 'rate_limited', reason: 'send_rate' });
    expect(rateOf(late, world.clock.now()).remaining).toBe(0);
    expect((await post('{', { key: secret })).status).toBe(429);
  });

  it('passes exactly 1,000 of 1,500 that arrive at once on two processes', async () => {
    const { secret } = await world.key({ scopes: ['email:send'] });

    const answers = await Promise.all(
      Array.from({ length: 1500 }, (_, index) =>
        (index % 2 === 0 ? rest : other).call('POST', '/email/send', { key: secret, body: hello }),
      ),
    );

    expect(countEach(answers.map((answer) => answer.status))).toEqual(
      new Map([
        [202, 1000],
        [429, 500],
      ]),
    );
    for (const answer of answers) rateOf(answer, world.clock.now());
  });

  it('wins over a missing scope and a bad body, and loses to a bad key', async () => {
    const { secret, id } = await world.key({ scopes: ['email:logs:read'] });
    await fillWindow(world, id, 'send', 1000);

    expect((await send({}, { key: secret })).status).toBe(429);
    expect((await send({}, { key: null })).status).toBe(401);
  });

  it('leaves the windows of other keys, other classes and the next minute alone', async () => {
    const { secret, id } = await world.key({ scopes: ['admin'] });
    await fillWindow(world, id, 'send', 1000);

    expect((await send({}, { key: secret })).status).toBe(429);
    expect((await send()).status).toBe(202);
    expect((await rest.call('GET', '/email/logs', { key: secret })).status).toBe(200);
    await world.clock.advance(60_000);
    expect((await send({}, { key: secret })).status).toBe(202);
  });

  it('answers a flood of unknown keys from one address and leaves a valid key untouched', async () => {
    const key = `pr_live_${'0'.repeat(64)}`;

    const answers = await Promise.all(Array.from({ length: 130 }, () => send({}, { key })));

    expect(countEach(answers.map((answer) => answer.status))).toEqual(
      new Map([
        [401, 120],
        [429, 10],
      ]),
    );
    for (const answer of answers.filter(({ status }) => status === 429)) {
      expect(errorOf(answer).reason).toBe('address_rate');
      expect(answer.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
    }
    expect((await send()).status).toBe(202);
  });
});

describe('500', () => {
  it('says no more than that, and carries the rate headers, when the database is gone', async () => {
    const cut = await world.peer();
    await cut.sql.end();
    const lost = await startRest(cut, world.secret);

    const answer = await lost.call('POST', '/email/send', { body: hello });

    expect(answer.status).toBe(500);
    expect(errorOf(answer)).toMatchObject({ code: 'internal_error', reason: 'unexpected' });
    expect(answer.text).not.toMatch(/CONNECTION|select|postgres:|at .*\.ts/i);
    expect(rateOf(answer, world.clock.now())).toMatchObject({ limit: 1000, remaining: 0 });
    await lost.stop();
  });

  it('is never the answer to a JSON value, whatever it is', async () => {
    await world.services.sql`update plans set send_per_minute = 1000000 where name = 'business'`;
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.emailAddress(),
    );
    const anything = fc.oneof({ weight: 3, arbitrary: text }, fc.jsonValue());
    const nearly = fc.record(
      {
        from: fc.oneof(fc.constant('a@good.test'), anything),
        to: fc.oneof(fc.emailAddress(), fc.array(fc.oneof(fc.emailAddress(), text)), anything),
        subject: anything,
        html: anything,
        text: anything,
        cc: fc.oneof(fc.array(fc.emailAddress()), anything),
        bcc: anything,
        reply_to: fc.oneof(fc.emailAddress(), anything),
        headers: fc.oneof(fc.dictionary(text, text), anything),
        tags: fc.oneof(fc.array(text), anything),
        metadata: fc.oneof(fc.dictionary(text, text), anything),
        attachments: fc.oneof(
          fc.array(
            fc.record(
              { filename: anything, content: fc.base64String(), content_type: anything, content_id: anything },
              { requiredKeys: [] },
            ),
          ),
          anything,
        ),
        scheduled_at: fc.oneof(
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          anything,
        ),
      },
      { requiredKeys: [] },
    );
    // Valid but for one field, so that every field's strangest values reach the store.
    const one_off = nearly.chain((fields) =>
      fc.constantFrom(...Object.keys(fields), 'subject').map((name) => ({
        ...hello,
        ...(name in fields && { [name]: Reflect.get(fields, name) }),
      })),
    );

    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          { weight: 1, arbitrary: fc.jsonValue() },
          { weight: 2, arbitrary: nearly },
          { weight: 3, arbitrary: one_off },
        ),
        fc.option(fc.string({ minLength: 1, maxLength: 20 }).filter((key) => /^[!-~]+$/.test(key))),
        async (body, key) => {
          const answer = await post(JSON.stringify(body), key === null ? {} : keyed(key));

          expect([202, 400, 422], answer.text).toContain(answer.status);
          if (answer.status !== 202) errorOf(answer);
        },
      ),
      { numRuns: 400 },
    );

    for (const { data } of await world.drain()) expect(data).toBeDefined();
    const stuck = await world.services.sql`select id from recipients where state in ('queued', 'sending')`;
    expect(stuck).toEqual([]);
  });
});
