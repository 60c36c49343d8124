import { invoke } from '@postrider/core';
import { hashSecret, revokeKey, type Scope } from '@postrider/core/api-keys';
import { visitSmtp } from '@postrider/testing';
import { callerOf } from '../parity/apis.ts';
import { type Attempt, type HttpRequest, http, replyOf } from './attempt.ts';
import type { Role, Stage } from './stage.ts';

const mail = { from: 'shop@victim.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
const query = { query: '{ messages { nodes { id } } }' };

const doors: readonly HttpRequest[] = [
  { to: 'rest', line: 'GET /v1/email/logs' },
  { to: 'rest', line: 'POST /v1/email/send', body: mail },
  { to: 'rest', line: 'POST /v1/email/batch', body: { emails: [mail] } },
  { to: 'rest', line: 'DELETE /v1/domains/victim.test' },
  { to: 'admin', line: 'POST /graphql', body: query },
];

type Headers = Readonly<Record<string, string>>;
const bearer = (secret: string): Headers => ({ authorization: `Bearer ${secret}` });

/** Creates a key of the target workspace with every permission. */
async function keyOf(stage: Stage, options: Readonly<Record<string, unknown>> = {}) {
  const scopes: Scope[] = ['admin', 'email:send', 'operator'];
  return stage.world.key({ name: `Attack ${stage.count()}`, scopes, ...options });
}

const credentials: readonly {
  readonly by: string;
  readonly expected: string;
  headers(stage: Stage): Promise<Headers>;
}[] = [
  { by: 'a stranger without a credential', expected: '401 unauthorized missing_key', headers: async () => ({}) },
  {
    by: 'a stranger with a password instead of a key',
    expected: '401 unauthorized malformed_key',
    headers: async ({ owner }) => ({ authorization: `Basic ${Buffer.from(`api:${owner.secret}`).toString('base64')}` }),
  },
  {
    by: 'a stranger with half a key',
    expected: '401 unauthorized malformed_key',
    headers: async ({ owner }) => bearer(owner.secret.slice(0, -1)),
  },
  {
    by: 'a stranger with a key whose last digit is wrong',
    expected: '401 unauthorized unknown_key',
    headers: async ({ owner }) => bearer(owner.secret.slice(0, -1) + (owner.secret.endsWith('0') ? '1' : '0')),
  },
  {
    by: 'a stranger with the hash of a key',
    expected: '401 unauthorized unknown_key',
    headers: async ({ owner }) => bearer(`pr_live_${hashSecret(owner.secret).toString('hex')}`),
  },
  {
    by: 'a stranger with the cookie of a session',
    expected: '401 unauthorized missing_key',
    headers: async ({ owner }) => ({ cookie: owner.cookie }),
  },
  {
    by: 'a stranger with a revoked key',
    expected: '401 unauthorized revoked_key',
    async headers(stage) {
      const { id, secret } = await keyOf(stage);
      await invoke(stage.world.as(stage.world.workspace_id), revokeKey, { key_id: id });
      return bearer(secret);
    },
  },
  {
    by: 'a stranger with an expired key',
    expected: '401 unauthorized expired_key',
    async headers(stage) {
      const { id, secret } = await keyOf(stage);
      await stage.world.services.sql`update api_keys set expires_at = clock_now() where id = ${id}`;
      return bearer(secret);
    },
  },
  {
    by: 'a stranger with a key for other addresses',
    expected: '401 unauthorized address_not_allowed',
    headers: async (stage) => bearer((await keyOf(stage, { allowed_ips: ['192.0.2.0/24'] })).secret),
  },
  {
    by: 'a stranger who says to be at the address of a key',
    expected: '401 unauthorized address_not_allowed',
    headers: async (stage) => ({
      ...bearer((await keyOf(stage, { allowed_ips: ['192.0.2.0/24'] })).secret),
      'x-forwarded-for': '192.0.2.1',
    }),
  },
];

const atDoors: Attempt[] = credentials.flatMap(({ by: label, expected, headers }) =>
  doors.map((door) => ({
    by: label,
    request: door.line,
    expected,
    async prepare(stage) {
      const sent = await headers(stage);
      return () => http(stage, { ...door, headers: sent });
    },
  })),
);

/** Returns the cookie of a user in the target workspace, after applying a change in the database. */
async function cookieOf({ world }: Stage, role: Role, change?: (user: { email: string }) => Promise<unknown>) {
  const { cookie } = await callerOf(world, world.workspace_id, ['email:send'], role);
  const [user] = await world.services.sql<{ email: string }[]>`select email from users order by id desc limit 1`;
  if (change && user) await change(user);
  return cookie;
}

const sessions: readonly { readonly by: string; cookie(stage: Stage): Promise<string> }[] = [
  { by: 'a stranger without a session', cookie: async () => '' },
  { by: 'a stranger with an empty session', cookie: async () => 'sid=' },
  {
    by: 'a stranger with a forged session',
    cookie: async ({ owner }) => owner.cookie.slice(0, -2) + (owner.cookie.endsWith('AA') ? 'BB' : 'AA'),
  },
  { by: 'a stranger with a key as the session', cookie: async ({ owner }) => `sid=${owner.secret}` },
  {
    by: 'a person who signed out',
    async cookie(stage) {
      const cookie = await cookieOf(stage, 'admin');
      const { origins } = stage.apis;
      await fetch(`${origins.admin}/logout`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: origins.admin },
      });
      return cookie;
    },
  },
  {
    by: 'a person who was idle for 12 hours',
    cookie: (stage) =>
      cookieOf(
        stage,
        'admin',
        ({ email }) => stage.world.services.sql`
          update sessions set last_used_at = clock_now() - interval '12 hours'
          where user_id = (select id from users where email = ${email})`,
      ),
  },
  {
    by: 'a person who signed in 7 days ago',
    cookie: (stage) =>
      cookieOf(
        stage,
        'admin',
        ({ email }) => stage.world.services.sql`
          update sessions set created_at = clock_now() - interval '7 days'
          where user_id = (select id from users where email = ${email})`,
      ),
  },
  {
    by: 'a person who is no longer a member',
    cookie: (stage) =>
      cookieOf(
        stage,
        'admin',
        ({ email }) => stage.world.services.sql`
          delete from members where user_id = (select id from users where email = ${email})`,
      ),
  },
  {
    by: 'a person who is no longer an operator',
    cookie: (stage) =>
      cookieOf(
        stage,
        'operator',
        ({ email }) => stage.world.services.sql`update users set operator = false where email = ${email}`,
      ),
  },
];

const rooms: readonly (HttpRequest & { readonly expected: string })[] = [
  { to: 'admin', line: 'GET /trpc/people.me', expected: '401 unauthorized session_ended' },
  { to: 'admin', line: 'GET /trpc/overview.summary', expected: '401 unauthorized session_ended' },
  {
    to: 'admin',
    line: 'POST /trpc/apiKeys.create',
    body: { name: 'Mine', scopes: ['admin'] },
    headers: { 'x-postrider': '1' },
    expected: '401 unauthorized session_ended',
  },
  {
    to: 'admin',
    line: 'POST /trpc/session.token',
    body: {},
    headers: { 'x-postrider': '1' },
    expected: '401 unauthorized session_ended',
  },
  {
    to: 'admin',
    line: 'GET /preview/msg_00000000000000000000000000',
    expected: '302 /login',
  },
  { to: 'admin', line: 'GET /login/confirm', expected: '302 /login' },
];

const inRooms: Attempt[] = sessions.flatMap(({ by: label, cookie }) =>
  rooms.map(({ expected, ...room }) => ({
    by: label,
    request: room.line,
    expected,
    async prepare(stage) {
      const headers = { ...room.headers, cookie: await cookie(stage) };
      return () => http(stage, { ...room, headers });
    },
  })),
);

const WRITING = { 'x-postrider': '1' };
const CROSS_SITE = '403 forbidden cross_site_request';

/** Requests that a page on another site makes the owner's browser send. */
const lured: readonly (HttpRequest & { readonly expected: string; readonly how: string })[] = [
  ...['https://evil.test', 'null', 'https://OWN_HOST', 'http://OWN_HOST.evil.test'].map((origin) => ({
    how: `from the origin ${origin}`,
    to: 'admin' as const,
    line: 'POST /trpc/suppressions.add',
    body: { emails: ['lured@example.com'] },
    headers: { ...WRITING, origin },
    expected: CROSS_SITE,
  })),
  ...['cross-site', 'same-site'].map((site) => ({
    how: `as ${site}`,
    to: 'admin' as const,
    line: 'GET /trpc/emails.list',
    headers: { 'sec-fetch-site': site },
    expected: CROSS_SITE,
  })),
  {
    how: 'without a header that no form can set',
    to: 'admin',
    line: 'POST /trpc/suppressions.add',
    body: { emails: ['lured@example.com'] },
    expected: CROSS_SITE,
  },
  {
    how: 'as a form',
    to: 'admin',
    line: 'POST /trpc/suppressions.add',
    body: 'emails=lured@example.com',
    headers: { ...WRITING, 'content-type': 'text/plain' },
    expected: '400 invalid_request unsupported_media_type',
  },
  ...['/login', '/logout', '/login/confirm', '/login/forgot', '/login/reset/any', '/login/invitation/any'].map(
    (path) => ({
      how: 'from the origin https://evil.test',
      to: 'admin' as const,
      line: `POST ${path}`,
      body: '',
      headers: { origin: 'https://evil.test', 'content-type': 'application/x-www-form-urlencoded' },
      expected: '403',
    }),
  ),
  {
    how: 'as cross-site',
    to: 'admin',
    line: 'GET /w/wsp_00000000000000000000000000/preview/msg_00000000000000000000000000',
    headers: { 'sec-fetch-site': 'cross-site' },
    expected: '403',
  },
  {
    how: 'of a mutation',
    to: 'admin',
    line: 'GET /trpc/suppressions.add?input=%7B%22emails%22%3A%5B%22lured%40example.com%22%5D%7D',
    expected: '405 not_found route_not_found',
  },
];

const byLure: Attempt[] = lured.map(({ how: label, expected, ...request }) => ({
  by: 'a page of another site, with the cookie of the owner',
  request: `${request.line.replace(/\?.*/, '')} ${label}`,
  expected,
  prepare: async (stage) => () => {
    const { host } = new URL(stage.apis.origins.admin);
    const { origin } = request.headers ?? {};
    const sent = { ...request.headers, ...(origin && { origin: origin.replace('OWN_HOST', host) }) };
    return http(stage, { ...request, headers: { cookie: stage.owner.cookie, ...sent } });
  },
}));

const FRESH = '403 forbidden reauthentication_required';

/** Calls that require the user of a session that is an hour old to confirm the password. */
const sensitive_calls: readonly (readonly [procedure: string, body: unknown])[] = [
  ['apiKeys.create', { name: 'Mine', scopes: ['email:send'] }],
  ['domains.delete', { domain: 'victim.test' }],
  ['erasures.start', { email: 'ada@example.com' }],
  ['invitations.create', { email: 'eve@people.test', role: 'admin' }],
  ['invitations.create', { email: 'eve@people.test', role: 'operator' }],
  ['webhooks.create', { url: 'https://evil.test/hook' }],
  ['workspaces.create', { name: 'Mine', plan: 'free' }],
];

const byOldSessions: Attempt[] = sensitive_calls.map(([procedure, body]) => ({
  by: 'a browser left open for an hour',
  request: `POST /trpc/${procedure}`,
  expected: FRESH,
  async prepare(stage) {
    const { sql } = stage.world.services;
    await sql`update sessions set authenticated_at = clock_now() - interval '1 hour'`;
    const headers = { ...WRITING, cookie: stage.owner.cookie };
    return () => http(stage, { to: 'admin', line: `POST /trpc/${procedure}`, body, headers });
  },
}));

const CANNOT_LOG_IN = '535 5.7.8';

const logins: readonly { readonly by: string; credential(stage: Stage): Promise<readonly [string, string]> }[] = [
  { by: 'a stranger with an empty password', credential: async () => ['api', ''] },
  { by: 'a stranger with an invented key', credential: async () => ['api', `pr_live_${'0'.repeat(64)}`] },
  { by: 'a stranger under another user', credential: async ({ owner }) => ['root', owner.secret] },
  ...credentials
    .filter(({ by: label }) => /revoked|expired|other addresses/.test(label))
    .map(({ by: label, headers }) => ({
      by: label,
      credential: async (stage: Stage): Promise<readonly [string, string]> => [
        'api',
        ((await headers(stage)).authorization ?? '').replace('Bearer ', ''),
      ],
    })),
];

const bySubmission: Attempt[] = [
  ...logins.map(({ by: label, credential }) => ({
    by: label,
    request: 'AUTH PLAIN on submission',
    expected: CANNOT_LOG_IN,
    async prepare(stage: Stage) {
      const [user, password] = await credential(stage);
      return async () => {
        const visitor = await visitSmtp(stage.submission_port);
        await visitor.say('EHLO evil.test');
        const reply = await visitor.say(`AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString('base64')}`);
        visitor.close();
        return replyOf(reply);
      };
    },
  })),
  {
    by: 'a stranger who does not log in',
    request: 'MAIL FROM on submission',
    expected: '530',
    prepare: async (stage) => async () => {
      const visitor = await visitSmtp(stage.submission_port);
      await visitor.say('EHLO evil.test');
      const reply = await visitor.say('MAIL FROM:<shop@victim.test>');
      visitor.close();
      return replyOf(reply);
    },
  },
];

export const byStrangers: readonly Attempt[] = [...atDoors, ...inRooms, ...byLure, ...byOldSessions, ...bySubmission];
