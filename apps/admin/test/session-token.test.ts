import { once } from 'node:events';
import { connect } from 'node:net';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';
import { refusalOf, signedIn, signOut } from './signed-in.ts';

const MINUTE_MS = 60_000;
const VIEWER = '{ viewer { key { id } scopes } messages(first: 1) { nodes { id } } }';

const world = await openWorld();
const admin = await openAdmin(world);
const graphql = await openGraphql(world);

describe("a session's bearer token", () => {
  it("grants the signed-in user's rights in GraphQL for 15 minutes", async () => {
    const { api } = await signedIn(world, admin, 'admin');

    const token = await api.session.token.mutate();
    const response = await graphql.ask(VIEWER, {}, { key: token.token });
    // A query that has already been validated takes the fast path.
    const repeat = await graphql.ask(VIEWER, {}, { key: token.token });
    await world.clock.advance(15 * MINUTE_MS);
    const expired = await graphql.ask(VIEWER, {}, { key: token.token });

    expect(token).toMatchObject({ object: 'session_token', token: expect.stringMatching(/^pr_sess_[0-9a-f]{64}$/) });
    expect(response.data).toEqual({ viewer: { key: null, scopes: ['admin'] }, messages: { nodes: [] } });
    expect(repeat.data).toEqual(response.data);
    expect(expired.status).toBe(401);
    expect(expired.errors).toMatchObject([{ extensions: { reason: 'session_ended' } }]);
  });

  it('expires with its session, and has no more rights than the session', async () => {
    const viewer = await signedIn(world, admin, 'viewer');
    const person = await signedIn(world, admin, 'admin');
    const weak = await viewer.api.session.token.mutate();
    const strong = await person.api.session.token.mutate();

    expect((await graphql.ask(VIEWER, {}, { key: weak.token })).errors).toMatchObject([
      { extensions: { reason: 'missing_scope' } },
    ]);
    expect((await graphql.ask(VIEWER, {}, { key: strong.token })).status).toBe(200);
    await signOut(admin, person.cookie);
    expect((await graphql.ask(VIEWER, {}, { key: strong.token })).status).toBe(401);
  });

  it("is stored as a digest, audited, and counted toward the session's rate limit", async () => {
    const person = await signedIn(world, admin, 'admin');

    const { token } = await person.api.session.token.mutate();
    const response = await graphql.ask(VIEWER, {}, { key: token });

    const { sql } = world.services;
    const stored = await sql`select * from session_tokens`;
    expect(JSON.stringify(stored)).not.toContain(token.slice('pr_sess_'.length));
    const [entry] = await sql`select actor_id, via from audit_log where action = 'user.token_made' order by id desc`;
    expect(entry).toEqual({ actor_id: person.user_id, via: 'dashboard' });
    const [window] = await sql`
      select used from rate_windows where class = 'session' and subject = (
        select id from sessions where user_id = ${person.user_id})`;
    expect(window).toEqual({ used: 2 });
    expect(response.headers.get('x-ratelimit-limit')).toBe('12000');
  });

  it('is not a cookie, and cannot be created with a key', async () => {
    const { token } = await (await signedIn(world, admin, 'admin')).api.session.token.mutate();

    const response = await fetch(`http://127.0.0.1:${admin.port}/trpc/people.me`, {
      headers: { authorization: `Bearer ${token}` },
    });

    expect(response.status).toBe(401);
  });
});

describe('the Compose page', () => {
  const mail = { from: 'shop@sandbox.test', to: 'reader@example.com', subject: 'Test', text: 'Hi' };

  it('sends the same email as REST, with attachments', async () => {
    const { api } = await signedIn(world, admin, 'member');
    const content = Buffer.alloc(60_000, 'x').toString('base64');

    const sent = await api.test.send.mutate({ ...mail, attachments: [{ filename: 'a.txt', content }] });

    expect(sent).toMatchObject({ status: 'queued', id: expect.stringMatching(/^msg_/) });
    const email = await api.emails.get.query({ id: sent.id });
    expect(email).toMatchObject({ api_key_id: null, subject: 'Test' });
    expect(email.size_bytes).toBeGreaterThan(60_000);
  });

  it('rejects a large body from an unauthenticated client before it is uploaded', async () => {
    const socket = connect(admin.port, '127.0.0.1');
    socket.write(
      'POST /trpc/test.send HTTP/1.1\r\nHost: localhost\r\nx-postrider: 1\r\nSec-Fetch-Site: same-origin\r\n' +
        `Content-Type: application/json\r\nContent-Length: ${13 * 1024 * 1024}\r\n\r\n{`,
    );

    const [response] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();

    expect(response.toString('latin1')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"body_too_large"/);
  });

  it('is not available to viewers', async () => {
    const { api } = await signedIn(world, admin, 'viewer');

    expect(await refusalOf(api.test.send.mutate(mail))).toMatchObject({ status: 403, required_scope: 'email:send' });
  });
});
