import { describe, expect, it } from 'vitest';
import { countEach } from '../rate-windows.ts';
import { openRaw, requestHead } from '../raw-http.ts';
import { errorOf, rateOf } from '../rest-server.ts';
import {
  copiesOf,
  headerLines,
  hello,
  keyed,
  longestLine,
  MIB,
  numbered,
  onlyCopyOf,
  openSender,
  other,
  post,
  rest,
  send,
  usedEmails,
  world,
} from './send-fixture.ts';

openSender();

describe('a request repeated under its Idempotency-Key (chaos C1)', () => {
  const body = {
    ...hello,
    to: ['ada@example.com'],
    cc: [],
    headers: { 'X-A': '1', 'X-B': '2' },
    metadata: { count: 5 },
    scheduled_at: '2031-01-01T00:00:00+00:00',
  };

  it.each<[string, Record<string, unknown>]>([
    ['its keys in another order', Object.fromEntries(Object.entries(body).toReversed())],
    ['the keys of headers in another order', { ...body, headers: { 'X-B': '2', 'X-A': '1' } }],
    ['a field that is ignored', { ...body, foo: 1 }],
    ['an empty list left out', { ...body, cc: undefined }],
    ['null for an absent field', { ...body, bcc: null }],
    ['one string instead of a list of one', { ...body, to: 'ada@example.com' }],
    ['Z instead of +00:00', { ...body, scheduled_at: '2031-01-01T00:00:00Z' }],
    ['a number as text', { ...body, metadata: { count: '5' } }],
    ['white space', body],
  ])('is treated as the same with %s', async (label, changes) => {
    const scheduled = { scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString().replace('Z', '+00:00') };
    const key = keyed(`same ${label.replace(/[^ -~]/g, '')}`);
    const first = await post({ ...body, ...scheduled }, key);
    const variant = { ...changes, ...scheduled };
    if (label.startsWith('Z')) variant.scheduled_at = scheduled.scheduled_at.replace('+00:00', 'Z');

    const second = await post(JSON.stringify(variant, null, label === 'white space' ? 2 : 0), key);

    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
  });

  it.each<[string, Record<string, unknown>]>([
    ['to in another order', { to: ['b@example.com', 'a@example.com'] }],
    ['another value', { to: ['a@example.com', 'b@example.com'], metadata: { count: 6 } }],
    ['one more field', { to: ['a@example.com', 'b@example.com'], html: '<p>Hi</p>' }],
  ])('is treated as different with %s', async (variant, other_fields) => {
    const key = keyed(`other ${variant}`);
    await send({ to: ['a@example.com', 'b@example.com'], metadata: { count: 5 } }, key);

    expect(errorOf(await send({ metadata: { count: 5 }, ...other_fields }, key)).reason).toBe('idempotency_mismatch');
  });
});

describe('202', () => {
  it('an email is accepted, delivered once and shown as delivered', async () => {
    const sent = await send();

    expect(sent.status).toBe(202);
    expect(sent.body).toEqual({ id: expect.stringMatching(/^msg_/), status: 'queued', created_at: expect.any(String) });
    const copy = await onlyCopyOf(sent);
    expect(copy.envelope_to).toEqual(['ada@example.com']);
    const response = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(response.body).toMatchObject({ status: 'delivered', recipients: [{ attempts: 1, status: 'delivered' }] });
  });

  it('the response has the standard /v1 headers', async () => {
    const sent = await send({}, { headers: { 'x-request-id': 'req_mine' } });

    expect(rateOf(sent, world.clock.now())).toMatchObject({ limit: 1000, remaining: 999 });
    expect(sent.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(sent.headers.get('cache-control')).toBe('no-store');
    expect(sent.headers.get('x-content-type-options')).toBe('nosniff');
    expect(sent.headers.get('ratelimit-policy')).toBe('"send";q=1000;w=60');
    expect(sent.headers.get('ratelimit')).toBe('"send";r=999;t=55');
  });

  it('an unknown field that resembles no known one is ignored', async () => {
    const sent = await send({ foo: 1, status: 'delivered', workspace_id: 'wsp_other', id: 'msg_mine' });

    expect(sent.status).toBe(202);
    expect(sent.body.id).not.toBe('msg_mine');
  });

  it('constructor.prototype is an unknown field, and has no effect on later requests', async () => {
    const sent = await send({ constructor: { prototype: { html: 'polluted', bcc: ['spy@example.com'] } } });

    expect((await onlyCopyOf(sent)).envelope_to).toEqual(['ada@example.com']);
    expect((await onlyCopyOf(await send())).raw.toString()).not.toContain('polluted');
    expect(Object.prototype).not.toHaveProperty('html');
  });

  it('five tags, fifty headers and fifty addresses are accepted', async () => {
    const sent = await send({
      to: numbered(50),
      tags: ['a', 'B', '1', 'a.b:c-d_e', 'x'.repeat(128)],
      headers: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-Number-${index}`, `${index}`])),
    });

    expect(await copiesOf(sent)).toHaveLength(50);
  });

  it('a hundred unique recipients across to, cc and bcc are accepted on the Business plan', async () => {
    const [to, cc, bcc] = [numbered(50), numbered(75).slice(50), numbered(100).slice(75)];

    expect((await send({ to, cc, bcc })).status).toBe(202);
    expect(errorOf(await send({ to, cc, bcc: [...bcc, 'one-more@example.com'] })).reason).toBe(
      'recipient_cap_exceeded',
    );
  });

  it('ten recipients on the Free plan all get the email', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('ten.test', workspace_id);

    const sent = await send({ from: 'a@ten.test', to: numbered(10) }, { key: secret });

    expect(await copiesOf(sent)).toHaveLength(10);
    expect(await usedEmails(workspace_id)).toBe(10);
  });

  it('an address listed several times gets one copy and is counted once', async () => {
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
    expect(await usedEmails(workspace_id)).toBe(1);
  });

  it('recipients in to, cc and bcc get the email, and no copy shows bcc', async () => {
    const sent = await send({ to: 'to@example.com', cc: 'cc@example.com', bcc: ['Blind <bcc@example.com>'] });

    const copies = await copiesOf(sent);
    expect(copies.flatMap((copy) => copy.envelope_to).sort()).toEqual([
      'bcc@example.com',
      'cc@example.com',
      'to@example.com',
    ]);
    for (const copy of copies) expect(copy.raw.toString()).not.toMatch(/bcc@example\.com|^bcc:|Blind/im);
  });

  it('the domain in from is lowercased, and the local part stays unchanged', async () => {
    const copy = await onlyCopyOf(await send({ from: 'A@GOOD.TEST' }));

    expect(headerLines(copy)).toContain('From: A@good.test');
    expect(copy.envelope_from).toMatch(/@good\.test$/);
  });

  it('one trailing dot is removed from each domain', async () => {
    const copy = await onlyCopyOf(await send({ from: 'a@good.test.', to: 'ada@example.com.' }));

    expect(headerLines(copy)).toContain('From: a@good.test');
    expect(headerLines(copy)).toContain('To: ada@example.com');
    expect(copy.envelope_to).toEqual(['ada@example.com']);
  });

  it.each(['bücher.test', 'xn--bcher-kva.test', 'BÜCHER.test'])(
    "a sender at %s uses the domain's A-label",
    async (domain) => {
      await world.services.sql`delete from domains where name = 'xn--bcher-kva.test'`;
      await world.domain('xn--bcher-kva.test');

      const sent = await send({ from: `a@${domain}`, to: 'ada@bücher.example' });

      const lines = headerLines(await onlyCopyOf(sent));
      expect(lines).toContain('From: a@xn--bcher-kva.test');
      expect(lines).toContain('To: ada@xn--bcher-kva.example');
      // The sink's library decodes envelopes. The transcript contains the commands as written.
      const response = await rest.call('GET', `/email/logs/${sent.body.id}`);
      expect(JSON.stringify(response.body.attempts)).toContain('RCPT TO:<ada@xn--bcher-kva.example>');
      expect(JSON.stringify(response.body.attempts)).toMatch(/MAIL FROM:<[^>]*@xn--bcher-kva\.test>/);
    },
  );

  it('a subject of 2,000 characters stays intact across lines of at most 998', async () => {
    for (const subject of ['x'.repeat(2000), 'word '.repeat(400).trim(), '👩‍👩‍👧 שלום '.repeat(150).trim()]) {
      const copy = await onlyCopyOf(await send({ subject }));

      expect(longestLine(copy)).toBeLessThanOrEqual(998);
      expect((await world.smtp.parsed(copy)).subject).toBe(subject);
    }
  });

  it('a 900-character header value without spaces is folded and stays intact', async () => {
    const token = 'a'.repeat(900);

    const copy = await onlyCopyOf(await send({ headers: { 'X-Token': token, References: `<${token}@example.com>` } }));

    expect(longestLine(copy)).toBeLessThanOrEqual(998);
    const { headers } = await world.smtp.parsed(copy);
    expect(headers.get('x-token')).toBe(token);
    expect(headerLines(copy).find((line) => line.startsWith('References:'))).toContain(`<${token}@example.com>`);
  });

  it('list and thread headers are written unchanged', async () => {
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

  it('constructor and toString are ordinary header names', async () => {
    const copy = await onlyCopyOf(await send({ headers: { constructor: 'one', toString: 'two' } }));

    expect(headerLines(copy)).toEqual(expect.arrayContaining(['constructor: one', 'toString: two']));
    expect(headerLines(await onlyCopyOf(await send())).join()).not.toContain('constructor');
  });

  it('any Unicode character is accepted in the subject, names, bodies, metadata and header values', async () => {
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
    const response = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(response.body).toMatchObject({ subject: text, metadata: { [text]: text } });
  });

  it('a body is accepted with a Content-Length, in chunks, with a BOM and with a charset', async () => {
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

  it('a large chunked body without a declared length is accepted', async () => {
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

  it('a message of exactly 10 MiB is accepted', async () => {
    const content = Buffer.alloc(4 * MIB).toString('base64');
    const remaining = { html: 'h'.repeat(6 * MIB - 2), attachments: [{ filename: 'a.bin', content }] };

    expect((await send({ ...remaining, text: 'ok' })).status).toBe(202);
    expect(errorOf(await send({ ...remaining, text: 'ok!' })).reason).toBe('body_too_large');
  });

  it('a time up to 60 s ago means now, and one up to 366 days ahead is accepted', async () => {
    const at = (seconds: number) => new Date(world.clock.now() + seconds * 1000).toISOString();

    for (const scheduled_at of [at(-60), at(-10)]) await onlyCopyOf(await send({ scheduled_at }));
    const ahead = await send({ scheduled_at: at(366 * 86_400) });

    expect(ahead.body.status).toBe('queued');
    expect(await copiesOf(ahead)).toEqual([]);
    expect(errorOf(await send({ scheduled_at: at(366 * 86_400 + 1) })).reason).toBe('scheduled_too_far');
  });

  it.each(['+02:00', '-11:30', '+14:00'])('the UTC offset %s is accepted', async (offset) => {
    const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(offset) ?? [];
    const shift_ms = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1);
    const instant = new Date(world.clock.now() + 3_600_000);
    const local = new Date(instant.getTime() + shift_ms).toISOString().replace('Z', offset);

    const sent = await send({ scheduled_at: local });

    expect((await rest.call('GET', `/email/logs/${sent.body.id}`)).body.scheduled_at).toBe(instant.toISOString());
  });

  describe('a request with an Idempotency-Key', () => {
    it('gets a byte-identical response when repeated, and sends one copy', async () => {
      const first = await send({}, keyed('repeat'));
      const second = await send({}, keyed('repeat'));

      expect(second.status).toBe(202);
      expect(second.text).toBe(first.text);
      expect(first.headers.has('idempotent-replayed')).toBe(false);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      await onlyCopyOf(second);
    });

    it('creates one message for fifty concurrent duplicates on two processes', async () => {
      const servers = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? rest : other));

      const responses = await Promise.all(
        servers.map((server) => server.call('POST', '/email/send', { body: hello, ...keyed('duplicates') })),
      );

      expect(countEach(responses.map((response) => response.status))).toEqual(new Map([[202, 50]]));
      expect(new Set(responses.map((response) => response.text)).size).toBe(1);
      expect(responses.filter((response) => !response.headers.has('idempotent-replayed'))).toHaveLength(1);
      for (const response of responses.slice(0, 1)) await onlyCopyOf(response);
    });

    it('is independent of the same key in another workspace', async () => {
      const { secret, workspace_id } = await world.workspace('free');
      await world.domain('apart.test', workspace_id);

      const own = await send({ from: 'a@good.test' }, keyed('shared'));
      const theirs = await send({ from: 'a@apart.test' }, { key: secret, ...keyed('shared') });

      expect([own.status, theirs.status]).toEqual([202, 202]);
      expect(own.body.id).not.toBe(theirs.body.id);
    });

    it('can reuse the key of a rejected request', async () => {
      expect((await send({ from: 'a@nobody.test' }, keyed('fresh'))).status).toBe(422);
      expect((await send({ to: [] }, keyed('fresh'))).status).toBe(400);

      expect((await send({}, keyed('fresh'))).status).toBe(202);
    });

    it('creates a new message after 24 hours', async () => {
      const first = await send({}, keyed('day'));
      await world.clock.advance(86_400_000);

      const second = await send({}, keyed('day'));

      expect(second.headers.has('idempotent-replayed')).toBe(false);
      expect(second.body.id).not.toBe(first.body.id);
    });

    it('can have a key of 255 characters', async () => {
      expect((await send({}, keyed('k'.repeat(255)))).status).toBe(202);
    });
  });
});
