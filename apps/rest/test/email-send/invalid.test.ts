import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { openRaw, requestHead } from '../raw-http.ts';
import { type ApiResponse, detailsOf, errorOf, rateOf } from '../rest-server.ts';
import {
  hello,
  keyed,
  MIB,
  numbered,
  onlyCopyOf,
  openSender,
  post,
  rest,
  send,
  storedMessages,
  usedEmails,
  world,
} from './send-fixture.ts';

openSender();

describe('400', () => {
  const reasonOf = async (response: ApiResponse): Promise<string> => {
    const error = errorOf(response);
    expect([response.status, error.code], response.text).toEqual([400, 'invalid_request']);
    rateOf(response, world.clock.now());
    return error.reason;
  };

  it.each(['{"from":', '', 'nonsense', '{"a":1}{"b":2}', "{'a':1}", '{"a":1,}', 'NaN'])(
    'the body %j is rejected because it is not JSON',
    async (body) => {
      expect(['malformed_json', 'missing_field']).toContain(await reasonOf(await post(body)));
    },
  );

  it.each(['null', '[]', '"x"', '42', 'true', '[{}]'])(
    'the body %s is rejected because it is not an object',
    async (body) => {
      const response = await post(body);

      expect(await reasonOf(response)).toBe('invalid_type');
      expect(errorOf(response).message).toBe('The body must be an object.');
    },
  );

  it('a missing body is rejected', async () => {
    const response = await rest.call('POST', '/email/send');

    expect(await reasonOf(response)).toBe('missing_field');
    expect(errorOf(response).message).toBe('The body is required; add it.');
  });

  it.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=utf-16',
    '',
  ])('the media type %j is rejected', async (type) => {
    expect(await reasonOf(await post(hello, { headers: { 'content-type': type } }))).toBe('unsupported_media_type');
  });

  it('a body without a media type is rejected', async () => {
    const raw = await openRaw(rest.port);
    raw.write(requestHead('POST', '/v1/email/send', { authorization: `Bearer ${world.secret}`, 'content-length': 2 }));
    raw.write('{}');

    expect(await raw.answer()).toMatchObject({ status: 400, body: { error: { reason: 'unsupported_media_type' } } });
    raw.socket.destroy();
  });

  it('a body over 14 MiB is rejected by its Content-Length, before any of the body arrives', async () => {
    const raw = await openRaw(rest.port);
    const head = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
    raw.write(requestHead('POST', '/v1/email/send', { ...head, 'content-length': 14 * MIB + 1 }));

    const response = await raw.answer();

    expect(response).toMatchObject({ status: 400, body: { error: { reason: 'body_too_large' } } });
    expect(response.headers.get('connection')).toBe('close');
    rateOf(response, world.clock.now());
    raw.socket.destroy();
  });

  it('a client that sends an oversized body anyway still receives the response', async () => {
    const padding = 'x'.repeat(14 * MIB);

    expect(await reasonOf(await send({ html: padding }))).toBe('body_too_large');
  });

  it('a chunked body is rejected once it exceeds 14 MiB', async () => {
    const raw = await openRaw(rest.port);
    const head = { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' };
    raw.write(requestHead('POST', '/v1/email/send', { ...head, 'transfer-encoding': 'chunked' }));
    const chunk = `100000\r\n${'x'.repeat(MIB)}\r\n`;
    for (let sent = 0; sent < 15; sent++) raw.write(chunk);

    expect(await raw.answer()).toMatchObject({ status: 400, body: { error: { reason: 'body_too_large' } } });
    raw.socket.destroy();
  });

  it('a body of exactly 14 MiB passes the size check', async () => {
    const frame = JSON.stringify({ ...hello, foo: '' });

    const response = await send({ foo: 'x'.repeat(14 * MIB - frame.length) });

    expect(response.status).toBe(202);
  });

  it('a compressed body is rejected without being inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * MIB, ' '));

    const response = await post(bomb, { headers: { 'content-encoding': 'gzip' } });

    expect(await reasonOf(response)).toBe('unsupported_media_type');
  });

  it('invalid UTF-8 is rejected instead of being replaced', async () => {
    const [before, after] = JSON.stringify(hello).split('Hi');
    const before_count = await storedMessages();
    for (const bytes of [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')]);
      expect(await reasonOf(await post(body))).toBe('malformed_json');
    }
    expect(await storedMessages()).toBe(before_count);
  });

  it('a stalled body gets a response and its connection is closed', async () => {
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

  it('other requests get immediate responses while many connections withhold their bodies', async () => {
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

  it('a client that disconnects in the middle of a body is not logged as a server error', async () => {
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

    // By the time another request on the same server gets its response, the server has noticed that the first one was
    // aborted.
    expect((await send()).status).toBe(202);
    expect(faults()).toBe(before);
  });

  it('BCC is rejected as a misspelled bcc, so no recipient is silently dropped', async () => {
    const response = await rest.call('POST', '/email/send', { body: { ...hello, BCC: 'x@example.com' } });

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: { reason: 'misspelled_field' } });
  });

  it('a header repeated in a different case is rejected', async () => {
    const headers = { 'List-Unsubscribe': '<mailto:a@example.com>', 'list-unsubscribe': '<mailto:b@example.com>' };

    const response = await rest.call('POST', '/email/send', { body: { ...hello, headers } });

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ error: { reason: 'invalid_header' } });
  });

  it('excessive nesting is rejected anywhere in the body', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const levels of [33, 5000, 200_000]) {
      for (const field of ['headers', 'foo', 'to']) {
        const body = JSON.stringify(hello).replace(/\}$/, `,"${field}":${deep(levels)}}`);
        expect(await reasonOf(await post(body, keyed(randomUUID())))).toBe('invalid_type');
      }
    }
  });

  it('a response lists at most 100 errors', async () => {
    for (const fields of [
      { tags: Array(40_000).fill('') },
      { attachments: Array(40_000).fill(0) },
      { to: Array(40_000).fill(0) },
      { foo: Array(2_000_000).fill(0) },
      { metadata: Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`n${index}`, {}])) },
      { headers: Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`n ${index}`, 'x'])) },
      Object.fromEntries(
        Array.from({ length: 40_000 }, (_, index) => [`metadata${String.fromCharCode(index + 200)}`, 0]),
      ),
      { foo: Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`n${index}`, 0])) },
      { headers: { ['n'.repeat(MIB)]: 'x' } },
      { attachments: [{ filename: 'a', content: '', content_type: `a/b${'; a="'.repeat(2 * MIB)}` }] },
      { subject: '\\"'.repeat(MIB) },
      { metadata: { ['n'.repeat(MIB)]: `\0${'x'.repeat(MIB)}` } },
    ]) {
      const response = await send(fields);

      await reasonOf(response);
      expect(response.text.length).toBeLessThan(30_000);
    }
  });

  it('__proto__ is rejected as a name at any depth', async () => {
    const text = JSON.stringify({ ...hello, headers: {}, metadata: {} });
    for (const body of [
      text.replace('{', '{"__proto__":{"bcc":"spy@example.com"},'),
      text.replace('"headers":{', '"headers":{"__proto__":"x"'),
      text.replace('"metadata":{', '"metadata":{"__proto__":{"a":"b"}'),
    ]) {
      expect(await reasonOf(await post(body))).toBe('invalid_type');
    }
    expect((await onlyCopyOf(await send())).envelope_to).toEqual(['ada@example.com']);
  });

  it('every missing required field is listed', async () => {
    const response = await post({});

    expect(await reasonOf(response)).toBe('missing_field');
    expect(detailsOf(response)).toEqual([
      'from missing_field',
      'to missing_field',
      'subject missing_field',
      'html no_content',
    ]);
  });

  it.each([{}, { html: '' }, { text: '' }, { html: '', text: '' }])(
    'an email without content is rejected: %j',
    async (body) => {
      const { text: _, ...remaining } = hello;

      const response = await post({ ...remaining, ...body });

      expect(await reasonOf(response)).toBe('no_content');
      expect(errorOf(response).message).toMatch(/html.*text/);
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
    { headers: { 'X-A': null } },
    { headers: { 'X-A': {} } },
    { headers: { 'X-A': ['a', 'b'] } },
    { tags: 'welcome' },
    { tags: [5] },
    { metadata: [] },
    { metadata: { a: [1] } },
    { attachments: {} },
    { attachments: [{ filename: 'a' }] },
    { attachments: [{ filename: 'a', content: 'not base64!' }] },
    { attachments: [{ filename: 'a', path: '/etc/passwd' }] },
    { attachments: [{ filename: 'a', content: { path: '/etc/passwd' } }] },
    { attachments: [{ filename: 'a', content: '', href: 'http://127.0.0.1', content_type: 'text/plain\r\nX-A: b' }] },
    { scheduled_at: 1_900_000_000 },
  ])('a value of the wrong type is rejected: %j', async (fields) => {
    const response = await send(fields);

    expect(['invalid_type', 'missing_field']).toContain(await reasonOf(response));
    const [field = ''] = Object.keys(fields);
    for (const detail of detailsOf(response)) expect(detail).toMatch(new RegExp(`^${field}[ [.]`));
  });

  it('addresses in to are counted before duplicates are removed', async () => {
    expect(await reasonOf(await send({ to: [] }))).toBe('missing_field');
    expect(await reasonOf(await send({ to: numbered(51) }))).toBe('too_many_recipients');
    expect(await reasonOf(await send({ to: Array(51).fill('ada@example.com') }))).toBe('too_many_recipients');
  });

  it('each invalid tag is reported with its index', async () => {
    expect(await reasonOf(await send({ tags: ['a', 'b', 'c', 'd', 'e', 'f'] }))).toBe('too_many_tags');
    const response = await send({ tags: ['ok', 'not\nok', '', 'x'.repeat(129), 'a\tb'] });

    expect(detailsOf(response)).toEqual([1, 2, 3, 4].map((index) => `tags[${index}] invalid_tag`));
  });

  it.each(['\0', '\ud800', '\udc00x'])('the value %j is rejected in any string field', async (bad) => {
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
      const response = await send(fields);

      expect(await reasonOf(response)).toBe('invalid_type');
      expect(detailsOf(response)).toEqual([`${param} invalid_type`]);
    }
    expect(await reasonOf(await send({ metadata: { [`a${bad}`]: 'x' } }))).toBe('invalid_type');
  });

  it.each([
    ['replyTo', 'reply_to'],
    ['scheduledAt', 'scheduled_at'],
    ['From', 'from'],
    ['tag', 'tags'],
    ['attachment', 'attachments'],
  ])('the misspelled field %s is rejected with the suggestion %s', async (name, suggestion) => {
    const { from, ...remaining } = hello;

    const response = await post({ ...remaining, ...(suggestion !== 'from' && { from }), [name]: 'x' });

    expect(await reasonOf(response)).toBe('misspelled_field');
    expect(errorOf(response).message).toContain(`did you mean ${suggestion}?`);
  });

  it('misspelled, missing and invalid fields are listed together', async () => {
    const response = await post({ from: 'x', replyTo: 'a@example.com', subject: 5, headers: { Bcc: 'a@example.com' } });

    expect(detailsOf(response)).toEqual([
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
  ])('the address %j is rejected in every field, and its position is reported', async (address) => {
    const response = await send({
      from: address,
      to: ['ok@example.com', address],
      cc: [address],
      bcc: address,
      reply_to: address,
    });

    expect(await reasonOf(response)).toBe('invalid_email');
    expect(detailsOf(response)).toEqual(
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
  ])('the header %s is rejected because the service sets it', async (name) => {
    const response = await send({ headers: { [name]: 'spy@example.com' } });

    expect(await reasonOf(response)).toBe('reserved_header');
    expect(detailsOf(response)).toEqual([`headers.${name} reserved_header`]);
  });

  it.each(['', 'X A', 'X:A', 'X-Ä', 'X\r\nBcc', 'X-A:', `X-${'a'.repeat(75)}`])(
    'the header name %j is rejected',
    async (name) => {
      expect(await reasonOf(await send({ headers: { [name]: 'x' } }))).toBe('invalid_header');
    },
  );

  it.each(['a\r\nBcc: spy@example.com', 'a\rb', 'a\nb', 'a\n b', 'a\u0001b'])(
    'the header value %j is rejected',
    async (value) => {
      expect(await reasonOf(await send({ headers: { 'X-A': value } }))).toBe('invalid_header');
    },
  );

  it('more than 50 headers, or headers longer than 32 kB in total, are rejected', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'x']));

    expect(await reasonOf(await send({ headers: many }))).toBe('invalid_header');
    expect(await reasonOf(await send({ headers: { 'X-A': 'x'.repeat(33 * 1024) } }))).toBe('invalid_header');
  });

  it.each(['a\r\nBcc: spy@example.com', 'a\nb', 'a\rb'])('the subject %j is rejected', async (subject) => {
    expect(await reasonOf(await send({ subject }))).toBe('invalid_type');
  });

  it.each(['tomorrow', '', '0', '1900000000', '2030-13-01T00:00:00Z', '2030-02-30T00:00:00Z', '2030-01-01'])(
    'the scheduled time %j is rejected',
    async (scheduled_at) => {
      expect(await reasonOf(await send({ scheduled_at }))).toBe('invalid_timestamp');
    },
  );

  it.each(['2030-12-31T23:59:60Z', '2030-01-01T24:00:00Z', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z'])(
    'the scheduled time %j is rejected, although some parsers accept it',
    async (scheduled_at) => {
      expect(await reasonOf(await send({ scheduled_at }))).toBe('invalid_timestamp');
    },
  );

  it.each(['', 'k'.repeat(256), 'käse', 'tab\tinside'])('the Idempotency-Key %j is rejected', async (key) => {
    expect(await reasonOf(await send({}, keyed(key)))).toBe('invalid_idempotency_key');
  });

  it('an Idempotency-Key with a line break is rejected', async () => {
    const raw = await openRaw(rest.port);
    const head = requestHead('POST', '/v1/email/send', {
      authorization: `Bearer ${world.secret}`,
      'content-length': 0,
    });
    raw.write(head.replace('host:', 'idempotency-key: a\r\n b\r\nhost:'));

    expect((await raw.answer()).status).toBe(400);
    raw.socket.destroy();
  });

  it('no invalid request causes an email to be stored or counted', async () => {
    const [before, used] = [await storedMessages(), await usedEmails(world.workspace_id)];

    for (const fields of [{ from: 'x' }, { tags: [''] }, { headers: { bcc: 'a@example.com' } }]) await send(fields);

    expect([await storedMessages(), await usedEmails(world.workspace_id)]).toEqual([before, used]);
  });
});
