import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { refusalOf, type SignedIn, signedIn } from './signed-in.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld();
const admin = await openAdmin(world);
let operator: SignedIn;
beforeAll(async () => {
  operator = await signedIn(world, admin, 'operator');
});

const url = (path: string) => `http://127.0.0.1:${admin.port}/trpc/${path}`;
const json = { 'content-type': 'application/json' };
const post = (path: string, headers: Record<string, string>, body: string) =>
  fetch(url(path), { method: 'POST', headers: { cookie: operator.cookie, ...headers }, body });

describe('a procedure', () => {
  it('returns the same result and field names as its operation', async () => {
    const key = await operator.api.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'], mode: 'sandbox' });
    const listed = await operator.api.apiKeys.list.query({ limit: 1 });

    expect(key.secret).toMatch(/^pr_test_/);
    expect(listed.data).toMatchObject([{ object: 'api_key', id: key.id, last4: key.secret.slice(-4) }]);
    expect(JSON.stringify(listed)).not.toContain(key.secret);
    expect(listed).toMatchObject({ object: 'list', has_more: true, next_cursor: expect.any(String) });
  });

  it('can be called without an input if no field is required', async () => {
    expect(await operator.api.usage.get.query()).toMatchObject({ object: 'usage' });
  });

  it("rejects bad input with the operation's messages, for every field at once", async () => {
    const refusal = await refusalOf(
      operator.api.apiKeys.create.mutate({ name: '', scopes: ['everything' as 'admin'], mode: 'live' }),
    );

    expect(refusal).toMatchObject({
      status: 400,
      code: 'invalid_request',
      reason: 'invalid_type',
      request_id: expect.stringMatching(/^req_/),
      docs_url: `${world.services.public_url}/errors/invalid_type`,
    });
    expect(refusal.details).toMatchObject([{ param: 'name' }, { param: 'scopes[0]' }]);
    expect(refusal).not.toHaveProperty('stack');
  });

  it.each([
    ['an invalid cursor', () => operator.api.emails.list.query({ cursor: 'x' }), 400, 'invalid_cursor'],
    ['an absent id', () => operator.api.emails.get.query({ id: 'msg_none' }), 404, 'message_not_found'],
    [
      'a domain twice',
      () => operator.api.domains.create.mutate({ name: 'sandbox.test' }),
      422,
      'domain_already_exists',
    ],
  ])('returns the REST status and reason for %s', async (_, call, status, reason) => {
    expect(await refusalOf(call())).toMatchObject({ status, reason });
  });

  it("reveals only the log entry's id when it fails", async () => {
    await world.services.sql`alter table suppressions rename to suppressions_elsewhere`;

    const refusal = await refusalOf(operator.api.suppressions.list.query());

    await world.services.sql`alter table suppressions_elsewhere rename to suppressions`;
    expect(refusal).toMatchObject({ status: 500, code: 'internal_error', reason: 'unexpected' });
    expect(JSON.stringify(refusal)).not.toMatch(/suppressions_|relation|store\.ts/);
    expect(world.logged).toContainEqual(
      expect.objectContaining({
        msg: 'a tRPC procedure failed',
        request_id: refusal.request_id,
        path: 'suppressions.list',
      }),
    );
  });

  it('lets a viewer read, but not change, data', async () => {
    const viewer = await signedIn(world, admin, 'viewer');

    expect(await viewer.api.emails.list.query()).toMatchObject({ data: [] });
    const changes = [
      () => viewer.api.apiKeys.create.mutate({ name: 'Mine', scopes: ['email:logs:read'] }),
      () => viewer.api.apiKeys.list.query(),
      () => viewer.api.domains.delete.mutate({ domain: 'sandbox.test' }),
      () => viewer.api.webhooks.create.mutate({ url: 'https://hooks.test/x' }),
      () => viewer.api.destinations.limit.mutate({ destination: 'slow.test', connections: 1 }),
    ];
    for (const change of changes) {
      expect(await refusalOf(change())).toMatchObject({ status: 403, reason: 'missing_scope' });
    }
  });

  it('treats an object in another workspace as nonexistent', async () => {
    const other = await world.workspace('free');
    const foreign = await signedIn(world, admin, 'admin', other.workspace_id);
    const { id } = await world.key({ scopes: ['email:send'] });

    const existing = await refusalOf(foreign.api.apiKeys.revoke.mutate({ key_id: id }));
    const missing = await refusalOf(foreign.api.apiKeys.revoke.mutate({ key_id: `key_${'0'.repeat(26)}` }));

    expect(existing).toMatchObject({ status: 404, reason: 'api_key_not_found' });
    expect(existing.message).toBe(String(missing.message).replace(/key_0+/, id));
    expect((await foreign.api.domains.list.query()).data).toEqual([]);
  });
});

describe('the tRPC protocol', () => {
  it.each([
    ['no cookie', {}],
    ['a cookie that was never handed out', { cookie: `sid=${'A'.repeat(43)}` }],
    ['an API key instead of a session', { authorization: `Bearer pr_live_${'0'.repeat(64)}` }],
  ])('rejects a call with %s', async (_, headers) => {
    const response = await fetch(url('usage.get'), { headers });

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'session_ended' } } });
  });

  it.each([
    ['of another origin, as JSON', { ...json, origin: 'https://evil.test' }, '{"destination":"a.test"}'],
    ['of another origin, as text', { 'content-type': 'text/plain', origin: 'https://evil.test' }, '{}'],
    ['of another origin, as a form', { 'content-type': 'multipart/form-data; boundary=x', origin: 'null' }, ''],
    ['of another site', { ...json, 'x-postrider': '1', 'sec-fetch-site': 'cross-site' }, '{}'],
    ['of a sister site', { ...json, 'x-postrider': '1', 'sec-fetch-site': 'same-site' }, '{}'],
    ['of another port', { ...json, 'x-postrider': '1', origin: 'http://127.0.0.1:1' }, '{}'],
    ['without the header that no form can set', json, '{}'],
  ])('rejects a mutation %s', async (_, headers, body) => {
    const response = await post('destinations.release', headers, body);

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      error: { data: { code: 'forbidden', reason: 'cross_site_request', request_id: expect.stringMatching(/^req_/) } },
    });
  });

  it('accepts a mutation from a page on its own origin', async () => {
    const own = {
      ...json,
      'x-postrider': '1',
      'sec-fetch-site': 'same-origin',
      origin: `http://127.0.0.1:${admin.port}`,
    };

    expect((await post('suppressions.add', own, '{"email":"ada@example.com"}')).status).toBe(200);
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/octet-stream', ''])(
    'accepts only JSON bodies: %s',
    async (type) => {
      const response = await post('suppressions.add', { 'content-type': type, 'x-postrider': '1' }, '{}');

      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { data: { reason: 'unsupported_media_type' } } });
    },
  );

  it('changes nothing for GET requests', async () => {
    const input = encodeURIComponent('{"destination":"slow.test","connections":1}');
    const response = await fetch(url(`destinations.limit?input=${input}`), { headers: { cookie: operator.cookie } });

    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ error: { data: { reason: 'route_not_found' } } });
    expect((await operator.api.destinations.list.query()).data).toEqual([]);
  });

  it('limits a batch to ten calls', async () => {
    const many = (count: number) =>
      fetch(url(`${Array.from({ length: count }, () => 'usage.get').join()}?batch=1&input={}`), {
        headers: { cookie: operator.cookie },
      });

    expect((await many(10)).status).toBe(200);
    const response = await many(11);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('malformed_request');
  });

  it('returns a separate result for each call in a batch', async () => {
    const [used, absent] = await Promise.allSettled([
      operator.api.usage.get.query(),
      operator.api.emails.get.query({ id: 'msg_none' }),
    ]);

    expect([used.status, absent.status]).toEqual(['fulfilled', 'rejected']);
  });

  it.each([
    ['a procedure that is not there', 'nothing.here', 404, 'route_not_found'],
    ['the prototype of one', '__proto__.list', 404, 'route_not_found'],
    ['an input that is no JSON', 'usage.get?input={', 400, 'malformed_request'],
  ])('rejects %s without revealing internals', async (_, path, status, reason) => {
    const response = await fetch(url(path), { headers: { cookie: operator.cookie } });
    const text = await response.text();

    expect(response.status).toBe(status);
    expect(text).toContain(`"reason":"${reason}"`);
    expect(text).not.toMatch(/stack|node_modules|\.ts/);
  });

  it('rejects an input larger than 100 kB', async () => {
    const body = JSON.stringify({ email: 'x'.repeat(110_000) });
    const response = await post('suppressions.add', { ...json, 'x-postrider': '1' }, body);

    expect(response.status).toBe(400);
    expect(await response.text()).toContain('body_too_large');
  });
});

describe('the rate limits', () => {
  const used = (subject: string, rate_class: string) => world.services.sql<{ used: number }[]>`
    select used from rate_windows where subject = ${subject} and class = ${rate_class}`;
  const fill = (subject: string, rate_class: string, count: number) => world.services.sql`
    insert into rate_windows (subject, class, minute, used)
    values (${subject}, ${rate_class}, date_trunc('minute', clock_now()), ${count})
    on conflict (subject, class, minute) do update set used = excluded.used`;
  const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const ask = ({ cookie }: SignedIn, path: string, body?: unknown) =>
    fetch(url(path), {
      headers: { cookie, ...(body !== undefined && { ...json, 'x-postrider': '1' }) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  const headersOf = ({ headers }: Response) =>
    ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after'].map((name) => headers.get(name));
  let minuteEnd = '';
  beforeEach(async () => {
    const minute = Math.ceil(world.clock.now() / 60_000) * 60;
    minuteEnd = String(minute + 60);
    await world.clock.freeze(new Date((minute + 20) * 1000));
  });
  afterEach(() => world.clock.unfreeze());

  it("count each call in a batch toward the session's limit, and reject a request that exceeds it", async () => {
    const person = await signedIn(world, admin, 'viewer');
    const [session] = await world.services.sql<{ id: string }[]>`
      select id from sessions where user_id = ${person.user_id}`;
    const session_id = session?.id ?? '';
    const three = 'usage.get,usage.get,usage.get?batch=1&input={}';

    const first = await ask(person, three);
    expect([first.status, ...headersOf(first)]).toEqual([200, '600', '597', minuteEnd, null]);
    await fill(session_id, 'session', 598);
    const response = await ask(person, three);
    expect([response.status, ...headersOf(response)]).toEqual([429, '600', '0', minuteEnd, '40']);
    expect(await response.json()).toMatchObject({ error: { data: { code: 'rate_limited', reason: 'session_rate' } } });

    expect((await ask(await signedIn(world, admin, 'viewer'), three)).status).toBe(200);
    await world.clock.advance(40_000);
    expect((await ask(person, three)).status).toBe(200);
  });

  it("count resends toward the workspace's limit, regardless of which member sends them", async () => {
    const { workspace_id } = await world.workspace('free');
    await world.domain('again.test', workspace_id);
    const { id } = await invoke(world.as(workspace_id), sendMessage, { ...mail, from: 'hello@again.test' });
    const [one, other] = await Promise.all([1, 2].map(() => signedIn(world, admin, 'member', workspace_id)));
    if (!one || !other) throw new Error('not signed in');
    const [plan] = await world.services.sql<{ limit: number }[]>`
      select send_per_minute as limit from plans p join workspaces w on w.plan = p.name where w.id = ${workspace_id}`;
    const limit = plan?.limit ?? 0;
    await fill(workspace_id, 'send', limit - 2);

    const sent = await ask(one, 'emails.resend', { id });
    const batch = await ask(other, 'emails.resend,emails.resend?batch=1', {
      0: { id },
      1: { id },
    });

    expect([sent.status, ...headersOf(sent)]).toEqual([200, String(limit), '1', minuteEnd, null]);
    expect([batch.status, ...headersOf(batch)]).toEqual([207, String(limit), '0', minuteEnd, '40']);
    const responses = (await batch.json()) as { error?: unknown }[];
    expect(responses.filter(({ error }) => error === undefined)).toHaveLength(1);
    expect(responses.find(({ error }) => error !== undefined)).toMatchObject({
      error: { data: { code: 'rate_limited', reason: 'send_rate' } },
    });
    expect(await refusalOf(one.api.emails.resend.mutate({ id }))).toMatchObject({ status: 429, reason: 'send_rate' });
    expect((await world.services.sql`select from messages where workspace_id = ${workspace_id}`).length).toBe(3);
  });

  it('cannot be used up for a workspace by roles without permission to send', async () => {
    const viewer = await signedIn(world, admin, 'viewer');

    const refusal = await refusalOf(viewer.api.emails.resend.mutate({ id: `msg_${'0'.repeat(26)}` }));

    expect(refusal).toMatchObject({ status: 403, reason: 'missing_scope' });
    expect(await used(world.workspace_id, 'send')).toHaveLength(0);
  });
});

describe('a session', () => {
  it('expires after twelve hours without a call', async () => {
    const { api } = await signedIn(world, admin, 'viewer');
    await world.clock.advance(11 * HOUR_MS);
    await api.usage.get.query();
    await world.clock.advance(11 * HOUR_MS);
    await api.usage.get.query();

    await world.clock.advance(12 * HOUR_MS + 60_000);

    expect(await refusalOf(api.usage.get.query())).toMatchObject({ status: 401, reason: 'session_ended' });
  });

  it('expires after seven days, however active it is', async () => {
    const { api } = await signedIn(world, admin, 'viewer');
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      await world.clock.advance(11 * HOUR_MS);
      await api.usage.get.query();
    }

    await world.clock.advance(11 * HOUR_MS);

    expect(await refusalOf(api.usage.get.query())).toMatchObject({ status: 401, reason: 'session_ended' });
  });
});
