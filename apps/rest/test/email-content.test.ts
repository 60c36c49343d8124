import { invoke, newId } from '@postrider/core';
import { scopes } from '@postrider/core/api-keys';
import { previewBulk, runBulk, workOff } from '@postrider/core/bulk';
import type { ReceivedMessage } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beforeSigning } from './before-signing.ts';
import { errorOf, openRest, rateOf } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

beforeAll(async () => {
  await world.domain('good.test');
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
  await world.services.sql`update plans set default_per_minute = 100000`;
});
beforeEach(() => world.clock.advance(60_000));

async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const body = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const response = await rest.call('POST', '/email/send', { body });
  expect(response.status, response.text).toBe(202);
  return String(response.body.id);
}

const content = (id: string, key: string | null = world.secret) => rest.call('GET', `/email/${id}/content`, { key });

async function copyOf(id: string): Promise<ReceivedMessage> {
  await world.drain();
  const [copy, ...remaining] = world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));
  if (!copy || remaining.length > 0) throw new Error(`${remaining.length + (copy ? 1 : 0)} copies arrived`);
  return copy;
}

/** Returns the bodies of a received message as its reader sees them. A message's text ends with a line break. */
async function readBodies(mail: ReceivedMessage): Promise<{ text: string; html: string | false }> {
  const parsed = await world.smtp.parsed(mail);
  const trimmed = (body: string) => body.replace(/\n$/, '');
  return { text: trimmed(parsed.text ?? ''), html: parsed.html === false ? false : trimmed(parsed.html) };
}

describe('200', () => {
  it("the response shows an email's content, and its MIME source exactly as signed and sent", async () => {
    const id = await send({
      html: '<p>Grüße 👋</p>',
      text: 'Grüße 👋',
      headers: { 'X-Order': '7' },
      bcc: 'eve@example.com',
    });

    const response = await content(id);

    expect(response.body).toEqual({
      object: 'email_content',
      id,
      html: '<p>Grüße 👋</p>',
      text: 'Grüße 👋',
      headers: { 'X-Order': '7' },
      attachments: [],
      raw: expect.stringContaining(`Message-ID: <${id}@good.test>\r\n`),
    });
    expect(response.body.raw).not.toContain('eve@example.com');
    expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 100_000 });
    await world.drain();
    const copies = world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`));
    expect(copies.map((mail) => beforeSigning(mail.raw))).toEqual([response.body.raw, response.body.raw]);
  });

  it('missing fields are null, even if the email carries text generated from HTML', async () => {
    const id = await send({ html: '<p>Hello</p>', text: undefined });

    const { body } = await content(id);

    expect(body).toMatchObject({ html: '<p>Hello</p>', text: null, headers: {} });
    expect(body.raw).toContain('text/plain');
    expect((await content(await send())).body).toMatchObject({ html: null, text: 'Hi' });
  });

  it('the content is the same before and after delivery', async () => {
    const id = await send({ attachments: [{ filename: 'a.bin', content: Buffer.alloc(3000, 7).toString('base64') }] });
    const before = await content(id);
    await world.clock.advance(3_600_000);
    await world.drain();

    expect((await content(id)).text).toBe(before.text);
  });
});

describe('a body in transit', () => {
  it.each(['.', '..', '.\n.', 'a\n.\nb', '\r\n.\r\n', 'line\r\n.\r\n..\r\n...end', '.\r\n.\r\nQUIT\r\n'])(
    'preserves the text %j in a single email',
    async (text) => {
      const copy = await copyOf(await send({ text }));

      const { text: read } = await readBodies(copy);
      const lines = (body: string) => body.replaceAll('\r\n', '\n').replace(/\n+$/, '');
      expect(lines(read)).toBe(lines(text));
    },
  );

  it.each(['👩‍👩‍👧‍👦 family', 'שלום עולם', '\u202eabc', 'é'.repeat(300), '=?utf-8?q?fake?=', 'a  b   c'])(
    'preserves the subject %j',
    async (subject) => {
      const copy = await copyOf(await send({ subject }));

      expect((await world.smtp.parsed(copy)).subject).toBe(subject);
    },
  );

  it('has text before HTML in a multipart/alternative part', async () => {
    const copy = await copyOf(await send({ html: '<p>rich</p>', text: 'plain' }));
    const raw = copy.raw.toString();

    expect(raw).toMatch(/^Content-Type: multipart\/alternative;/m);
    expect(raw.indexOf('text/plain')).toBeGreaterThan(0);
    expect(raw.indexOf('text/plain')).toBeLessThan(raw.indexOf('text/html'));
    expect(await readBodies(copy)).toEqual({ text: 'plain', html: '<p>rich</p>' });
  });

  it('arrives intact when it is 5 MB of HTML on one line, although no line sent exceeds 998 characters', async () => {
    const html = `<p>${'x'.repeat(5_000_000)}</p>`;
    const copy = await copyOf(await send({ html, text: 'short' }));

    const longest = Math.max(
      ...copy.raw
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.length),
    );
    expect(longest).toBeLessThanOrEqual(998);
    expect((await readBodies(copy)).html).toBe(html);
  });

  it('arrives unchanged, regardless of its characters', async () => {
    // Line endings belong to the transport: a lone CR or LF is not a character in a message's text.
    const body = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 400 })
      .map((text) => text.replaceAll(/[\r\n\0]/g, ' ').trim())
      .filter((text) => text !== '');
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        expect((await readBodies(await copyOf(await send({ text })))).text).toBe(text);
      }),
      { numRuns: 30 },
    );
  });
});

describe('400', () => {
  it.each([{ html: { path: '/etc/passwd' } }, { text: { href: 'http://127.0.0.1' } }, { html: ['x'] }])(
    'a request to send %j is rejected, and nothing is sent',
    async (fields) => {
      const messages = world.smtp.messages.length;
      const response = await rest.call('POST', '/email/send', {
        body: { from: 'hello@good.test', to: 'ada@example.com', subject: 'x', text: 'x', ...fields },
      });
      await world.drain();

      expect([response.status, errorOf(response).reason]).toEqual([400, 'invalid_type']);
      expect(world.smtp.messages.length).toBe(messages);
    },
  );
});

describe('403', () => {
  it('the admin scope is required, because a body may be confidential', async () => {
    const id = await send({ text: 'a secret of 4711' });
    for (const scope of scopes.filter((one) => one !== 'admin')) {
      const { secret } = await world.key({ scopes: [scope] });
      const response = await content(id, secret);

      expect([response.status, errorOf(response).required_scope]).toEqual([403, 'admin']);
      expect(response.text).not.toContain('4711');
    }
  });
});

describe('404', () => {
  it('a message in another workspace looks nonexistent', async () => {
    const id = await send();
    const { secret } = await world.workspace('free');

    const responses = await Promise.all([newId('message', world.clock.now()), id].map((one) => content(one, secret)));

    const [absent, foreign] = responses.map(({ status, text }) => [
      status,
      text.replaceAll(/(msg|req)_[0-9a-z]{26}/g, '$1'),
    ]);
    expect(absent?.[0]).toBe(404);
    expect(foreign).toEqual(absent);
  });

  it('deleted content is reported as deleted, while the log entry remains', async () => {
    const id = await send({ tags: ['deleted'] });
    await world.drain();
    await world.clock.advance(1000);
    const ctx = world.as(world.workspace_id);
    const { token } = await invoke(ctx, previewBulk, { action: 'delete', filter: { tag: 'deleted' } });
    await invoke(ctx, runBulk, { token, reason: 'as asked' });
    for (const job of await world.services.jobs.fetch('bulk.run', 1)) await workOff(world.services, job.data);

    const responses = [await content(id), await rest.call('POST', `/email/${id}/resend`)];

    expect(responses.map((response) => errorOf(response).reason)).toEqual(['content_gone', 'content_gone']);
    expect(responses.map((response) => response.status)).toEqual([404, 404]);
    expect((await rest.call('GET', `/email/logs/${id}`)).body).toMatchObject({ id, status: 'delivered' });
  });
});
