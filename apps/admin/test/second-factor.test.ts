import { invoke, newId } from '@postrider/core';
import { requestReset } from '@postrider/core/password-resets';
import {
  addOperator,
  createLoginLink,
  hashPassword,
  inviteMember,
  resetPassword,
  resetSignIn,
} from '@postrider/core/people';
import { totpCode } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAdmin, startAdmin } from './admin-server.ts';
import { type Dashboard, dashboard, refusalOf } from './signed-in.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EMAIL = 'ada@people.test';

const world = await openWorld({ TRUSTED_PROXIES: '127.0.0.0/8', DELIVERY: 'smtp://relay.test' });
await world.domain('shop.example');
const { sql } = world.services;
const admin = await openAdmin(world);
// A second process shares nothing with the first but the database.
const second_admin = await startAdmin(await world.peer());
afterAll(() => second_admin.stop());
const operator = () => world.as(world.workspace_id);

let network = 0;
/** Every request comes from another network, so that only the limits on codes apply. */
async function post(path: string, form: Readonly<Record<string, string>> = {}, cookie = '', port = admin.port) {
  const origin = `http://127.0.0.1:${port}`;
  const forwarded = `198.51.${(network >> 8) % 256}.${network++ % 256}`;
  const response = await fetch(origin + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin, cookie, accept: 'application/json', 'x-forwarded-for': forwarded },
    body: new URLSearchParams(form),
  });
  const cookies = new Map(
    response.headers.getSetCookie().map((line) => [line.split('=')[0], line.split(';')[0] ?? '']),
  );
  const body = (await response.json()) as { next?: string; error?: { reason: string; message: string } };
  return {
    status: response.status,
    next: body.next,
    reason: body.error?.reason,
    message: body.error?.message,
    cookies,
  };
}

const now = () => world.clock.now();
const nextStep = () => world.clock.advance(MINUTE_MS);
const linkOf = async (email: string) => new URL((await invoke(operator(), createLoginLink, { email })).url).pathname;

async function addTotp(api: Dashboard) {
  const { secret } = await api.people.beginTotp.mutate({});
  const { recovery_codes } = await api.people.activateTotp.mutate({ code: totpCode(secret, now()) });
  await nextStep();
  return { secret, recovery_codes };
}

let api: Dashboard;
let secret: string;
let recovery_codes: readonly string[];
beforeAll(async () => {
  // A code must not come a step later than meant.
  await world.clock.freeze(new Date(world.clock.now()));
  await invoke(operator(), addOperator, { email: EMAIL });
});
beforeEach(async () => {
  await invoke(operator(), resetSignIn, { email: EMAIL });
  const { cookies } = await post(await linkOf(EMAIL));
  api = dashboard(admin.port, cookies.get('sid') ?? '');
  ({ secret, recovery_codes } = await addTotp(api));
});

/** Follows a login link, which is faster than a password; returns the cookie of the sign-in that lacks the code. */
async function pending(): Promise<string> {
  const { next, cookies } = await post(await linkOf(EMAIL));
  expect(next).toBe('/login/code');
  return cookies.get('pending') ?? '';
}

const enter = (code: string, cookie: string, port = admin.port) => post('/login/code', { code }, cookie, port);
/** Sets a password without removing the authenticator app, as the person does. */
async function choosePassword(): Promise<string> {
  const password = 'correct horse: battery';
  await sql`update users set password_hash = ${await hashPassword(password)} where email = ${EMAIL}`;
  return password;
}

const enterPending = async (code: string) => enter(code, await pending());
const right = (steps = 0) => totpCode(secret, now(), steps);
const wrong = () => (right() === '000000' ? '000001' : '000000');

describe('an authenticator app', () => {
  it('is asked for after the password, which alone opens nothing', async () => {
    const password = await choosePassword();
    const { status, next, cookies } = await post('/login', { email: EMAIL, password, next: '/emails?x=1' });

    expect({ status, next }).toEqual({ status: 200, next: '/login/code?next=%2Femails%3Fx%3D1' });
    expect([...cookies.keys()]).toEqual(['pending']);
    const as_session = cookies.get('pending')?.replace('pending=', 'sid=') ?? '';
    expect(await refusalOf(dashboard(admin.port, as_session).people.me.query())).toMatchObject({ status: 401 });
    const response = await post('/login/code', { code: right(), next: '/emails?x=1' }, cookies.get('pending'));
    expect(response).toMatchObject({ status: 200, next: '/emails?x=1' });
    const me = await dashboard(admin.port, response.cookies.get('sid') ?? '').people.me.query();
    expect(me).toMatchObject({ email: EMAIL, operator: true });
  });

  it('is asked for after an emailed reset, which keeps it', async () => {
    const { done } = await requestReset(world.services, EMAIL, {
      ...{ request_id: newId('request', now()), address: '192.0.2.1', user_agent: null, replaces: null, device: null },
    });
    await done;
    await world.drain();
    const email = world.smtp.messages.findLast(({ envelope_to }) => envelope_to.includes(EMAIL));
    const text = (email && (await world.smtp.parsed(email)).text) ?? '';
    const path = /\/login\/reset\/[\w-]+/.exec(text)?.[0] ?? '';

    const reset = await post(path, { password: 'another horse: battery' });

    expect(reset).toMatchObject({ status: 200, next: '/login/code' });
    expect((await enter(right(), reset.cookies.get('pending') ?? '')).status).toBe(200);
  });

  it.each([
    [-2, 401],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 401],
  ])('may be %i steps of 30 seconds off: %i', async (steps, status) => {
    expect((await enterPending(right(steps))).status).toBe(status);
  });

  it('opens once with each code, and never with an earlier one', async () => {
    expect((await enterPending(right())).status).toBe(200);
    expect(await enterPending(right())).toMatchObject({ status: 401, reason: 'invalid_code' });
    expect((await enterPending(right(-1))).status).toBe(401);
    expect((await enterPending(right(1))).status).toBe(200);
  });

  it('opens once with a code that is entered at the same moment in two processes', async () => {
    const cookies = await Promise.all(Array.from({ length: 8 }, pending));
    const ports = [admin.port, second_admin.port];

    const responses = await Promise.all(cookies.map((cookie, at) => enter(right(), cookie, ports[at % 2])));

    expect(responses.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  });

  it('opens nothing ten minutes after the password, or with a made-up cookie', async () => {
    const cookie = await pending();
    await world.clock.advance(10 * MINUTE_MS);

    expect(await enter(right(), cookie)).toMatchObject({ status: 401, reason: 'invalid_login' });
    expect(await enter(right(), `pending=${'A'.repeat(43)}`)).toMatchObject({ status: 401, reason: 'invalid_login' });
  });

  it('is locked for 15 minutes after 5 wrong codes and for a day after 30, but the account is not', async () => {
    const cookie = await pending();
    const statuses = [];
    for (let at = 0; at < 31; at++) statuses.push((await enter(wrong(), cookie)).status);

    expect(statuses).toEqual([...Array(5).fill(401), ...Array(26).fill(429)]);
    expect(await api.people.notices.query({})).toContainEqual(expect.objectContaining({ kind: 'codes_locked' }));
    expect(await enter(right(), cookie)).toMatchObject({ status: 429, reason: 'login_rate' });
    expect((await enter(recovery_codes[0] ?? '', cookie)).status).toBe(200);
    await world.clock.advance(15 * MINUTE_MS);
    expect((await enterPending(right())).status).toBe(200);
    for (let round = 0; round < 5; round++) {
      await world.clock.advance(16 * MINUTE_MS);
      const again = await pending();
      for (let at = 0; at < 5; at++) expect((await enter(wrong(), again)).status).toBe(401);
    }
    await world.clock.advance(16 * MINUTE_MS);
    expect((await enterPending(right())).status).toBe(429);
    expect((await enterPending(recovery_codes[1] ?? '')).status).toBe(200);
    await world.clock.advance(24 * HOUR_MS);
    expect((await enterPending(right())).status).toBe(200);
  });

  it('stays what it is if someone with an old session asks for another', async () => {
    await world.clock.advance(HOUR_MS);
    for (const call of [
      () => api.people.beginTotp.mutate({}),
      () => api.people.activateTotp.mutate({ code: '000000' }),
      () => api.people.removeTotp.mutate({}),
      () => api.people.renewRecoveryCodes.mutate({}),
    ])
      expect(await refusalOf(call())).toMatchObject({ status: 403, reason: 'reauthentication_required' });
  });

  it('is not asked for before a first code was right, and then replaces the one before with its recovery codes', async () => {
    const { secret: other } = await api.people.beginTotp.mutate({});
    const refusal = await refusalOf(api.people.activateTotp.mutate({ code: totpCode(other, now(), 5) }));
    expect(refusal).toMatchObject({ status: 401, reason: 'invalid_code' });
    expect((await enterPending(right())).status).toBe(200);
    const digits = totpCode(other, now());
    await api.people.activateTotp.mutate({ code: `${digits.slice(0, 3)} ${digits.slice(3)}` });
    await nextStep();

    expect((await enterPending(right())).status).toBe(401);
    expect((await enterPending(recovery_codes[0] ?? '')).status).toBe(401);
    expect((await enterPending(totpCode(other, now()))).status).toBe(200);
    await api.people.removeTotp.mutate({});
    expect(await refusalOf(api.people.removeTotp.mutate({}))).toMatchObject({
      status: 404,
      reason: 'factor_not_found',
    });
    expect(await post(await linkOf(EMAIL))).toMatchObject({ status: 200, next: '/' });
    expect(await api.people.factors.query({})).toMatchObject({ totp_since: null, recovery_codes_left: 0 });
  });

  it('has at most 5 wrong codes checked if they come at the same moment', async () => {
    const cookies = await Promise.all(Array.from({ length: 9 }, pending));
    const ports = [admin.port, second_admin.port];
    const codes = Array.from({ length: 9 }, (_, at) => totpCode(secret, now(), 100 + at));

    const responses = await Promise.all(codes.map((code, at) => enter(code, cookies[at] ?? '', ports[at % 2])));

    expect(responses.map(({ status }) => status).toSorted()).toEqual([...Array(5).fill(401), ...Array(4).fill(429)]);
  });

  it('can be removed and used at the same moment without an error of the database', async () => {
    const cookies = await Promise.all(Array.from({ length: 6 }, pending));
    const responses = await Promise.all([
      ...cookies.map(async (cookie, at) => (await enter(recovery_codes[at] ?? '', cookie)).status),
      api.people.removeTotp.mutate({}).then(() => 200),
      enter(right(), await pending()).then(({ status }) => status),
    ]);

    for (const status of responses) expect([200, 401]).toContain(status);
  });

  it('keeps ten sign-ins of a person waiting for their code, and drops the oldest', async () => {
    const first = await pending();
    await world.clock.advance(1000);
    for (let at = 0; at < 10; at++) await pending();

    expect(await enter(right(), first)).toMatchObject({ status: 401, reason: 'invalid_login' });
    const [row] = await sql`select count(*)::int as count from pending_sign_ins`;
    expect(row).toEqual({ count: 10 });
  });

  it('takes its codes to no log of rejected requests', async () => {
    const code = totpCode(secret, now(), 9);
    await refusalOf(api.people.activateTotp.mutate({ code }));
    await world.services.request_log.flush();

    const rows = await sql<
      { text: string }[]
    >`select r::text as text from requests r where r.path = 'people.activateTotp'`;
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(code);
  });
});

describe('a recovery code', () => {
  it('opens once, in any case and with spaces, also at the same moment in two processes', async () => {
    const [first = '', second = ''] = recovery_codes;
    expect(first).toMatch(/^[a-z0-9]{4}(-[a-z0-9]{4}){3}$/);
    expect((await enterPending(` ${first.toUpperCase().replaceAll('-', ' ')} `)).status).toBe(200);
    expect(await enterPending(first)).toMatchObject({ status: 401, reason: 'invalid_code' });

    const cookies = await Promise.all(Array.from({ length: 8 }, pending));
    const ports = [admin.port, second_admin.port];
    const responses = await Promise.all(cookies.map((cookie, at) => enter(second, cookie, ports[at % 2])));

    expect(responses.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(await api.people.factors.query({})).toMatchObject({ recovery_codes_left: 8 });
  });

  it('opens nothing once all have been replaced', async () => {
    const { recovery_codes: others } = await api.people.renewRecoveryCodes.mutate({});

    expect(new Set([...recovery_codes, ...others]).size).toBe(20);
    expect((await enterPending(recovery_codes[0] ?? '')).status).toBe(401);
    expect((await enterPending(others[0] ?? '')).status).toBe(200);
  });
});

describe('confirming the password', () => {
  it('takes a code as well', async () => {
    const password = await choosePassword();
    const { cookies } = await enterPending(right());
    const cookie = cookies.get('sid') ?? '';
    await world.clock.advance(HOUR_MS);
    const confirm = (form: object) => post('/login/confirm', { password, ...form }, cookie);

    expect(await confirm({})).toMatchObject({ status: 403, reason: 'code_required' });
    expect(await confirm({ code: wrong() })).toMatchObject({ status: 401, reason: 'invalid_code' });
    expect(await confirm({ password: 'wrong', code: right() })).toMatchObject({ reason: 'invalid_login' });
    const confirmation = await confirm({ code: right() });

    expect(confirmation.status).toBe(200);
    const renewed = dashboard(admin.port, confirmation.cookies.get('sid') ?? '');
    expect(await renewed.people.renewRecoveryCodes.mutate({})).toMatchObject({ object: 'user' });
  });
});

describe('a replaced credential', () => {
  it.each([
    ['an operator resets the password', () => invoke(operator(), resetPassword, { email: EMAIL })],
    ['the sign-in is reset on the server', () => invoke(operator(), resetSignIn, { email: EMAIL })],
  ])('removes the authenticator app, the recovery codes and what is pending when %s', async (_, replace) => {
    const cookie = await pending();
    await replace();

    expect((await enter(right(), cookie)).status).toBe(401);
    expect((await enter(recovery_codes[0] ?? '', cookie)).status).toBe(401);
    expect(await post(await linkOf(EMAIL))).toMatchObject({ status: 200, next: '/' });
    const [left] = await sql`
      select (select count(*)::int from totp_factors) as factors, (select count(*)::int from recovery_codes) as codes,
        (select count(*)::int from pending_sign_ins) as pending`;
    expect(left).toEqual({ factors: 0, codes: 0, pending: 0 });
  });

  it('leaves nothing of what an inviting admin has set up when the person is invited again', async () => {
    const email = 'lin@people.test';
    const { workspace_id } = await world.workspace('business');
    const invitation = await invoke(operator(), inviteMember, { email, role: 'viewer', workspace_id });
    const first = await post(new URL(invitation.login_url ?? '').pathname);
    const their_app = await addTotp(dashboard(admin.port, first.cookies.get('sid') ?? ''));
    await sql`update users set vouched = false where email = ${email}`;

    const { login_url } = await invoke(operator(), inviteMember, { email, role: 'admin' });

    const again = await post(new URL(login_url ?? '').pathname);
    expect(again).toMatchObject({ status: 200, next: '/' });
    expect((await enter(their_app.recovery_codes[0] ?? '', again.cookies.get('pending') ?? '')).status).toBe(401);
    const { people } = dashboard(admin.port, again.cookies.get('sid') ?? '');
    expect(await people.factors.query({})).toMatchObject({ totp_since: null, recovery_codes_left: 0 });
    expect(await people.notices.query({})).toContainEqual(expect.objectContaining({ kind: 'sign_in_reset' }));
  });

  it('leaves nothing of what an inviting admin has set up when the person becomes an operator', async () => {
    const email = 'eve@people.test';
    const invitation = await invoke(operator(), inviteMember, { email, role: 'viewer' });
    const first = await post(new URL(invitation.login_url ?? '').pathname);
    const their_app = await addTotp(dashboard(admin.port, first.cookies.get('sid') ?? ''));

    const { login_url } = await invoke(operator(), addOperator, { email });

    const theirs = await post(new URL(login_url ?? '').pathname);
    expect(theirs).toMatchObject({ status: 200, next: '/' });
    const { people } = dashboard(admin.port, theirs.cookies.get('sid') ?? '');
    expect(await people.factors.query({})).toMatchObject({ totp_since: null, recovery_codes_left: 0 });
    const own = await addTotp(dashboard(admin.port, theirs.cookies.get('sid') ?? ''));
    const { cookies } = await post(await linkOf(email));
    const cookie = cookies.get('pending') ?? '';
    for (const code of [totpCode(their_app.secret, now()), their_app.recovery_codes[0] ?? ''])
      expect((await enter(code, cookie)).status).toBe(401);
    expect((await enter(totpCode(own.secret, now()), cookie)).status).toBe(200);
  });
});

describe('a reset sign-in', () => {
  it('names the keys that the person created and that still work', async () => {
    await api.people.removeTotp.mutate({});
    const { id } = await api.apiKeys.create.mutate({ name: 'Kept', scopes: ['email:send'] });
    const { id: revoked } = await api.apiKeys.create.mutate({ name: 'Revoked', scopes: ['email:send'] });
    await api.apiKeys.revoke.mutate({ key_id: revoked });

    const { keys } = await invoke(operator(), resetSignIn, { email: EMAIL });

    expect(keys).toEqual([{ id, name: 'Kept', workspace_id: world.workspace_id }]);
  });
});
