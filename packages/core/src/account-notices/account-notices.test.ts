import { totpCode } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../create-context.ts';
import { newId } from '../fields/ids.ts';
import { invoke } from '../operation/operation.ts';
import {
  type Arrival,
  activateTotp,
  beginTotp,
  changePassword,
  findSession,
  hashPassword,
  insertUser,
  listNotices,
  login,
  loginByCode,
  removeTotp,
  renewRecoveryCodes,
  type SignInOutcome,
  totpPurpose,
} from '../people/index.ts';
import { sendAccountNotice } from './send-account-notice.ts';

const PASSWORD = 'correct horse: battery';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
// Test worlds send to their own SMTP server, whatever the relay is.
const world = await openWorld({ DELIVERY: 'smtp://relay.test', PUBLIC_URL: 'https://mail.example.com' });
const { services, clock } = world;
const { sql } = services;
beforeAll(async () => {
  await world.domain('acme.test');
  await clock.freeze(new Date(clock.now()));
});

let network = 0;
const arrival = (fields: Partial<Arrival> = {}): Arrival => ({
  request_id: newId('request', clock.now()),
  address: `198.51.100.${network++ % 250}`,
  user_agent: FIREFOX,
  replaces: null,
  device: null,
  ...fields,
});

async function person(): Promise<string> {
  const id = newId('user', clock.now());
  const email = `${id}@people.test`;
  await insertUser(sql, { id, email, password_hash: await hashPassword(PASSWORD), operator: false, vouched: true });
  await sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${world.workspace_id}, ${id}, 'member', clock_now())`;
  return email;
}

async function contextOf({ token }: SignInOutcome) {
  const actor = await findSession(services, token, null);
  if (actor === null) throw new Error('the session was not started');
  return createContext(services, actor, { address: '192.0.2.80' });
}

const signIn = (email: string, fields?: Partial<Arrival>) =>
  login(services, { email, password: PASSWORD }, arrival(fields));

/** Runs the waiting jobs and returns the subjects and texts of what the person was sent. */
async function notified(email: string) {
  for (const { data } of await services.jobs.fetch('account.notify', 50)) await sendAccountNotice(services, data);
  await world.drain();
  const messages = world.smtp.messages.filter(({ envelope_to }) => envelope_to.includes(email));
  return Promise.all(messages.map((message) => world.smtp.parsed(message)));
}

describe('the owner of an account', () => {
  it('is told of a sign-in on a new device, but not of the first, nor of one on a known device', async () => {
    const email = await person();
    const first = await signIn(email);
    const device = first.kind === 'signed_in' ? first.device : null;
    await signIn(email, { device });
    expect(await notified(email)).toEqual([]);

    await signIn(email, { address: '192.0.2.7' });

    const [notice, ...others] = await notified(email);
    expect(others).toEqual([]);
    expect(notice?.subject).toBe('New sign-in to your Postrider account');
    expect(notice?.text).toContain('Firefox on Linux, 192.0.2.7, ');
    expect(notice?.text).toContain('https://mail.example.com/settings/account');
    const entries = await sql<{ diff: string }[]>`
      select diff from audit_log where action = 'user.signed_in' order by sequence`;
    expect(entries.map(({ diff }) => JSON.parse(diff))).toEqual([
      { by: 'password' },
      { by: 'password' },
      { by: 'password', new_device: true },
    ]);
    expect(await invoke(await contextOf(first), listNotices, {})).toMatchObject([
      { kind: 'new_device', device: 'Firefox on Linux', address: '192.0.2.7' },
    ]);
  });

  it('is told of an added and a removed app, of locked codes, a recovery code and a new password', async () => {
    const email = await person();
    const ctx = await contextOf(await signIn(email));
    const { secret } = await invoke(ctx, beginTotp, {});
    const { recovery_codes } = await invoke(ctx, activateTotp, { code: totpCode(secret, clock.now()) });
    const pending = await signIn(email);
    const enter = (code: string) => loginByCode(services, { pending_token: pending.token, code }, arrival());
    const wrong = totpCode(secret, clock.now(), 9);
    for (let at = 0; at < 7; at++) await expect(enter(wrong)).rejects.toThrow();
    await enter(recovery_codes[0] ?? '');
    await invoke(ctx, renewRecoveryCodes, {});
    await invoke(ctx, removeTotp, {});
    await invoke(ctx, changePassword, { current_password: PASSWORD, new_password: 'another horse: battery' });

    const notices = await notified(email);

    expect(notices.map(({ subject }) => subject).toSorted()).toEqual([
      'Authenticator app added to your Postrider account',
      'Authenticator app removed from your Postrider account',
      'New sign-in to your Postrider account',
      'Recovery code used for your Postrider account',
      'Recovery codes of your Postrider account replaced',
      'Wrong codes for your Postrider account',
      'Your Postrider password was changed',
    ]);
    for (const { text } of notices) expect(text).toContain('Firefox on Linux');
    const [entry] = await sql<{ actor_kind: string; address: string }[]>`
      select actor_kind, address from audit_log where action = 'user.codes_locked'`;
    expect(entry).toEqual({ actor_kind: 'system', address: expect.stringMatching(/^198\.51\.100\./) });
  });

  it('is not told of the usual browser after a new password, which forgets all devices', async () => {
    const email = await person();
    const first = await signIn(email);
    const device = first.kind === 'signed_in' ? first.device : null;
    const new_password = 'another horse: battery';
    await invoke(await contextOf(first), changePassword, { current_password: PASSWORD, new_password });
    await login(services, { email, password: new_password }, arrival({ device }));

    expect((await notified(email)).map(({ subject }) => subject)).toEqual(['Your Postrider password was changed']);
  });

  it('is told of one kind at most 10 times a day, while others and another person are told as well', async () => {
    const [loud, quiet] = [await person(), await person()];
    await signIn(loud);
    await signIn(quiet);
    for (let at = 0; at < 13; at++) await signIn(loud);
    const ctx = await contextOf(await signIn(loud));
    const { secret } = await invoke(ctx, beginTotp, {});
    await invoke(ctx, activateTotp, { code: totpCode(secret, clock.now()) });
    await signIn(quiet);

    expect(await notified(loud)).toHaveLength(11);
    expect(await notified(quiet)).toHaveLength(1);
  });

  it('has no secret of their app in the clear anywhere in the database, audit log and jobs included', async () => {
    const email = await person();
    const ctx = await contextOf(await signIn(email));
    const { secret } = await invoke(ctx, beginTotp, {});
    const { recovery_codes } = await invoke(ctx, activateTotp, { code: totpCode(secret, clock.now()) });

    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`;
    const [factor] = await sql<{ user_id: string; secret: Buffer }[]>`
      select f.user_id, f.secret from totp_factors f join users u on u.id = f.user_id where u.email = ${email}`;
    const bytes = services.encryption.decrypt(factor?.secret ?? Buffer.of(), totpPurpose(factor?.user_id ?? ''));
    expect(bytes).toHaveLength(20);
    const needles = [
      secret,
      bytes.toString('hex'),
      ...recovery_codes,
      ...recovery_codes.map((code) => code.replaceAll('-', '')),
    ];
    const hits = [];
    for (const { name } of tables) {
      const [row] = await sql<{ hits: number }[]>`
        select count(*)::int as hits from ${sql(name)} t, unnest(${needles}::text[]) as n where t::text ilike '%' || n || '%'`;
      if (row?.hits) hits.push(name);
    }
    expect(hits).toEqual([]);
    expect(tables.length).toBeGreaterThan(40);
  });
});
