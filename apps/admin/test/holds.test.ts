import { randomUUID } from 'node:crypto';
import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { noteWorker } from '@postrider/core/delivery';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
const admin = await openAdmin(world);
afterEach(async () => {
  await world.services.sql`delete from holds`;
});

const create = `mutation ($input: HoldInput!) {
  holdCreate(input: $input) {
    __typename
    ... on HoldPayload {
      hold { id scope value workspaceId reason status createdBy { kind name } expiresAt resumeRatePerMin affected }
    }
    ... on ApiError { reason message }
    ... on ForbiddenError { requiredScope }
  }
}`;
const release = `mutation ($input: HoldReleaseInput!) {
  holdRelease(input: $input) { ... on HoldPayload { hold { id status endedBy } } ... on ApiError { reason } }
}`;
const input = { scope: 'DESTINATION', value: 'Held.example.com', reason: 'An outage there' };

async function hold(fields = {}): Promise<string> {
  const response = await graphql.ask(create, { input: { ...input, ...fields } });
  return (response.data as { holdCreate: { hold: { id: string } } }).holdCreate.hold.id;
}

describe('holds over GraphQL', () => {
  it('can be created, listed, found by id and released', async () => {
    const result = await graphql.ask(create, { input: { ...input, resumeRatePerMin: 60 } });

    expect(result.errors).toEqual([]);
    const facts = {
      scope: 'DESTINATION',
      value: 'held.example.com',
      workspaceId: null,
      reason: 'An outage there',
      status: 'ACTIVE',
      resumeRatePerMin: 60,
      affected: 0,
    };
    expect(result.data).toMatchObject({ holdCreate: { hold: { ...facts, createdBy: { kind: 'KEY' } } } });
    const { id } = (result.data as { holdCreate: { hold: { id: string } } }).holdCreate.hold;
    const response = await graphql.ask('query ($id: ID!) { holds { id } node(id: $id) { id ... on Hold { value } } }', {
      id,
    });
    expect(response.data).toEqual({ holds: [{ id }], node: { id, value: 'held.example.com' } });

    const released = await graphql.ask(release, { input: { id } });

    expect(released.data).toEqual({ holdRelease: { hold: { id, status: 'RESUMING', endedBy: 'RELEASE' } } });
    expect((await graphql.ask('{ holds { id } }')).data).toEqual({ holds: [] });
    const lifted = await graphql.ask(release, { input: { id, atOnce: true } });
    expect(lifted.data).toEqual({ holdRelease: { hold: { id, status: 'ENDED', endedBy: 'RELEASE' } } });
    expect((await graphql.ask('{ holds(active: false) { id } }')).data).toEqual({ holds: [{ id }] });
  });

  it("are rejected as a member of the result union, with the core's reason", async () => {
    await hold();
    const { secret } = await world.key({ scopes: ['admin'] });

    const duplicate = await graphql.ask(create, { input });
    const small = await graphql.ask(create, { input }, { key: secret });
    const absent = await graphql.ask(release, { input: { id: 'hld_none' } });

    expect(duplicate.data).toMatchObject({ holdCreate: { __typename: 'StateError', reason: 'hold_exists' } });
    expect(small.data).toMatchObject({ holdCreate: { __typename: 'ForbiddenError', requiredScope: 'operator' } });
    expect(absent.data).toMatchObject({ holdRelease: { reason: 'hold_not_found' } });
  });

  it('are given as the reason why a message and its recipients are waiting', async () => {
    const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
    const mail = {
      from: 'shop@sandbox.test',
      to: ['ada@held.example.com', 'bob@example.com'],
      subject: 'Hi',
      text: 'Hi',
    };
    const { id } = await invoke(ctx, sendMessage, mail);
    const hold_id = await hold();

    const response = await graphql.ask(
      `query ($id: ID!) { node(id: $id) { ... on Message {
        waiting { __typename ... on WaitHold { reason until hold { id scope } } }
        recipients { nodes { address waiting { __typename } } }
      } } }`,
      { id },
    );

    expect(response.errors).toEqual([]);
    expect(response.data).toMatchObject({
      node: {
        waiting: {
          __typename: 'WaitHold',
          reason: 'An outage there',
          until: expect.any(String),
          hold: { id: hold_id, scope: 'DESTINATION' },
        },
        recipients: {
          nodes: expect.arrayContaining([
            { address: 'ada@held.example.com', waiting: { __typename: 'WaitHold' } },
            { address: 'bob@example.com', waiting: { __typename: 'WaitNoWorker' } },
          ]),
        },
      },
    });
  });
});

describe('the queue position over GraphQL', () => {
  it('shows how many emails are ahead of a message, and when the message is due to be sent', async () => {
    const ctx = world.as(world.workspace_id);
    await noteWorker(world.services.sql, { worker: randomUUID(), stopped: false, ended_per_minute: 60 }, 10_000);
    await world.drain();
    const ids: string[] = [];
    for (const to of ['a@example.com', 'b@example.com', 'c@example.com']) {
      await world.clock.advance(10);
      ids.push((await invoke(ctx, sendMessage, { from: 'shop@sandbox.test', to, subject: 'Hi', text: 'Hi' })).id);
    }

    const response = await graphql.ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Message {
        waiting { ... on WaitInLine { ahead etaSeconds } }
        recipients { nodes { waiting { ... on WaitInLine { ahead etaSeconds } } } }
      } } }`,
      { ids },
    );

    expect(response.errors).toEqual([]);
    const places = [0, 1, 2].map((ahead) => ({ ahead, etaSeconds: ahead + 1 }));
    expect(response.data).toEqual({
      nodes: places.map((waiting) => ({ waiting, recipients: { nodes: [{ waiting }] } })),
    });
  });
});

describe('holds over tRPC', () => {
  it('can be created, listed, read and released by operators', async () => {
    const { api } = await signedIn(world, admin, 'operator');
    const creation = await api.holds.create.mutate({ scope: 'queue', value: 'domain.recheck', reason: 'Look first' });

    expect((await api.holds.list.query()).data).toMatchObject([{ id: creation.id, created_by: { kind: 'user' } }]);
    expect(await api.holds.get.query({ hold_id: creation.id })).toMatchObject({ value: 'domain.recheck' });
    expect(await api.holds.release.mutate({ hold_id: creation.id })).toMatchObject({ status: 'ended' });
  });

  it('are unavailable to a workspace admin if they are instance-wide', async () => {
    const { api } = await signedIn(world, admin, 'admin');

    const refusal = await refusalOf(api.holds.create.mutate({ scope: 'queue', value: 'domain.recheck', reason: 'No' }));

    expect(refusal).toMatchObject({ status: 403, reason: 'missing_scope' });
  });
});
