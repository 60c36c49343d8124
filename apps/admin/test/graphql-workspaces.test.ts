import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createKey } from '@postrider/core/api-keys';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
let operator: string;
let admin: string;
beforeAll(async () => {
  operator = (await world.key({ scopes: ['operator'] })).secret;
  admin = (await world.key({ scopes: ['admin'] })).secret;
});

/** Runs a query and returns its data, failing on errors. */
async function ask(query: string, variables = {}, key = operator): Promise<Record<string, Record<string, unknown>>> {
  const { data, errors } = await graphql.ask(query, variables, { key });
  expect(errors).toEqual([]);
  return data as Record<string, Record<string, unknown>>;
}

const CREATE = `mutation ($input: WorkspaceInput!) {
  workspaceCreate(input: $input) {
    ... on WorkspaceCreatePayload { workspace { id name plan { name } unknownPolicy } secret }
    ... on ApiError { code reason }
  }
}`;
const SET_PLAN = `mutation ($input: PlanInput!) {
  workspaceSetPlan(input: $input) {
    ... on WorkspacePayload { workspace { id plan { name monthlyEmails } } }
    ... on ApiError { code reason message }
    ... on ForbiddenError { requiredScope }
  }
}`;

async function create(plan = 'free'): Promise<{ id: string; secret: string }> {
  const { workspaceCreate } = await ask(CREATE, { input: { name: 'Other', plan } });
  const { workspace, secret } = workspaceCreate as { workspace: { id: string }; secret: string };
  return { id: workspace.id, secret };
}

describe('workspaces', () => {
  it('can be created, listed with their usage, found by id and moved to another plan by an operator', async () => {
    const { id } = await create();
    await invoke(world.as(id), sendMessage, {
      from: 'a@sandbox.test',
      to: ['a@example.com', 'b@example.com'],
      subject: 'Hello',
      text: 'Hi',
    });

    const listed = await ask(`{
      workspaces(first: 1) { nodes { id usage { month sent limit remaining projectedEndOfMonth byDay { at value } } } }
    }`);
    const moved = await ask(SET_PLAN, { input: { id, plan: 'starter', reason: 'grown' } });
    const workspace = await ask(`query ($id: ID!) { node(id: $id) { ... on Workspace { name plan { name } } } }`, {
      id,
    });

    const day = new Date(world.clock.now()).toISOString().slice(0, 10);
    expect(listed.workspaces).toMatchObject({
      nodes: [{ id, usage: { month: day.slice(0, 7), sent: 2, limit: 3000, remaining: 2998 } }],
    });
    const { nodes } = listed.workspaces as {
      nodes: [{ usage: { byDay: unknown[]; projectedEndOfMonth: number } }];
    };
    const { usage } = nodes[0];
    expect(usage.byDay.at(-1)).toEqual({ at: `${day}T00:00:00.000Z`, value: 2 });
    expect(usage.projectedEndOfMonth).toBeGreaterThanOrEqual(2);
    expect(moved.workspaceSetPlan).toEqual({ workspace: { id, plan: { name: 'starter', monthlyEmails: 50_000 } } });
    expect(workspace.node).toEqual({ name: 'Other', plan: { name: 'starter' } });
  });

  it('show an admin only their own workspace, where they can change the name and lost-response setting', async () => {
    const { id } = await create();

    const response = await ask('{ workspace { id plan { maxRecipientsPerRequest otherPerMinute } } }', {}, admin);
    const changed = await ask(
      `mutation { workspaceUpdate(input: { name: "Mine", unknownPolicy: STOP }) {
        ... on WorkspacePayload { workspace { name unknownPolicy } } } }`,
      {},
      admin,
    );
    const foreign = await ask(
      `mutation ($id: ID!) { workspaceUpdate(input: { id: $id, name: "Mine" }) { ... on NotFoundError { reason } } }`,
      { id },
      admin,
    );
    const node = await ask('query ($id: ID!) { node(id: $id) { id } }', { id }, admin);
    const denial = await ask(SET_PLAN, { input: { id, plan: 'growth' } }, admin);
    const list = await graphql.ask('{ workspaces { nodes { id } } }', {}, { key: admin });

    expect(response.workspace).toEqual({
      id: world.workspace_id,
      plan: { maxRecipientsPerRequest: 100, otherPerMinute: 120 },
    });
    expect(changed.workspaceUpdate).toEqual({ workspace: { name: 'Mine', unknownPolicy: 'STOP' } });
    expect(foreign.workspaceUpdate).toEqual({ reason: 'workspace_not_found' });
    expect(node.node).toBe(null);
    expect(denial.workspaceSetPlan).toMatchObject({ code: 'FORBIDDEN', requiredScope: 'operator' });
    expect(list.errors[0]?.extensions).toMatchObject({ code: 'forbidden', reason: 'missing_scope' });
  });
});

describe('plans', () => {
  it('can be created, changed, made unlimited with null, and deleted', async () => {
    const fields = '... on PlanPayload { plan { name monthlyEmails sendPerMinute } } ... on ApiError { reason }';
    const change = `mutation ($input: PlanLimitsInput!) { planUpdate(input: $input) { ${fields} } }`;
    const plan = await ask(`mutation ($input: PlanLimitsInput!) { planCreate(input: $input) { ${fields} } }`, {
      input: { name: 'tiny', monthlyEmails: 10, maxRecipientsPerRequest: 5 },
    });

    const faster = await ask(change, { input: { name: 'tiny', sendPerMinute: 7 } });
    const endless = await ask(change, { input: { name: 'tiny', monthlyEmails: null } });
    const odd = await ask(change, { input: { name: 'tiny', sendPerMinute: -7 } });
    const used = await ask(
      'mutation { planDelete(input: { name: "business" }) { ... on StateError { code reason } } }',
    );
    const deletion = await ask(
      'mutation { planDelete(input: { name: "tiny" }) { ... on DeletePayload { deletedId } } }',
    );

    expect(plan.planCreate).toEqual({ plan: { name: 'tiny', monthlyEmails: 10, sendPerMinute: 1000 } });
    expect(faster.planUpdate).toEqual({ plan: { name: 'tiny', monthlyEmails: 10, sendPerMinute: 7 } });
    expect(endless.planUpdate).toEqual({ plan: { name: 'tiny', monthlyEmails: null, sendPerMinute: 7 } });
    expect(odd.planUpdate).toEqual({ reason: 'invalid_type' });
    expect(used.planDelete).toEqual({ code: 'UNPROCESSABLE', reason: 'plan_in_use' });
    expect(deletion.planDelete).toEqual({ deletedId: 'tiny' });
    const { plans } = await ask('{ plans { name } }');
    expect(plans).not.toContainEqual({ name: 'tiny' });
  });
});

describe('the viewer', () => {
  it("shows its key, the key's creator and its workspace", async () => {
    const key = await ask(
      `mutation { apiKeyCreate(input: { name: "Made", scopes: ["admin"] }) {
        ... on ApiKeyCreatePayload { secret apiKey { createdBy { kind name } } } } }`,
      {},
      admin,
    );
    const { secret, apiKey } = key.apiKeyCreate as { secret: string; apiKey: unknown };

    const { viewer } = await ask('{ viewer { key { createdBy { kind name } } workspace { id } } }', {}, secret);
    const first = await ask('{ viewer { key { createdBy { kind name } } } }', {}, world.secret);

    const own = await ask('{ viewer { scopes key { createdBy { kind } } workspace { id } } }');
    expect(own.viewer).toMatchObject({ scopes: ['operator'], workspace: { id: world.workspace_id } });
    expect(apiKey).toEqual({ createdBy: { kind: 'KEY', name: 'Test key' } });
    expect(viewer).toEqual({ key: apiKey, workspace: { id: world.workspace_id } });
    expect(first.viewer).toEqual({ key: { createdBy: { kind: 'SYSTEM', name: 'Postrider' } } });
  });
});

describe('the audit log', () => {
  const LOG = `query ($filter: AuditFilter, $after: String) {
    auditLog(first: 1, after: $after, filter: $filter) {
      nodes { id action targetId actor { kind name } via diff reason ip requestId at }
      pageInfo { hasNextPage endCursor }
    }
  }`;

  it('shows workspace entries to an admin and instance entries to an operator, page by page', async () => {
    const { id, secret } = await create();
    await ask(SET_PLAN, { input: { id, plan: 'growth', reason: 'grown' } });
    await invoke(world.as(id), createKey, { name: 'Shop', scopes: ['email:send'] });
    const filter = { action: ['workspace.plan_set', 'workspace.created'] };

    const own = await ask(LOG, { filter }, secret);
    const { nodes, pageInfo } = own.auditLog as { nodes: [{ id: string }]; pageInfo: { endCursor: string } };
    const earlier = await ask(LOG, { filter, after: pageInfo.endCursor }, secret);
    const instance = await ask(LOG, { filter: { chain: 'INSTANCE', targetId: id, action: ['workspace.plan_set'] } });
    const reads = await ask(LOG, { filter: { kind: 'READS' } }, secret);
    const changes = await ask(LOG, { filter: { ...filter, kind: 'CHANGES' } }, secret);
    const response = await graphql.ask(LOG, { filter: { chain: 'INSTANCE' } }, { key: secret });

    const set = {
      action: 'workspace.plan_set',
      targetId: id,
      actor: { kind: 'KEY', name: 'Test key' },
      via: 'GRAPHQL',
      diff: { plan: ['free', 'growth'] },
      reason: 'grown',
    };
    expect(own.auditLog).toMatchObject({ nodes: [set], pageInfo: { hasNextPage: true } });
    expect(reads.auditLog).toMatchObject({ nodes: [] });
    expect(changes.auditLog).toMatchObject({ nodes: [set] });
    expect(earlier.auditLog).toMatchObject({ nodes: [{ action: 'workspace.created' }] });
    expect(instance.auditLog).toMatchObject({ nodes: [set] });
    expect(response.errors[0]?.extensions).toMatchObject({ reason: 'missing_scope', requiredScope: 'operator' });
    const entry = await ask(
      'query ($id: ID!) { node(id: $id) { ... on AuditEntry { target { id } } } }',
      nodes[0],
      secret,
    );
    expect(entry.node).toEqual({ target: { id } });
  });

  it('can be streamed as it grows, and resumed from a cursor', async () => {
    const { id, secret } = await create();
    const query = 'subscription ($after: String) { auditLog(after: $after) { cursor node { action targetId } } }';
    const make = (name: string) => invoke(world.as(id), createKey, { name, scopes: ['email:send'] });

    const live = await follow(query, {}, secret);
    const first = await make('One');
    const event = await live.next();
    await live.stop();
    const second = await make('Two');
    const resumed = await follow(query, { after: event.auditLog.cursor }, secret);

    expect(event.auditLog.node).toEqual({ action: 'api_key.created', targetId: first.id });
    expect((await resumed.next()).auditLog.node.targetId).toBe(second.id);
    await resumed.stop();
  });
});

interface AuditEvent {
  readonly auditLog: { readonly cursor: string; readonly node: { readonly targetId: string } };
}

/** Reads a stream of server-sent events like a client, one event at a time. */
async function follow(query: string, variables: object, key: string) {
  const leave = new AbortController();
  const response = await fetch(graphql.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, variables }),
    signal: leave.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async next(): Promise<AuditEvent> {
      for (;;) {
        const match = /^data: (.+)\n\n/m.exec(text);
        if (match?.[1]) {
          text = text.slice(match.index + match[0].length);
          // The cast is safe for the fields that the query selects.
          return JSON.parse(match[1]).data as AuditEvent;
        }
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    },
    async stop() {
      await reader?.cancel();
      leave.abort();
    },
  };
}
