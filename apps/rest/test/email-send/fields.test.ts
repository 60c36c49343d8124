import { describe, expect, it } from 'vitest';
import { openRaw, requestHead } from '../raw-http.ts';
import { detailsOf, errorOf } from '../rest-server.ts';
import { headerLines, hello, onlyCopyOf, openSender, post, rest, send, world } from './send-fixture.ts';

openSender();

const entryOf = async (id: unknown) => (await rest.call('GET', `/email/logs/${id}`)).body;
const ignoredBy = (response: { readonly headers: Headers }) => response.headers.get('postrider-ignored-fields');

describe('tags', () => {
  it('can contain any printable text, which is shown and compared unchanged', async () => {
    const tags = ['Frühlings Aktion', 'заказ/оплачен', '注文', '🚀 \u200dlaunch', `"{a,b}"\\ ${'x'.repeat(119)}`];
    const sent = await send({ tags });

    expect(sent.status, sent.text).toBe(202);
    expect((await entryOf(sent.body.id)).tags).toEqual(tags);
    for (const tag of tags) {
      const response = await rest.call('GET', `/email/logs?tag=${encodeURIComponent(tag)}`);
      expect(response.body.data, tag).toMatchObject([{ id: sent.body.id }]);
    }
    expect((await rest.call('GET', `/email/logs?tag=${encodeURIComponent('frühlings aktion')}`)).body.data).toEqual([]);
  });

  it('can be up to 128 characters long, counted in code points', async () => {
    expect((await send({ tags: ['🚀'.repeat(128)] })).status).toBe(202);
    expect(errorOf(await send({ tags: ['🚀'.repeat(129)] })).reason).toBe('invalid_tag');
  });
});

describe('null', () => {
  it('means absent for every optional field (newcomer N11)', async () => {
    const optional = ['cc', 'bcc', 'reply_to', 'headers', 'tags', 'metadata', 'attachments', 'scheduled_at', 'html'];
    const sent = await send(Object.fromEntries(optional.map((name) => [name, null])));

    expect((await onlyCopyOf(sent)).envelope_to).toEqual(['ada@example.com']);
    expect(await entryOf(sent.body.id)).toMatchObject({ cc: [], bcc: [], reply_to: null, tags: [], metadata: {} });
    const { text: _, ...bare } = hello;
    expect((await post({ ...bare, text: null, html: '<p>Hi</p>' })).status).toBe(202);
    expect(errorOf(await post({ ...bare, text: null, html: null })).reason).toBe('no_content');
    const attachment = { filename: 'a.txt', content: 'SGk=', content_type: null, content_id: null };
    expect((await send({ attachments: [attachment] })).status).toBe(202);
  });

  it('is the wrong type for a required field', async () => {
    for (const name of ['from', 'to', 'subject'])
      expect(detailsOf(await send({ [name]: null }))).toEqual([`${name} invalid_type`]);
  });
});

describe('header and metadata values', () => {
  it('can be strings, numbers or booleans, and are sent and shown as text', async () => {
    const values = { 'X-Count': 5, 'X-Rate': -1.5, 'X-On': true, 'X-Off': false, 'X-Text': 'x' };
    const sent = await send({ headers: values, metadata: { count: 5, on: true, text: 'x' } });

    const lines = headerLines(await onlyCopyOf(sent));
    expect(lines).toEqual(
      expect.arrayContaining(['X-Count: 5', 'X-Rate: -1.5', 'X-On: true', 'X-Off: false', 'X-Text: x']),
    );
    expect((await entryOf(sent.body.id)).metadata).toEqual({ count: '5', on: 'true', text: 'x' });
  });

  it.each([null, [], {}, ['a']])('cannot be %j', async (value) => {
    expect(detailsOf(await send({ headers: { 'X-A': value } }))).toEqual(['headers.X-A invalid_type']);
    expect(detailsOf(await send({ metadata: { a: value } }))).toEqual(['metadata.a invalid_type']);
  });

  it.each(['\u001b', '\u007f', '\u0085', '\r', '\n'])(
    'cannot contain a control character such as %j (chaos C6)',
    async (bad) => {
      expect(detailsOf(await send({ subject: `a${bad}b` }))).toEqual(['subject invalid_type']);
      expect(detailsOf(await send({ headers: { 'X-A': `a${bad}b` } }))).toEqual(['headers.X-A invalid_header']);
      expect(detailsOf(await send({ from: `A${bad}b <hello@sandbox.test>` }))).toEqual(['from invalid_email']);
    },
  );

  it('are rejected in List-Unsubscribe if they are not ASCII (chaos C5)', async () => {
    const response = await send({ headers: { 'List-Unsubscribe': '<https://example.com/jörg>' } });

    expect(detailsOf(response)).toEqual(['headers.List-Unsubscribe invalid_header']);
    expect(errorOf(response).message).toContain('List-Unsubscribe');
  });
});

describe('scheduled_at', () => {
  it.each([
    ['extended', (iso: string) => iso],
    ['basic', (iso: string) => iso.replaceAll(/[-:]/g, '')],
    ['with a basic offset', (iso: string) => iso.replace('Z', '+0000')],
    ['with an offset of hours', (iso: string) => iso.replace('Z', '+00')],
    ['without an offset', (iso: string) => iso.replace('Z', '')],
    ['with a comma', (iso: string) => iso.replace('.', ',')],
  ])('is accepted if written %s, and shown in UTC', async (_, text) => {
    const instant = new Date(world.clock.now() + 3_600_000).toISOString();
    const sent = await send({ scheduled_at: text(instant) });

    expect(sent.status, sent.text).toBe(202);
    expect((await entryOf(sent.body.id)).scheduled_at).toBe(instant);
  });

  it("can be beyond its job's retention period", async () => {
    const due = new Date(world.clock.now() + 366 * 86_400_000);
    const sent = await send({ scheduled_at: due.toISOString() });

    const jobs = await world.services.sql<{ start_after: Date; keep_until: Date }[]>`
      select j.start_after, j.keep_until from pgboss.job j join recipients r on r.job_id = j.id
      where r.message_id = ${String(sent.body.id)}`;
    expect(jobs).toHaveLength(1);
    expect(jobs[0]?.start_after).toEqual(due);
    expect(jobs[0]?.keep_until.getTime()).toBeGreaterThan(due.getTime() + 30 * 86_400_000);
  });

  it('returns 422 if it is far in the past, whatever the year', async () => {
    for (const scheduled_at of ['1969-07-20T20:17:40Z', '0001-01-01T00:00:00Z'])
      expect(errorOf(await send({ scheduled_at })).reason).toBe('scheduled_in_past');
    expect(errorOf(await send({ scheduled_at: '9999-12-31T23:59:59Z' })).reason).toBe('scheduled_too_far');
  });
});

describe('an unknown field', () => {
  it('is ignored and listed in a response header (newcomer N2)', async () => {
    const sent = await send({
      foo: 1,
      'ä, b\r\n': 2,
      texts: ['short names are only misspelt by style'],
      attachments: [{ filename: 'a.txt', content: 'SGk=', path: '/etc/passwd' }],
    });

    expect(sent.status).toBe(202);
    expect(ignoredBy(sent)).toBe('foo, %C3%A4%2C%20b%0D%0A, texts, attachments[0].path');
    expect(ignoredBy(await send())).toBeNull();
  });

  it('is also listed in rejections, replays and batches', async () => {
    expect(ignoredBy(await send({ foo: 1, to: [] }))).toBe('foo');
    const keyed = { headers: { 'idempotency-key': 'ignored-1' } };
    await send({ foo: 1 }, keyed);
    const replayed = await send({ foo: 1 }, keyed);
    expect([replayed.headers.get('idempotent-replayed'), ignoredBy(replayed)]).toEqual(['true', 'foo']);
    const messages = [hello, { ...hello, foo: 1 }];
    expect(ignoredBy(await rest.call('POST', '/email/batch', { body: messages }))).toBe('[1].foo');
    expect(ignoredBy(await rest.call('POST', '/email/batch', { body: { messages, more: 1 } }))).toBe(
      'more, messages[1].foo',
    );
  });

  it('is listed along with at most nineteen others', async () => {
    const sent = await send(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`name${index}`, 0])));

    expect(ignoredBy(sent)?.split(', ')).toHaveLength(20);
  });
});

describe('a misplaced field', () => {
  it.each([
    ['dry_run', 'POST /v1/email/send?dry_run=true'],
    ['send_at', 'scheduled_at'],
    ['schedule', 'scheduled_at'],
    ['idempotency_key', 'Idempotency-Key'],
    ['template', 'html or text'],
    ['template_id', 'html or text'],
  ])('is rejected: %s belongs to %s (newcomer N2)', async (name, place) => {
    const response = await send({ [name]: true });

    expect([response.status, detailsOf(response)]).toEqual([400, [`${name} misplaced_field`]]);
    expect(errorOf(response).message).toContain(place);
    const batch = await rest.call('POST', '/email/batch', { body: [hello, { ...hello, [name]: true }] });
    expect(batch.body.data).toMatchObject([{ status: 'queued' }, { error: { reason: 'misplaced_field' } }]);
    const rejected = await rest.call('POST', '/email/batch', { body: { messages: [hello], [name]: true } });
    expect(errorOf(rejected).reason).toBe('misplaced_field');
  });
});

describe('a misspelled field name', () => {
  it('is reported with its path if it is inside an attachment', async () => {
    const response = await send({ attachments: [{ filename: 'a.txt', content: 'SGk=', contentType: 'text/plain' }] });

    expect(detailsOf(response)).toEqual(['attachments[0].contentType misspelled_field']);
    expect(errorOf(response).message).toContain('did you mean attachments[0].content_type?');
  });
});

describe('an error message', () => {
  it('shows the line and column of a JSON syntax error (newcomer N11)', async () => {
    const response = await post('{\n  "from": "a@sandbox.test",\n  "to": [\'ada@example.com\']\n}');

    expect(errorOf(response)).toMatchObject({
      reason: 'malformed_json',
      message: 'The body is not valid JSON: line 3, column 10: names and strings take double quotes.',
    });
  });

  it('shows the unsupported charset (newcomer N11)', async () => {
    const response = await send({}, { headers: { 'content-type': 'application/json; charset=latin1' } });

    expect(errorOf(response)).toMatchObject({
      reason: 'unsupported_media_type',
      message: 'The charset latin1 is not supported. Send JSON in UTF-8.',
    });
  });

  it.each([
    [' hello@sandbox.test', 'the space before or after the address'],
    ['Hello hello@sandbox.test', 'angle brackets'],
  ])('explains why the sender %j is rejected (newcomer N11)', async (from, cause) => {
    expect(errorOf(await send({ from })).message).toContain(cause);
  });

  it('reports non-ASCII letters before the @ as unsupported (real R23)', async () => {
    const response = await send({ to: 'jörg@example.com' });

    expect(detailsOf(response)).toEqual(['to invalid_email']);
    expect(errorOf(response).message).toContain('not supported');
  });

  it.each(['Authorization', 'Content-Type', 'Idempotency-Key'])(
    'identifies a duplicate %s header (chaos C2)',
    async (name) => {
      const body = JSON.stringify(hello);
      const headers = {
        authorization: `Bearer ${world.secret}`,
        'content-type': 'application/json',
        'idempotency-key': 'once',
        'content-length': Buffer.byteLength(body),
      };
      const value = headers[name.toLowerCase() as keyof typeof headers];
      const connection = await openRaw(rest.port);
      connection.write(
        requestHead('POST', '/v1/email/send', headers).replace('\r\n', `\r\n${name}: ${value}\r\n`) + body,
      );

      const response = await connection.answer();

      expect([response.status, errorOf(response).reason]).toEqual([400, 'malformed_request']);
      expect(errorOf(response).message).toContain(name);
      connection.socket.destroy();
    },
  );
});
