import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../fields/ids.ts';
import { findSession, hashPassword, insertUser, login } from '../people/index.ts';
import { requestReset } from './request-reset.ts';
import { resetByLink } from './reset-by-link.ts';

const HOUR_MS = 3_600_000;
const PASSWORD = 'correct horse: battery';
const NEXT = 'another horse: battery';
// Test worlds send to their own SMTP server, whatever the relay is.
const world = await openWorld({ DELIVERY: 'smtp://relay.test', PUBLIC_URL: 'https://mail.example.com' });
const { services, clock } = world;
const { sql } = services;
let networks = 0;
beforeAll(() => world.domain('acme.test'));

function arrival(address?: string) {
  networks += 1;
  return {
    request_id: newId('request', clock.now()),
    address: address ?? `198.51.100.${networks}`,
    user_agent: null,
    replaces: null,
    device: null,
  };
}
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error) => error.reason,
  );

async function person(): Promise<string> {
  const id = newId('user', clock.now());
  const email = `${id}@people.test`;
  await insertUser(sql, { id, email, password_hash: await hashPassword(PASSWORD), operator: false, vouched: true });
  await sql`
    insert into members (workspace_id, user_id, role, created_at)
    values (${world.workspace_id}, ${id}, 'member', clock_now())`;
  return email;
}

const emailsTo = (email: string) => world.smtp.messages.filter(({ envelope_to }) => envelope_to.includes(email));

/** Requests a reset and returns its message and the token of the email. */
async function request(email: string, address?: string) {
  const { message, done } = await requestReset(services, email, arrival(address));
  await done;
  await world.drain();
  const mail = emailsTo(email).at(-1);
  const parsed = mail && (await world.smtp.parsed(mail));
  return { message, subject: parsed?.subject, token: /\/login\/reset\/([\w-]+)/.exec(parsed?.text ?? '')?.[1] ?? '' };
}

describe('a password reset', () => {
  it('sets a password by an emailed link once, and ends every other session', async () => {
    const email = await person();
    const before = await login(services, { email, password: PASSWORD }, arrival());
    const { token, subject } = await request(email);

    const outcomes = await Promise.allSettled([
      resetByLink(services, token, NEXT, arrival()),
      resetByLink(services, token, 'chosen by the loser', arrival()),
    ]);

    expect(subject).toBe('Reset your Postrider password');
    const winner = outcomes.find((outcome) => outcome.status === 'fulfilled');
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await findSession(services, before.token, null)).toBeNull();
    expect(await findSession(services, winner?.value.token ?? '', null)).toMatchObject({ email });
    expect(await refusal(resetByLink(services, token, NEXT, arrival()))).toBe('invalid_login');
    expect(await refusal(login(services, { email, password: PASSWORD }, arrival()))).toBe('invalid_login');
    const actions = await sql<{ action: string }[]>`
      select action from audit_log where action like 'user.password_reset%' order by sequence`;
    expect(actions.map(({ action }) => action)).toEqual(['user.password_reset_requested', 'user.password_reset']);
  });

  it('expires after an hour, and earlier if a newer link was requested', async () => {
    const email = await person();
    const first = await request(email);
    const second = await request(email);

    expect(await refusal(resetByLink(services, first.token, NEXT, arrival()))).toBe('invalid_login');
    await clock.advance(HOUR_MS);
    expect(second.token).not.toBe(first.token);
    expect(await refusal(resetByLink(services, second.token, NEXT, arrival()))).toBe('invalid_login');
    expect(await login(services, { email, password: PASSWORD }, arrival())).toMatchObject({
      token: expect.any(String),
    });
  });

  it('has the same response for an unknown address, and sends nothing there', async () => {
    const email = await person();

    const known = await request(email);
    const unknown = await request('nobody@people.test');
    const invalid = await request('not an address');

    expect(known.message).toBe(`If an account exists for ${email}, a reset link is on its way.`);
    expect(unknown.message).toBe(known.message.replace(email, 'nobody@people.test'));
    expect(invalid.message).toBe(known.message.replace(email, 'not an address'));
    expect(emailsTo('nobody@people.test')).toHaveLength(0);
  });

  it('stays available to a person whose resets another network uses up', async () => {
    const email = await person();
    const greedy = '203.0.113.7';
    for (let round = 0; round < 3; round++) await request(email, greedy);

    const exceeded = await refusal(requestReset(services, email, arrival(greedy)));
    const { token } = await request(email, '192.0.2.77');

    expect(exceeded).toBe('login_rate');
    expect(await resetByLink(services, token, NEXT, arrival())).toMatchObject({ token: expect.any(String) });
  });

  it('stores a bounded number of counts for a network that makes up addresses', async () => {
    const rows = async () => (await sql`select from login_failures`).length;
    const before = await rows();

    for (let round = 0; round < 40; round++)
      await refusal(requestReset(services, `made-up-${round}@people.test`, arrival('203.0.113.99')));

    expect((await rows()) - before).toBe(41);
  });

  it('is not emailed where email is captured, because others can read the test inbox', async () => {
    const email = await person();
    const captured = { ...services, config: { ...services.config, DELIVERY: [{ kind: 'capture' as const }] } };

    const { message, done } = await requestReset(captured, email, arrival());
    await done;
    await world.drain();

    expect(message).toContain('npx postrider operators reset-password');
    expect(emailsTo(email)).toHaveLength(0);
  });
});
