import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createContentLink } from '@postrider/core/messages';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
const admin = await openAdmin(world);
const graphql = await openGraphql(world);

async function sent(content = '<script>') {
  const { id } = await invoke(world.as(world.workspace_id), sendMessage, {
    from: 'shop@sandbox.test',
    to: 'ada@example.com',
    subject: 'With a file',
    text: 'See it',
    attachments: [
      { filename: 'évil.html', content: Buffer.from(content).toString('base64'), content_type: 'text/html' },
    ],
  });
  return id;
}

const link = (id: string, attachment?: number) =>
  invoke(world.as(world.workspace_id), createContentLink, { id, ...(attachment !== undefined && { attachment }) });

const LINK = `mutation ($id: ID!, $attachment: Int) {
  result: messageContentLink(input: { id: $id, attachment: $attachment }) { ... on ApiError { reason } } }`;

interface ContentLinks {
  readonly content: { readonly attachments: readonly { readonly url: string }[] };
  readonly raw: { readonly sizeBytes: number; readonly url: string; readonly expiresAt: string };
  readonly again: { readonly url: string };
}

const pathOf = (url: string) => new URL(url).pathname;

describe('a content link', () => {
  it('downloads the source once, without a cookie', async () => {
    const id = await sent();

    const { url } = await link(id);
    const looked = await fetch(`http://127.0.0.1:${admin.port}${pathOf(url)}`, { method: 'HEAD' });
    const first = await admin.get(pathOf(url));
    const second = await admin.get(pathOf(url));

    expect(looked.status).toBe(405);
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({ 'content-type': 'message/rfc822', 'cache-control': 'no-store' });
    expect(first.text).toContain('Subject: With a file');
    expect(second.status).toBe(404);
  });

  it('fairness L3: works again after an interrupted download, until one download completes', async () => {
    const bytes = 7 * 1024 * 1024;
    const id = await sent('x'.repeat(bytes));
    const { url } = await link(id, 0);
    const stored = () =>
      world.services.sql<{ expires_at: Date }[]>`select expires_at from content_links where message_id = ${id}`;
    const before = [...(await stored())];

    const broken = request({ host: '127.0.0.1', port: admin.port, path: pathOf(url), agent: false }).end();
    const [response] = (await once(broken, 'response')) as [IncomingMessage];
    const open_count = await stored();
    response.destroy();

    expect(open_count).toHaveLength(0);
    await expect.poll(async () => [...(await stored())]).toEqual(before);
    const full = await admin.get(pathOf(url));
    expect([full.status, full.text.length]).toEqual([200, bytes]);
    expect((await admin.get(pathOf(url))).status).toBe(404);
  });

  it('downloads an attachment as a file that cannot run on this origin', async () => {
    const id = await sent();

    const { url } = await link(id, 0);
    const { headers, text } = await admin.get(pathOf(url));

    expect(text).toBe('<script>');
    expect(headers['content-disposition']).toBe("attachment; filename*=UTF-8''%C3%A9vil.html");
    expect(headers['content-security-policy']).toBe("sandbox; default-src 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('expires after five minutes, and works only for administrators', async () => {
    const id = await sent();
    const reader = await world.key({ scopes: ['email:logs:read'] });

    const { url } = await link(id);
    await world.clock.advance(5 * MINUTE_MS);

    expect((await admin.get(pathOf(url))).status).toBe(404);
    const { errors } = await graphql.ask(LINK, { id }, { key: reader.secret });
    expect(errors).toMatchObject([{ extensions: { requiredScope: 'admin' } }]);
    const { data: missing } = await graphql.ask(LINK, { id, attachment: 1 });
    expect(missing).toMatchObject({ result: { reason: 'content_gone' } });
  });

  it('counts wrong guesses per IP address, but still opens with a valid token', async () => {
    const id = await sent();
    const { url } = await link(id);
    await world.clock.freeze(new Date(Math.floor(world.clock.now() / MINUTE_MS) * MINUTE_MS + 5000));

    const statuses: number[] = [];
    for (let tries = 0; tries < 125 && statuses.at(-1) !== 429; tries++) {
      const guess = tries % 2 === 0 ? 'A'.repeat(43) : 'short';
      statuses.push((await admin.get(`/content/${guess}`)).status);
    }
    const response = await admin.get('/content/short');

    expect(statuses[0]).toBe(404);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.length).toBeLessThanOrEqual(121);
    expect(response.headers).toMatchObject({ 'retry-after': '55', 'cache-control': 'no-store' });
    expect((await admin.get(pathOf(url))).status).toBe(200);
    await world.clock.advance(MINUTE_MS);
    expect((await admin.get('/content/short')).status).toBe(404);
  });

  it('appears in GraphQL for the source and each attachment, created once per message', async () => {
    const id = await sent();
    await world.clock.freeze(new Date(world.clock.now()));

    const { data, errors } = await graphql.ask(
      `query ($id: ID!) { node(id: $id) { ... on Message {
         content { attachments { url } } raw { sizeBytes url expiresAt } again: raw { url } } } }`,
      { id },
    );
    expect(errors).toEqual([]);
    // The shape matches the query. A missing field fails below.
    const { content, raw, again: second } = (data as { node: ContentLinks }).node;
    expect(second.url).toBe(raw.url);
    expect(raw.expiresAt).toBe(new Date(world.clock.now() + 5 * MINUTE_MS).toISOString());

    const source = await admin.get(pathOf(raw.url));
    expect([source.status, source.text.length]).toEqual([200, raw.sizeBytes]);
    expect((await admin.get(pathOf(content.attachments[0]?.url ?? ''))).text).toBe('<script>');
    expect((await admin.get(pathOf(raw.url))).status).toBe(404);
  });
});
