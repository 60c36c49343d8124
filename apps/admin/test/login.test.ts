import { readFileSync } from 'node:fs';
import { invoke } from '@postrider/core';
import { createLoginLink, resetPassword } from '@postrider/core/people';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAdmin, startAdmin } from './admin-server.ts';
import { dashboard, refusalOf } from './signed-in.ts';

const MINUTE_MS = 60_000;
const OPERATOR = 'operator@sandbox.test';

const world = await openWorld({ TRUSTED_PROXIES: '127.0.0.0/8' });
const { sql } = world.services;
const admin = await openAdmin(world);
let origin: string;
let password: string;
beforeAll(async () => {
  origin = `http://127.0.0.1:${admin.port}`;
  ({ password } = await invoke(world.as(world.workspace_id), resetPassword, { email: OPERATOR }));
});

type Headers = Readonly<Record<string, string>>;

function post(path: string, form: Readonly<Record<string, string>> = {}, headers: Headers = {}): Promise<Response> {
  return fetch(`${origin}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, 'sec-fetch-site': 'same-origin', ...headers },
    body: new URLSearchParams(form),
  });
}

const signIn = (form: Readonly<Record<string, string>> = {}, headers: Headers = {}) =>
  post('/login', { email: OPERATOR, password, ...form }, headers);

/** Returns the cookie that a response sets, in the form a browser sends back. */
const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
const userOf = (cookie: string) => dashboard(admin.port, cookie).people.me.query();
const link = async () => (await invoke(world.as(world.workspace_id), createLoginLink, { email: OPERATOR })).url;
const pathOf = (url: string) => new URL(url).pathname;

describe('signing in', () => {
  it('sets a cookie hidden from scripts and other sites, and starts a new session each time', async () => {
    const first = await signIn();
    const second = await signIn({}, { cookie: cookieOf(first) });

    expect(first.status).toBe(303);
    expect(first.headers.get('location')).toBe('/');
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^device=[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect(cookieOf(second)).not.toBe(cookieOf(first));
    expect(await userOf(cookieOf(second))).toMatchObject({
      email: OPERATOR,
      operator: true,
      scopes: ['operator', 'admin'],
    });
    expect(await refusalOf(userOf(cookieOf(first)))).toMatchObject({ status: 401, reason: 'session_ended' });
  });

  it('ignores a session id chosen by an attacker', async () => {
    const planted = `sid=${'A'.repeat(43)}`;

    const response = await signIn({}, { cookie: planted });

    expect(cookieOf(response)).not.toBe(planted);
    expect(await refusalOf(userOf(planted))).toMatchObject({ status: 401 });
  });

  it('sets a cookie over https that is host-only and sent only over https', async () => {
    const secure = await startAdmin({
      ...world.services,
      public_url: 'https://mail.test',
      config: { ...world.services.config, PUBLIC_URL: 'https://mail.test' },
    });

    const response = await fetch(`http://127.0.0.1:${secure.port}/login`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: 'https://mail.test' },
      body: new URLSearchParams({ email: OPERATOR, password }),
    });
    const me = await fetch(`http://127.0.0.1:${secure.port}/trpc/people.me`, {
      headers: { cookie: cookieOf(response) },
    });
    const borrowed = await fetch(`http://127.0.0.1:${secure.port}/trpc/people.me`, {
      headers: { cookie: cookieOf(response).replace('__Host-', '') },
    });
    await secure.stop();

    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sid=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(/^__Host-device=[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect([me.status, borrowed.status]).toEqual([200, 401]);
  });

  it('rejects forms submitted over https from http:// on the same host', async () => {
    const secure = await startAdmin({
      ...world.services,
      public_url: 'https://mail.test',
      config: { ...world.services.config, PUBLIC_URL: 'https://mail.test' },
    });
    const host = `127.0.0.1:${secure.port}`;
    const statusFrom = async (scheme: string) => {
      const headers = { origin: `${scheme}://${host}` };
      const body = new URLSearchParams({ email: OPERATOR, password });
      return (await fetch(`http://${host}/login`, { method: 'POST', redirect: 'manual', headers, body })).status;
    };

    const statuses = [await statusFrom('http'), await statusFrom('https')];
    await secure.stop();

    expect(statuses).toEqual([403, 303]);
  });

  it.each([
    ['/inbox?x=1#top', '/inbox?x=1#top'],
    ['/a/../inbox', '/inbox'],
    ['//evil.test', '/'],
    ['///evil.test', '/'],
    ['/\\evil.test', '/'],
    ['\\\\evil.test', '/'],
    ['/\t/evil.test', '/'],
    ['/.//evil.test', '/'],
    ['javascript:alert(1)', '/'],
    ['https://evil.test/', '/'],
    ['evil.test', '/'],
    ['', '/'],
  ])('redirects only within this site: next=%j', async (next, place) => {
    const html = await (await fetch(`${origin}/login?next=${encodeURIComponent(next)}`)).text();

    expect(html).toContain(`name="next" value="${place}"`);
  });

  it('redirects to the page named in the form, unless it is on another host', async () => {
    expect((await signIn({ next: '/inbox?x=1' })).headers.get('location')).toBe('/inbox?x=1');
    expect((await signIn({ next: '//evil.test' })).headers.get('location')).toBe('/');
  });

  it('ignores the letter case of the email address, but not of the password', async () => {
    expect((await signIn({ email: ' Operator@Sandbox.TEST ' })).status).toBe(303);
    expect((await signIn({ password: password.toUpperCase() })).status).toBe(401);
  });

  it.each([
    ['of another origin', { origin: 'https://evil.test' }],
    ['of an opaque origin', { origin: 'null' }],
    ['of another scheme of this host', (): Headers => ({ origin: origin.replace('http:', 'https:') })],
    ['of a sister site', { 'sec-fetch-site': 'same-site' }],
    ['that is multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['that is plain text', { 'content-type': 'text/plain' }],
  ])('rejects a form %s', async (_, headers) => {
    const response = await signIn({}, typeof headers === 'function' ? headers() : headers);

    expect([400, 403]).toContain(response.status);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it('shows submitted markup as text, without executing it', async () => {
    const response = await post('/login', { email: '"><script>alert(1)</script>', password: 'x', next: '"><b>' });
    const html = await response.text();

    expect(response.status).toBe(401);
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"');
    expect(html).not.toMatch(/<script|<b>/);
  });

  it('rejects a form without an origin', async () => {
    const response = await fetch(`${origin}/login`, {
      method: 'POST',
      body: new URLSearchParams({ email: OPERATOR, password }),
    });

    expect(response.status).toBe(403);
  });
});

describe('twenty wrong passwords', () => {
  it('lock an account temporarily, whether it exists or not, with the same message', async () => {
    await world.clock.advance(15 * MINUTE_MS);
    // The response states the minutes left, so the clock must not advance between attempts.
    await world.clock.freeze(new Date(world.clock.now()));
    const wrong = async (email: string) => {
      const response = await post('/login', { email, password: 'wrong' });
      return `${response.status} ${(await response.text()).replace(email, 'WHO')}`;
    };

    const attemptThrice = async (email: string) => {
      const first = await wrong(email);
      await sql`update login_failures set failed = 19 where subject like 'account %' and failed = 1`;
      return { first, twentieth: await wrong(email), next: await wrong(email) };
    };

    const known = await attemptThrice(OPERATOR);
    const unknown = await attemptThrice('nobody@sandbox.test');

    expect(known).toEqual(unknown);
    expect(known.first).toMatch(/^401 .*Wrong email or password/s);
    expect(known.twentieth).toBe(known.first);
    expect(known.next).toMatch(/^429 .*Too many failed sign-ins/s);
    expect((await signIn()).status).toBe(429);
    await world.clock.advance(15 * MINUTE_MS);
    expect((await signIn()).status).toBe(303);
    const subjects = await sql<{ subject: string }[]>`select subject from login_failures`;
    expect(subjects.filter(({ subject }) => subject.includes('@'))).toEqual([]);
    await world.clock.unfreeze();
  });

  it('fairness P17: lock out neither a known device, an open session, nor the account on other networks', async () => {
    await world.clock.advance(15 * MINUTE_MS);
    const [sid = '', device = ''] = (await signIn()).headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
    const wrong = () => post('/login', { email: OPERATOR, password: 'wrong' });
    await wrong();
    await sql`update login_failures set failed = 20 where subject like 'account %'`;

    expect((await signIn()).status).toBe(429);
    expect((await signIn({}, { 'x-forwarded-for': '192.0.2.7' })).status).toBe(303);
    await sql`update login_failures set failed = 200 where subject like 'account %' or subject like 'address %'`;
    const from_device = await signIn({}, { cookie: device });
    const confirmed = await post('/login/confirm', { password }, { cookie: sid });

    expect((await signIn({}, { 'x-forwarded-for': '192.0.2.8' })).status).toBe(429);
    expect(from_device.status).toBe(303);
    expect(from_device.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual(['sid']);
    expect(confirmed.status).toBe(200);
    await world.clock.advance(15 * MINUTE_MS);
  });

  it('fairness P17: lock out a known device after its own twenty, but no unknown device', async () => {
    const device = (await signIn()).headers.getSetCookie()[1]?.split(';')[0] ?? '';
    const wrong = (cookie: string) => post('/login', { email: OPERATOR, password: 'wrong' }, { cookie });
    await wrong(device);
    await sql`update login_failures set failed = 19 where subject like 'device %'`;

    const statuses = [(await wrong(device)).status, (await wrong(device)).status];
    const failures = () => sql`select from login_failures where subject like 'device %'`;
    const before = (await failures()).length;
    const forged = await wrong(`device=${'A'.repeat(43)}`);

    expect(statuses).toEqual([401, 429]);
    expect(forged.status).toBe(401);
    expect(await failures()).toHaveLength(before);
    expect((await signIn()).status).toBe(303);
    await world.clock.advance(15 * MINUTE_MS);
  });

  it('fairness P17: leave at most twenty known devices per person, cleared by a password change', async () => {
    const devices = () => sql`select from devices d join users u on u.id = d.user_id where u.email = ${OPERATOR}`;
    await sql`
      insert into devices (token_hash, user_id, created_at, last_used_at)
      select sha256(n::text::bytea), id, clock_now(), clock_now() from users, generate_series(1, 30) as s (n)
      where email = ${OPERATOR}`;
    await signIn();

    expect(await devices()).toHaveLength(20);
    ({ password } = await invoke(world.as(world.workspace_id), resetPassword, { email: OPERATOR }));
    expect(await devices()).toHaveLength(0);
  });

  it('fairness L1: return 429 with Retry-After on every page and in tRPC, until the attempts expire', async () => {
    await world.clock.advance(15 * MINUTE_MS);
    await world.clock.freeze(new Date(world.clock.now()));
    const cookie = cookieOf(await signIn());
    const json = { accept: 'application/json', cookie };
    const wrong = { email: OPERATOR, password: 'wrong' };
    const tryAll = () =>
      Promise.all([
        post('/login', wrong),
        post('/login', wrong, { accept: 'application/json' }),
        post(`/login/link/${'A'.repeat(43)}`),
        post('/login/confirm', wrong, json),
        fetch(`${origin}/trpc/people.changePassword`, {
          method: 'POST',
          headers: { cookie, origin, 'x-postrider': '1', 'content-type': 'application/json' },
          body: JSON.stringify({ current_password: 'wrong', new_password: 'long enough to be one' }),
        }),
      ]);
    const first = await tryAll();
    await sql`update login_failures set failed = 200`;

    const limited = await tryAll();

    expect(first.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      Array(5).fill([401, null]),
    );
    expect(limited.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual(
      Array(5).fill([429, '900']),
    );
    await world.clock.unfreeze();
    await world.clock.advance(15 * MINUTE_MS);
  });

  const limitsPage = readFileSync(new URL('../../../docs/limits.md', import.meta.url), 'utf8');
  const documented = (limit: string) =>
    Number(
      limitsPage
        .split('\n')
        .find((line) => line.includes(`| ${limit}`))
        ?.match(/`(\d+)`/)?.[1],
    );

  it.each([
    ['failed sign-ins to one account from one network', 'account % address %', ''],
    ['failed sign-ins to one account from all networks', 'account %', '% address %'],
    ['failed sign-ins from one network to all accounts', 'address %', ''],
    ['wrong passwords on one known device', 'device %', ''],
    ['wrong passwords on one known device or in one session', 'session %', ''],
  ])('fairness L7: are limited as documented: %s', async (limit, subject, other) => {
    const signed_in = (await signIn({}, { 'x-forwarded-for': '192.0.2.20' })).headers.getSetCookie();
    const [sid = '', device = ''] = signed_in.map((cookie) => cookie.split(';')[0] ?? '');
    const headers: Headers =
      subject === 'session %' ? { cookie: sid } : subject === 'device %' ? { cookie: device } : {};
    const path = subject === 'session %' ? '/login/confirm' : '/login';
    const tryWrong = async () =>
      (await post(path, { email: OPERATOR, password: 'wrong' }, { 'x-forwarded-for': '192.0.2.21', ...headers }))
        .status;
    await sql`delete from login_failures`;
    await tryWrong();
    const set = await sql`
      update login_failures set failed = ${documented(limit) - 1}
      where subject like ${subject} and subject not like ${other} returning subject`;

    expect([set.length, await tryWrong(), await tryWrong()]).toEqual([1, 401, 429]);
    await sql`delete from login_failures`;
  });

  it('fairness L7: have the same limits in docs/security.md and docs/limits.md', () => {
    const security = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
    const own = documented('failed sign-ins to one account from one network');
    const account = documented('failed sign-ins to one account from all networks');
    const network = documented('failed sign-ins from one network to all accounts');
    const single = documented('wrong passwords on one known device or in one session');

    expect(security).toContain(
      `${own} by account and network, ${account} by account, ${network} by network; known devices and sessions count separately, ${single} each`,
    );
    expect(security).toContain(`${own} per account and network (an IPv4 address or an IPv6 /64)`);
    expect(security).toContain(`${account} per account, and ${network} per network`);
    expect(security).toContain(`A known device and a session each have their own limit of ${single}`);
  });

  it('are counted across processes, even when attempted concurrently', async () => {
    const second = await startAdmin(await world.peer());
    const second_url = `http://127.0.0.1:${second.port}`;
    const wrong = async (base: string) => {
      const body = new URLSearchParams({ email: 'many@sandbox.test', password: 'wrong' });
      return (await fetch(`${base}/login`, { method: 'POST', headers: { origin: base }, body })).status;
    };
    await wrong(origin);
    await sql`update login_failures set failed = 15 where subject like 'account %'`;

    const statuses = await Promise.all(Array.from({ length: 8 }, (_, index) => wrong(index % 2 ? origin : second_url)));

    await second.stop();
    expect(statuses.sort()).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  });
});

describe('a login link', () => {
  it('signs in once its button is clicked, and is not used up by being opened', async () => {
    const path = pathOf(await link());
    const scanned = await Promise.all(Array.from({ length: 3 }, () => fetch(`${origin}${path}`)));

    const [first, second] = await Promise.all([post(path), post(path)]);

    expect(scanned.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(scanned.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
    expect([first.status, second.status].sort()).toEqual([303, 401]);
    expect(await userOf(cookieOf(first.status === 303 ? first : second))).toMatchObject({ email: OPERATOR });
  });

  it('expires after fifteen minutes', async () => {
    const path = pathOf(await link());

    await world.clock.advance(15 * MINUTE_MS);

    expect((await post(path)).status).toBe(401);
  });

  it('is rejected if unknown, and allows only a limited number of attempts', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 61; count++) statuses.push((await post(`/login/link/${'A'.repeat(43)}`)).status);

    expect(statuses[0]).toBe(401);
    expect(statuses.at(-1)).toBe(429);
    await world.clock.advance(15 * MINUTE_MS);
  });
});

describe('signing out', () => {
  it('closes the session on the server, so that a copied cookie is useless', async () => {
    const cookie = cookieOf(await signIn());

    const response = await post('/logout', {}, { cookie });

    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(/^sid=; Max-Age=0;/)]);
    expect(await refusalOf(userOf(cookie))).toMatchObject({ status: 401, reason: 'session_ended' });
  });

  it('cannot be triggered by a link or by a page on another site', async () => {
    const cookie = cookieOf(await signIn());

    await fetch(`${origin}/logout`, { headers: { cookie } });
    const foreign = await post('/logout', {}, { cookie, origin: 'https://evil.test' });

    expect(foreign.status).toBe(403);
    expect(await userOf(cookie)).toMatchObject({ email: OPERATOR });
  });
});

describe('dashboard and sign-in pages', () => {
  it.each([
    '/',
    '/inbox',
    '/errors',
    '/errors/invalid_login',
    '/login',
    '/login/confirm',
    '/login/link/x',
    '/logout',
    '/none',
  ])('cannot be framed: %s', async (path) => {
    const { headers } = await admin.get(path);

    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('let forms submit only to this service, and only on pages that have a form', async () => {
    for (const path of ['/login', '/login/confirm', '/login/link/x', '/logout'])
      expect((await admin.get(path)).headers['content-security-policy']).toContain("form-action 'self'");
    for (const path of ['/errors'])
      expect((await admin.get(path)).headers['content-security-policy']).toContain("form-action 'none'");
  });
});

describe('session and link secrets', () => {
  it('appear in no table or log, while every sign-in appears in the audit log', async () => {
    const url = await link();
    const token = url.slice(url.lastIndexOf('/') + 1);
    const session = cookieOf(await post(pathOf(url))).slice('sid='.length);
    const unused = (await link()).split('/').at(-1) ?? '';
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`;

    expect(session).toMatch(/^[\w-]{43}$/);
    const secrets = [token, session, unused, password];
    for (const { name } of tables) {
      const [leak] = await sql.unsafe(
        `select count(*)::int as count from ${name} as t where ${secrets.map((_, index) => `t::text like '%' || $${index + 1} || '%'`).join(' or ')}`,
        secrets,
      );
      expect(leak, name).toEqual({ count: 0 });
    }
    const logged = JSON.stringify(world.logged);
    for (const secret of secrets) expect(logged).not.toContain(secret);
    const entries =
      await sql`select action, via, diff from audit_log where action = 'user.signed_in' order by sequence desc limit 1`;
    expect(entries).toEqual([{ action: 'user.signed_in', via: 'dashboard', diff: '{"by":"link","new_device":true}' }]);
  });
});
