import { invoke } from '@postrider/core';
import { setSignInPolicy, type WorkspaceRole } from '@postrider/core/people';
import { totpCode } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { appRouter } from '../src/trpc/router.ts';
import { openAdmin } from './admin-server.ts';
import { refusalOf, type SignedIn, signedIn } from './signed-in.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const factor_required = { status: 403, reason: 'factor_required' };

const world = await openWorld({ PUBLIC_URL: 'http://127.0.0.1' });
const { sql } = world.services;
const admin = await openAdmin(world);
beforeEach(() => sql`delete from sign_in_policies`);

type Policy = Parameters<SignedIn['api']['people']['setSignInPolicy']['mutate']>[0];

const set = (policy: Policy, workspace_id = world.workspace_id) =>
  invoke(world.as(workspace_id), setSignInPolicy, policy);
const instance = (second_factor: Policy['second_factor'], grace_days = 0) =>
  set({ access: 'instance', second_factor, grace_days });
const workspace = (second_factor: Policy['second_factor'], grace_days = 0, workspace_id = world.workspace_id) =>
  set({ access: 'workspace', second_factor, grace_days }, workspace_id);

/** Returns whether a user may do something in their workspace, or must add a second factor first. */
async function outcome({ api }: Pick<SignedIn, 'api'>): Promise<'works' | 'factor_required'> {
  const call = api.domains.list.query({});
  return call.then(
    () => 'works' as const,
    async () => {
      expect(await refusalOf(call)).toMatchObject(factor_required);
      return 'factor_required' as const;
    },
  );
}

async function addTotp({ api }: Pick<SignedIn, 'api'>): Promise<void> {
  const { secret } = await api.people.beginTotp.mutate({});
  await api.people.activateTotp.mutate({ code: totpCode(secret, world.clock.now()) });
}

describe('a sign-in policy', () => {
  it.each([
    ['workspace', 'required', ['viewer', 'admin']],
    ['workspace', 'required_for_admins', ['admin']],
    ['workspace', 'optional', []],
    ['instance', 'required', ['viewer', 'admin', 'operator']],
    ['instance', 'required_for_admins', ['admin', 'operator']],
    ['instance', 'optional', []],
  ] as const)(
    'stops only the people that it names: set for the %s, %s stops %s',
    async (access, second_factor, stopped) => {
      await set({ access, second_factor, grace_days: 0 });
      const outcomes = [];
      for (const role of ['viewer', 'admin', 'operator'] as const)
        outcomes.push([role, await outcome(await signedIn(world, admin, role))]);

      const is_stopped = (role: string) => (stopped as readonly string[]).includes(role);
      expect(outcomes).toEqual(
        ['viewer', 'admin', 'operator'].map((role) => [role, is_stopped(role) ? 'factor_required' : 'works']),
      );
    },
  );

  it('lets people do nothing but add a second factor, and everything after that', async () => {
    const person = await signedIn(world, admin, 'operator');
    await instance('required');

    expect(await person.api.people.me.query()).toMatchObject({ factor_due: true, factor_due_at: expect.any(String) });
    expect(await refusalOf(person.api.emails.list.query({}))).toMatchObject(factor_required);
    expect(await refusalOf(person.api.session.token.mutate({}))).toMatchObject(factor_required);
    expect(await refusalOf(person.api.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] }))).toMatchObject(
      factor_required,
    );
    expect(await refusalOf(person.api.people.setSignInPolicy.mutate({ second_factor: 'optional' }))).toMatchObject(
      factor_required,
    );
    const page = await fetch(`http://127.0.0.1:${admin.port}/w/${world.workspace_id}/graphiql`, {
      headers: { cookie: person.cookie },
      redirect: 'manual',
    });
    expect(page.headers.get('location')).toBe(`/w/${world.workspace_id}/settings/account`);
    await addTotp(person);

    expect(await outcome(person)).toBe('works');
    expect(await person.api.people.me.query()).toMatchObject({ factor_due: false, factor_due_at: null });
  });

  it('lets people without a second factor call nothing but what concerns their own sign-in', async () => {
    const person = await signedIn(world, admin, 'operator');
    await instance('required');
    const allowed = [];
    // The cast is safe because the router is typed as a tree but is a single record by path at runtime.
    const procedures = appRouter._def.procedures as unknown as Record<string, { readonly _def: { type: string } }>;
    for (const [path, procedure] of Object.entries(procedures)) {
      // A stream answers as long as it is open; it follows a workspace, which has its own check.
      if (procedure._def.type === 'subscription') continue;
      const method = procedure._def.type === 'mutation' ? 'POST' : 'GET';
      const response = await fetch(
        `http://127.0.0.1:${admin.port}/trpc/${path}${method === 'GET' ? '?input={}' : ''}`,
        {
          method,
          headers: { cookie: person.cookie, 'x-postrider': '1', 'content-type': 'application/json' },
          ...(method === 'POST' && { body: 'null' }),
        },
      );
      if (!(await response.text()).includes('"factor_required"')) allowed.push(path);
    }

    expect(allowed.toSorted()).toEqual([
      'people.activateTotp',
      'people.beginTotp',
      'people.changePassword',
      'people.endOtherSessions',
      'people.endSession',
      'people.factors',
      'people.me',
      'people.notices',
      'people.removeTotp',
      'people.renewRecoveryCodes',
      'people.sessions',
      'people.switchWorkspace',
    ]);
  });

  it('revokes bearer tokens of people without a second factor', async () => {
    const person = await signedIn(world, admin, 'admin');
    const { token } = await person.api.session.token.mutate({});
    const graphql = () =>
      fetch(`http://127.0.0.1:${admin.port}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ workspace { id } }' }),
      }).then((response) => response.text());
    expect(await graphql()).not.toContain('factor_required');
    await workspace('required');

    expect(await graphql()).toContain('factor_required');
  });

  it('gives a grace period, from the policy or from when someone joined', async () => {
    await world.clock.freeze(new Date(world.clock.now()));
    const early = await signedIn(world, admin, 'viewer');
    await workspace('required', 7);
    expect(await outcome(early)).toBe('works');
    const { factor_due_at } = await early.api.people.me.query();
    expect(Date.parse(factor_due_at ?? '')).toBe(world.clock.now() + 7 * DAY_MS);
    await world.clock.advance(6 * DAY_MS);
    const late = await signedIn(world, admin, 'viewer');
    await sql`update sessions set last_used_at = clock_now(), created_at = clock_now()`;
    expect([await outcome(early), await outcome(late)]).toEqual(['works', 'works']);
    await world.clock.advance(DAY_MS);
    await sql`update sessions set last_used_at = clock_now(), created_at = clock_now()`;

    expect([await outcome(early), await outcome(late)]).toEqual(['factor_required', 'works']);
    // A changed grace period does not begin again.
    await workspace('required', 8);
    expect(await outcome(early)).toBe('works');
  });

  it('counts in its workspace only, and the stricter of two counts', async () => {
    const other = await world.workspace('free');
    const here = await signedIn(world, admin, 'viewer');
    const there = await signedIn(world, admin, 'viewer', other.workspace_id);
    await workspace('required', 0, other.workspace_id);
    expect([await outcome(here), await outcome(there)]).toEqual(['works', 'factor_required']);

    await instance('required', 30);
    expect([await outcome(here), await outcome(there)]).toEqual(['works', 'factor_required']);
    await instance('required_for_admins');
    await workspace('optional', 0, other.workspace_id);
    expect([await outcome(here), await outcome(there)]).toEqual(['works', 'works']);
  });

  it('keeps the second factor from being removed, also in another workspace of the person', async () => {
    const other = await world.workspace('free');
    const person = await signedIn(world, admin, 'viewer');
    await addTotp(person);
    await workspace('required', 0, other.workspace_id);
    await sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${other.workspace_id}, ${person.user_id}, 'viewer', clock_now())`;

    expect(await refusalOf(person.api.people.removeTotp.mutate({}))).toMatchObject({
      status: 422,
      reason: 'last_factor',
    });
    await workspace('required_for_admins', 0, other.workspace_id);
    expect(await person.api.people.removeTotp.mutate({})).toMatchObject({ removed: true });
  });

  it.each(['viewer', 'admin'] satisfies WorkspaceRole[])(
    'cannot be read or set for the instance by a %s',
    async (role) => {
      const { api } = await signedIn(world, admin, role);
      const forbidden = { status: 403, reason: 'missing_scope' };

      expect(await refusalOf(api.people.signInPolicy.query({ access: 'instance' }))).toMatchObject(forbidden);
      const change = api.people.setSignInPolicy.mutate({ access: 'instance', second_factor: 'optional' });
      expect(await refusalOf(change)).toMatchObject(forbidden);
    },
  );

  it('is audited with what has changed', async () => {
    const { api } = await signedIn(world, admin, 'admin');
    await addTotp({ api });

    expect(await api.people.setSignInPolicy.mutate({ second_factor: 'required', grace_days: 3 })).toMatchObject({
      access: 'workspace',
      second_factor: 'required',
      grace_days: 3,
    });
    const [entry] = await sql<{ diff: string; address: string }[]>`
      select diff, address from audit_log where action = 'sign_in_policy.set' order by at desc, sequence desc limit 1`;
    expect(JSON.parse(entry?.diff ?? '')).toMatchObject({ second_factor: ['optional', 'required'] });
    expect(entry?.address).toMatch(/^127\.0\.0\.1$|^::1$/);
  });

  it('leaves API keys as they are', async () => {
    await instance('required');
    await world.clock.advance(HOUR_MS);

    const { secret } = await world.workspace('business');
    const response = await fetch(`http://127.0.0.1:${admin.port}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ workspace { id } }' }),
    });
    expect(await response.text()).not.toContain('factor_required');
  });
});
