import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../fields/ids.ts';
import { getContent, getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { hashPassword, insertUser, listMembers, listOperators, login } from '../people/index.ts';
import { acceptInvitation, readInvitation } from './accept-invitation.ts';
import { createInvitation } from './create-invitation.ts';
import { listInvitations } from './list-invitations.ts';
import { resendInvitation } from './resend-invitation.ts';
import { revokeInvitation } from './revoke-invitation.ts';

const DAY_MS = 86_400_000;
const PASSWORD = 'correct horse: battery';
// Test worlds send to their own SMTP server, whatever the relay is.
const world = await openWorld({ DELIVERY: 'smtp://relay.test', PUBLIC_URL: 'https://mail.example.com/' });
const { services, clock } = world;
const { sql } = services;
beforeAll(() => world.domain('acme.test'));

const ctx = (workspace_id = world.workspace_id) => world.as(workspace_id);
const arrival = (address = '192.0.2.1') => ({
  request_id: newId('request', clock.now()),
  address,
  user_agent: null,
  replaces: null,
  device: null,
});
const accept = (token: string, password = PASSWORD) => acceptInvitation(services, token, password, arrival());
const refusal = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error) => ({ reason: error.reason, message: error.message }),
  );

/** Acts as a user who administers a workspace but not the instance. */
async function adminOf(workspace_id: string) {
  const id = newId('user', clock.now());
  const email = `${id}@admin.test`;
  await insertUser(sql, { id, email, password_hash: await hashPassword(PASSWORD), operator: false, vouched: true });
  await sql`
    insert into members (workspace_id, user_id, role, created_at) values (${workspace_id}, ${id}, 'admin', clock_now())`;
  await login(services, { email, password: PASSWORD }, arrival('192.0.2.9'));
  const [session] = await sql<{ id: string }[]>`select id from sessions where user_id = ${id}`;
  const actor = { kind: 'user', workspace_id, user_id: id, session_id: session?.id ?? '', email, scopes: ['admin'] };
  const person = { ...actor, kind: 'user' as const, scopes: ['admin' as const], factor_due: false };
  return { ...ctx(workspace_id), actor: person };
}

/** Delivers what is due and returns the last email to an address with the token of its link. */
async function lastEmail(to: string) {
  await world.drain();
  const email = world.smtp.messages.findLast(({ envelope_to }) => envelope_to.includes(to));
  if (!email) throw new Error(`no email to ${to}`);
  const parsed = await world.smtp.parsed(email);
  return { ...parsed, raw: email.raw.toString(), token: /\/invitation\/([\w-]+)/.exec(parsed.text ?? '')?.[1] ?? '' };
}

describe('an invitation', () => {
  it('arrives by email with a link that only its recipient sees, and makes a member once', async () => {
    const inviter = await adminOf(world.workspace_id);
    await sql`update workspaces set name = ${'Acme <b>\r\nBcc: eve@example.com'} where id = ${world.workspace_id}`;

    const { invitation, delivery } = await invoke(inviter, createInvitation, {
      email: 'Ada@Example.com',
      role: 'member',
    });
    const [message] = await sql<{ id: string }[]>`select id from messages order by id desc limit 1`;
    const content = await refusal(invoke(ctx(), getContent, { id: message?.id ?? '' }));
    const email = await lastEmail('ada@example.com');
    const opened = await readInvitation(services, email.token);
    const [first, second] = await Promise.allSettled([accept(email.token), accept(email.token)]);

    expect(delivery).toEqual({ email: 'ada@example.com', sent: 'emailed', url: null });
    expect(content).toMatchObject({ reason: 'content_gone' });
    expect(JSON.stringify(await invoke(ctx(), getMessage, { id: message?.id ?? '' }))).not.toContain(email.token);
    expect(email.subject).toBe(`${inviter.actor.email} invited you to Acme <b> Bcc: eve@example.com on Postrider`);
    expect(email.text).toContain(`https://mail.example.com/login/invitation/${email.token}\n`);
    expect(email.html).toContain('Acme &lt;b&gt; Bcc');
    expect(email.raw.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/m);
    expect(opened).toMatchObject({ email: 'ada@example.com', role: 'member', needs_password: true });
    expect([first?.status, second?.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await refusal(accept(email.token))).toMatchObject({
      reason: 'invitation_closed',
      message: expect.stringContaining('already used'),
    });
    const members = await invoke(ctx(), listMembers, { limit: 100 });
    expect(members.data.filter((member) => member.email === 'ada@example.com')).toMatchObject([{ role: 'member' }]);
    expect(await invoke(ctx(), listInvitations, {})).toMatchObject({ data: [] });
    expect(invitation).toMatchObject({ role: 'member', invited_by: inviter.actor.email });
  });

  it('gives no access before it is accepted, and none after seven days', async () => {
    await invoke(ctx(), createInvitation, { email: 'late@example.com', role: 'viewer' });
    const { token } = await lastEmail('late@example.com');
    const { data } = await invoke(ctx(), listInvitations, {});

    await clock.advance(7 * DAY_MS);

    expect(data).toMatchObject([{ email: 'late@example.com' }]);
    expect(await refusal(accept(token))).toMatchObject({ message: expect.stringContaining('expired') });
    expect(await invoke(ctx(), listInvitations, {})).toMatchObject({ data: [] });
    expect(await sql`select from users where email = 'late@example.com'`).toHaveLength(0);
  });

  it('can be resent, which ends the earlier link, and revoked, which ends the last', async () => {
    const { invitation } = await invoke(ctx(), createInvitation, { email: 'bob@example.com', role: 'viewer' });
    const id = invitation?.id ?? '';
    const first = await lastEmail('bob@example.com');
    await invoke(ctx(), resendInvitation, { id });
    const second = await lastEmail('bob@example.com');
    const early = await refusal(accept(first.token));
    const foreign = await world.workspace('free');
    const theirs = await refusal(invoke(await adminOf(foreign.workspace_id), revokeInvitation, { id }));

    await invoke(ctx(), revokeInvitation, { id });

    expect(second.token).not.toBe(first.token);
    expect(early).toMatchObject({ reason: 'invitation_closed' });
    expect(theirs).toMatchObject({ reason: 'invitation_not_found' });
    expect(await refusal(accept(second.token))).toMatchObject({ message: expect.stringContaining('revoked') });
    expect(await refusal(invoke(ctx(), resendInvitation, { id }))).toMatchObject({ reason: 'invitation_not_found' });
  });

  it('keeps the password of a vouched user, and never lets an admin take over a member of another workspace', async () => {
    const other = await world.workspace('free');
    const theirs = await adminOf(other.workspace_id);
    const email = 'shared@example.com';
    await invoke(theirs, createInvitation, { email, role: 'viewer' });
    const { token } = await lastEmail(email);
    await invoke(ctx(), createInvitation, { email, role: 'member' });
    await accept((await lastEmail(email)).token);

    const late = await refusal(accept(token, 'chosen by the admin'));
    const third = await world.workspace('free');
    const joined = await invoke(ctx(), createInvitation, { email, role: 'viewer', workspace_id: third.workspace_id });

    expect(late).toMatchObject({ reason: 'user_exists' });
    expect(joined).toEqual({ invitation: null, delivery: null });
    expect(await login(services, { email, password: PASSWORD }, arrival('192.0.2.3'))).toMatchObject({
      token: expect.any(String),
    });
  });

  it('makes an operator on acceptance, who then has only the password chosen there', async () => {
    const email = (await adminOf(world.workspace_id)).actor.email;
    await invoke(ctx(), createInvitation, { email, role: 'operator' });
    const { token } = await lastEmail(email);
    const before = await invoke(ctx(), listOperators, { limit: 100 });

    await accept(token, 'a password of the operator');

    expect(before.data.map((one) => one.email)).not.toContain(email);
    const after = await invoke(ctx(), listOperators, { limit: 100 });
    expect(after.data.map((one) => one.email)).toContain(email);
    expect(await refusal(login(services, { email, password: PASSWORD }, arrival('192.0.2.4')))).toMatchObject({
      reason: 'invalid_login',
    });
  });

  it('requires an operator to invite an operator', async () => {
    const admin = await adminOf(world.workspace_id);

    const denied = await refusal(invoke(admin, createInvitation, { email: 'eve@example.com', role: 'operator' }));

    expect(denied).toMatchObject({ reason: 'missing_scope' });
    expect(await refusal(invoke(admin, listInvitations, { target: 'instance' }))).toMatchObject({
      reason: 'missing_scope',
    });
  });

  it('is limited to a hundred emails a day per workspace, and only there', async () => {
    const { workspace_id } = await world.workspace('free');
    await sql`
      insert into invitations (id, workspace_id, email, role, token_hash, invited_by, vouched, email_count, created_at,
        sent_at, expires_at, revoked_at)
      values (${newId('invitation', clock.now())}, ${workspace_id}, 'x@example.com', 'viewer', '\\x01', 'x', false, 100,
        clock_now(), clock_now(), clock_now() + interval '7 days', clock_now())`;

    const greedy = await refusal(
      invoke(await adminOf(workspace_id), createInvitation, { email: 'y@example.com', role: 'viewer' }),
    );

    expect(greedy).toMatchObject({ reason: 'invitation_rate' });
    expect(await invoke(ctx(), createInvitation, { email: 'y@example.com', role: 'viewer' })).toMatchObject({
      delivery: { sent: 'emailed' },
    });
  });
});

describe('an invitation where email is captured', () => {
  it('is also shown as a link, and is in no test inbox but that of the inviting workspace', async () => {
    const captured = { ...services.config, DELIVERY: [{ kind: 'capture' as const }] };
    const own = { ...ctx(), config: captured };
    const other = await world.workspace('free');

    const member = await invoke(own, createInvitation, { email: 'captured@example.com', role: 'viewer' });
    const foreign = await invoke({ ...(await adminOf(other.workspace_id)), config: captured }, createInvitation, {
      email: 'elsewhere@example.com',
      role: 'viewer',
    });
    const operator = await invoke(own, createInvitation, { email: 'operated@example.com', role: 'operator' });

    const url = expect.stringContaining('https://mail.example.com/login/invitation/');
    expect(member.delivery).toMatchObject({ sent: 'captured', url });
    expect(foreign.delivery).toMatchObject({ sent: 'unsent', url });
    expect(operator.delivery).toMatchObject({ sent: 'unsent', url });
  });
});
