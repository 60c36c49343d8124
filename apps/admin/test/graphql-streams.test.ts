import { type IncomingMessage, request } from 'node:http';
import { createContext, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { revokeKey } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
const graphql = await openGraphql(world);
const open: Stream[] = [];
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.stop();
});

interface StreamChunk {
  readonly data?: { readonly events: { cursor: string; node: { id: string; type: string; message: { id: string } } } };
  readonly errors?: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
}

interface Stream {
  readonly answers: StreamChunk[];
  /** The comments that keep the connection open between events. */
  readonly comments: string[];
  readonly ended: () => boolean;
  stop(): Promise<void>;
}

const json = { 'content-type': 'application/json' };
const query = `subscription ($after: String, $types: [String!]) {
  events(after: $after, filter: { types: $types }) { cursor node { id type message { id subject } data } }
}`;

async function follow(variables: Record<string, unknown> = {}, key = world.secret): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = request(graphql.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
    agent: false,
  });
  outgoing.on('response', resolve);
  outgoing.on('error', reject);
  outgoing.end(JSON.stringify({ query, variables }));
  const response = await promise;
  const responses: StreamChunk[] = [];
  const comments: string[] = [];
  let is_ended = false;
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      if (part.startsWith(':')) comments.push(part);
      const data = /^data: (.+)$/m.exec(part)?.[1];
      if (data) responses.push(JSON.parse(data) as StreamChunk);
    }
  });
  // Aborting the request causes the response to emit an error.
  response.on('error', () => undefined);
  outgoing.on('error', () => undefined);
  const closed = new Promise<void>((done) => {
    response.on('close', () => {
      is_ended = true;
      done();
    });
  });
  const stream: Stream = {
    answers: responses,
    comments,
    ended: () => is_ended,
    async stop() {
      response.destroy();
      await closed;
    },
  };
  open.push(stream);
  return stream;
}

async function send(): Promise<string> {
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' };
  return (await invoke(ctx, sendMessage, mail)).id;
}

const idsOf = (stream: Stream) => stream.answers.flatMap(({ data }) => (data ? [data.events.node.message.id] : []));

describe('an event stream', () => {
  it('delivers events as they happen, and sends comments to keep its connection open', async () => {
    const stream = await follow();

    const id = await send();

    await vi.waitFor(() => expect(idsOf(stream)).toEqual([id]), 30_000);
    expect(stream.answers[0]?.data?.events.node).toMatchObject({
      type: 'email.queued',
      message: { id, subject: 'Hi' },
      data: { email: { id } },
    });
    await vi.waitFor(() => expect(stream.comments.length).toBeGreaterThan(0), 30_000);
  });

  it('reports the supported media type if the client does not accept it (newcomer N18)', async () => {
    const response = await fetch(graphql.url, {
      method: 'POST',
      headers: { ...json, accept: 'application/json', authorization: `Bearer ${world.secret}` },
      body: JSON.stringify({ query, variables: {} }),
    });

    expect(response.status).toBe(406);
    expect(await response.json()).toMatchObject({
      errors: [{ message: expect.stringMatching(/^Send Accept: text\/event-stream for a subscription/) }],
    });
  });

  it('resumes from a cursor with the events missed since then', async () => {
    const first = await follow();
    const before = await send();
    await vi.waitFor(() => expect(idsOf(first)).toContain(before), 30_000);
    const cursor = first.answers.at(-1)?.data?.events.cursor;
    await first.stop();

    const missed = await send();
    const second = await follow({ after: cursor });
    await vi.waitFor(() => expect(idsOf(second)).toContain(missed), 30_000);
    const live = await send();

    await vi.waitFor(() => expect(idsOf(second).at(-1)).toBe(live), 30_000);
    expect(new Set(idsOf(second)).size).toBe(idsOf(second).length);
  });

  it('delivers an event committed late, after newer ones, exactly once', async () => {
    const stream = await follow();
    const recent = await send();
    await vi.waitFor(() => expect(idsOf(stream)).toContain(recent), 30_000);

    const old = newId('event', world.clock.now() - 10_000);
    await world.services.sql`
      insert into events (workspace_id, id, type, sequence, facts, message_id, created_at)
      values (${world.workspace_id}, ${old}, 'email.complained', 9, '{}', ${recent}, clock_now())`;

    await vi.waitFor(
      () => expect(stream.answers.filter(({ data }) => data?.events.node.id === old)).toHaveLength(1),
      30_000,
    );
  });

  it('delivers only events that match its filter, and rejects a cursor for another filter', async () => {
    const stream = await follow({ types: ['email.complained'] });
    const all = await follow();
    const id = await send();
    await vi.waitFor(() => expect(idsOf(all)).toContain(id), 30_000);

    const cursor = all.answers.at(-1)?.data?.events.cursor;
    const rejected = await follow({ types: ['email.complained'], after: cursor });

    await vi.waitFor(() => expect(rejected.answers).toHaveLength(1), 30_000);
    expect(rejected.answers[0]?.errors).toMatchObject([
      { extensions: { code: 'invalid_request', reason: 'invalid_cursor' } },
    ]);
    expect(idsOf(stream)).toEqual([]);
  });

  it('fairness L2: closes within five seconds after its key becomes invalid', async () => {
    await world.clock.freeze(new Date(world.clock.now()));
    const key = await world.key({ scopes: ['admin'] });
    const stream = await follow({}, key.secret);
    await invoke(world.as(world.workspace_id), revokeKey, { key_id: key.id });
    expect(stream.ended()).toBe(false);

    await world.clock.advance(5000);

    await vi.waitFor(() => expect(stream.ended()).toBe(true), 30_000);
    await world.clock.unfreeze();
  });

  it('fairness L2: closes before its token expires if the workspace membership ends', async () => {
    const person = await signedIn(world, admin, 'admin');
    const other = await world.workspace('free');
    await world.services.sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${other.workspace_id}, ${person.user_id}, 'admin', clock_now())`;
    const { token } = await person.api.session.token.mutate();
    const stream = await follow({}, token);
    const first = await send();
    await vi.waitFor(() => expect(idsOf(stream)).toEqual([first]), 30_000);

    await person.api.people.switchWorkspace.mutate({ workspace_id: other.workspace_id });
    await world.services.sql`
      delete from members where workspace_id = ${world.workspace_id} and user_id = ${person.user_id}`;
    await send();

    await vi.waitFor(() => expect(stream.ended()).toBe(true), 30_000);
    expect(idsOf(stream)).toEqual([first]);
  });

  it('delivers nothing after its key is revoked', async () => {
    const key = await world.key({ scopes: ['admin'] });
    const stream = await follow({}, key.secret);
    const first = await send();
    await vi.waitFor(() => expect(idsOf(stream)).toEqual([first]), 30_000);

    await invoke(world.as(world.workspace_id), revokeKey, { key_id: key.id });
    await send();

    await vi.waitFor(() => expect(stream.ended()).toBe(true), 30_000);
    expect(idsOf(stream)).toEqual([first]);
  });

  it('counts toward the limit of twenty streams per key across all processes', async () => {
    const key = await world.key({ scopes: ['admin'] });
    const streams = await Promise.all(Array.from({ length: 21 }, () => follow({}, key.secret)));

    await vi.waitFor(
      () => expect(streams.filter(({ answers: responses }) => responses.length > 0)).toHaveLength(1),
      30_000,
    );
    const rejected = streams.find(({ answers: responses }) => responses.length > 0);
    expect(rejected?.answers[0]?.errors).toMatchObject([
      { extensions: { code: 'rate_limited', reason: 'too_many_streams' } },
    ]);
    await streams.find((stream) => stream !== rejected)?.stop();

    await vi.waitFor(async () => {
      const rows = await world.services.sql`select from query_streams where key_id = ${key.id}`;
      expect(rows).toHaveLength(19);
    }, 30_000);
  });

  it('hides events from other workspaces', async () => {
    const { secret } = await world.workspace('free');
    const stranger = await follow({}, secret);
    const own = await follow();
    const id = await send();

    await vi.waitFor(() => expect(idsOf(own)).toContain(id), 30_000);
    expect(idsOf(stranger)).toEqual([]);
  });

  it('charges for each event by its selection, and waits while its key has no points left', async () => {
    await world.clock.freeze(new Date(world.clock.now()));
    const key = await world.key({ scopes: ['admin'] });
    const level = async () => {
      const rows = await world.services.sql<{ level: number }[]>`
        select level from query_budgets where key_id = ${key.id}`;
      return rows[0]?.level ?? 0;
    };
    const stream = await follow({}, key.secret);
    const other = await follow();
    const before = await level();
    const paid = await send();
    await vi.waitFor(() => expect(idsOf(stream)).toEqual([paid]), 30_000);
    expect((await level()) - before).toBe(3);

    await world.services.sql`update query_budgets set level = 12000 where key_id = ${key.id}`;
    const waiting = await send();
    await vi.waitFor(() => expect(idsOf(other)).toContain(waiting), 30_000);
    expect(idsOf(stream)).toEqual([paid]);
    await world.clock.advance(1000);

    await vi.waitFor(() => expect(idsOf(stream)).toEqual([paid, waiting]), 30_000);
    expect(await level()).toBeGreaterThan(11_700);
  });
});
