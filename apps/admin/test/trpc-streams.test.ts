import { request } from 'node:http';
import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createWebhook, testWebhook } from '@postrider/core/webhooks';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
const open: Stream[] = [];
afterEach(() => {
  for (const stream of open.splice(0)) stream.stop();
});

interface Told {
  readonly id: string | null;
  readonly event: string | null;
  readonly data: Record<string, unknown>;
}

interface Stream {
  readonly told: Told[];
  /** The messages that carry data of the subscription. */
  readonly messages: () => Told[];
  readonly ended: () => boolean;
  stop(): void;
}

/** Subscribes like EventSource. */
async function follow(cookie: string, path: string, input: unknown, lastEventId?: string): Promise<Stream> {
  const told: Told[] = [];
  let ended = false;
  const headers = { cookie, accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) };
  const url = `/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`;
  const asked = request({ host: '127.0.0.1', port: admin.port, path: url, headers, agent: false });
  asked.on('error', () => undefined);
  asked.on('response', (answer) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('error', () => undefined);
    answer.on('close', () => {
      ended = true;
    });
    answer.on('data', (chunk: string) => {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1] ?? null;
        const data = field('data');
        if (data) told.push({ id: field('id'), event: field('event'), data: JSON.parse(data) });
      }
    });
  });
  asked.end();
  const stream = {
    told,
    messages: () => told.filter(({ event, id }) => event === null && id !== null),
    ended: () => ended,
    stop: () => void asked.destroy(),
  };
  open.push(stream);
  // The first line of every stream; from then on no event is missed.
  await expect.poll(() => told.some(({ event }) => event === 'connected') || told.length > 0).toBe(true);
  return stream;
}

/** The reason of the error that ends a stream, or null. */
const refusalOf = ({ told }: Stream) => {
  const [error] = told.filter(({ event }) => event === 'serialized-error');
  return (error?.data.data as { reason: string } | undefined)?.reason ?? null;
};

const send = (subject: string) =>
  invoke(createContext(world.services, { kind: 'system', workspace_id: world.workspace_id }), sendMessage, {
    from: 'shop@sandbox.test',
    to: 'ada@example.com',
    subject,
    text: 'Hi',
  });

describe('a subscription', () => {
  it('tells of each mail once, and resumes behind the last one', async () => {
    const { cookie } = await signedIn(world, admin, 'viewer');
    const stream = await follow(cookie, 'emails.stream', {});
    const subjects = (of: Stream) =>
      of.messages().map(({ data }) => (data as { data: { email: { subject: string } } }).data.email.subject);

    await send('First');
    await expect.poll(() => subjects(stream)).toEqual(['First']);
    stream.stop();
    await send('Meanwhile');
    const again = await follow(cookie, 'emails.stream', {}, stream.messages().at(-1)?.id ?? '');

    // A log that is followed from a cursor begins a little before it.
    await expect.poll(() => subjects(again)).toContain('Meanwhile');
  });

  it('watches one mail, and refuses one of another workspace', async () => {
    const { cookie } = await signedIn(world, admin, 'viewer');
    const other = await signedIn(world, admin, 'admin', (await world.workspace('free')).workspace_id);
    const { id } = await send('Watched');
    await send('Another');
    const stream = await follow(cookie, 'emails.watch', { id });
    const foreign = await follow(other.cookie, 'emails.watch', { id });

    await world.drain();

    await expect.poll(() => stream.messages().map(({ data }) => data.type)).toEqual(['email.delivered']);
    await expect.poll(() => refusalOf(foreign)).toBe('message_not_found');
  });

  it('a subscription to the audit log or to deliveries resumes behind the last entry', async () => {
    const { cookie } = await signedIn(world, admin, 'admin');
    const { id: webhook_id } = await invoke(world.as(world.workspace_id), createWebhook, {
      url: 'http://127.0.0.1:65000/resumed',
    });
    const ids = (of: Stream) => of.messages().map(({ data }) => (data as { id: string }).id);
    for (const path of ['audit.stream', 'deliveries.stream']) {
      const happens = async () => {
        if (path === 'audit.stream') await world.key({ scopes: ['email:send'] });
        else await invoke(world.as(world.workspace_id), testWebhook, { id: webhook_id });
      };
      const input = path === 'deliveries.stream' ? { webhook_id } : {};
      const stream = await follow(cookie, path, input);
      await happens();
      await expect.poll(() => ids(stream).length).toBe(1);
      stream.stop();
      await happens();

      const again = await follow(cookie, path, input, stream.messages().at(-1)?.id ?? '');

      await expect.poll(() => ids(again).some((id) => !ids(stream).includes(id))).toBe(true);
    }
  });

  it('a subscription to a state reports it immediately, and again when it resumes', async () => {
    const { api, cookie } = await signedIn(world, admin, 'operator');
    const { token } = await api.ops.bulkPreview.mutate({ action: 'cancel', filter: { tag: 'none' } });
    const { id } = await api.ops.bulkRun.mutate({ token, reason: 'Followed' });
    for (const [path, input, told] of [
      ['domains.watch', { domain: 'sandbox.test' }, { object: 'domain', name: 'sandbox.test' }],
      ['ops.bulkWatch', { id }, { object: 'bulk_operation', id }],
    ] as const) {
      const stream = await follow(cookie, path, input);
      await expect.poll(() => stream.messages().map(({ data }) => data)).toMatchObject([told]);
      stream.stop();

      const again = await follow(cookie, path, input, stream.messages().at(-1)?.id ?? '');

      await expect.poll(() => again.messages().map(({ data }) => data)).toMatchObject([told]);
    }
  });

  it('needs a session with the scope, and ends with it', async () => {
    const person = await signedIn(world, admin, 'admin');
    const nameless = await follow('sid=none', 'events.stream', {});
    const refused = await follow(person.cookie, 'ops.stream', {});
    const stream = await follow(person.cookie, 'overview.stream', {});
    await expect.poll(() => stream.messages().length).toBe(1);

    await person.api.people.logout.mutate();
    await world.clock.advance(31_000);

    await expect.poll(() => stream.ended()).toBe(true);
    await expect.poll(() => refusalOf(nameless)).toBe('session_ended');
    await expect.poll(() => refusalOf(refused)).toBe('missing_scope');
  });
});

describe('the stream of all that a page follows', () => {
  it('carries several topics over one connection, and resumes each', async () => {
    const { cookie } = await signedIn(world, admin, 'operator');
    const { id: webhook_id } = await invoke(world.as(world.workspace_id), createWebhook, {
      url: 'http://127.0.0.1:65000/hook',
    });
    const topics = { emails: {}, deliveries: { webhook_id }, queues: {}, domain: { domain: 'sandbox.test' } };
    const stream = await follow(cookie, 'live', { topics });
    const named = (of: Stream) => new Set(of.messages().map(({ data }) => data.topic));

    await expect.poll(() => [...named(stream)].toSorted()).toEqual(['domain', 'queues']);
    await invoke(world.as(world.workspace_id), testWebhook, { id: webhook_id });
    const { id } = await send('Followed');

    await expect.poll(() => [...named(stream)].toSorted()).toEqual(['deliveries', 'domain', 'emails', 'queues']);
    stream.stop();
    const { id: later } = await send('Later');
    const again = await follow(cookie, 'live', { topics }, stream.messages().at(-1)?.id ?? '');
    await expect
      .poll(() =>
        again
          .messages()
          .map(({ data }) => (data as { data: { data?: { email?: { id: string } } } }).data.data?.email?.id),
      )
      .toContain(later);
    expect(JSON.stringify(stream.messages())).toContain(id);
  });

  it.each([
    [{ topics: {} }, 'missing_field'],
    [{ topics: { everything: {} } }, 'invalid_type'],
    [{ topics: { domain: { domain: 'absent.example' } } }, 'domain_not_found'],
  ])('refuses %j', async (input, reason) => {
    const { cookie } = await signedIn(world, admin, 'operator');

    const stream = await follow(cookie, 'live', input);

    await expect.poll(() => refusalOf(stream)).toBe(reason);
  });
});
