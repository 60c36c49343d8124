import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { workOff } from '@postrider/core/bulk';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GraphqlResponse, openGraphql } from './graphql-server.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld({ RETRY_SCHEDULE: '1h,1h' });
const graphql = await openGraphql(world);
let other: { workspace_id: string; secret: string };
let operator: string;
beforeAll(async () => {
  other = await world.workspace('free');
  operator = (await world.key({ scopes: ['operator'] })).secret;
});
afterEach(() => world.smtp.script(() => ({ kind: 'accept' })));

async function send(fields: Record<string, unknown>): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  return (await invoke(ctx, sendMessage, mail)).id;
}
const inAnHour = () => new Date(world.clock.now() + HOUR_MS).toISOString();
async function work(): Promise<void> {
  for (const job of await world.services.jobs.fetch('bulk.run', 10)) await workOff(world.services, job.data);
}

const REFUSAL = '... on ApiError { code reason } ... on InvalidInputError { fields { path reason } }';
const PREVIEW = `mutation ($input: BulkInput!) {
  bulkPreview(input: $input) {
    __typename
    ... on BulkPreview { token action matched matchedExact sample skipped { reason count exact } warning }
    ${REFUSAL}
  }
}`;
const RUN = `mutation ($input: BulkRunInput!) {
  bulkRun(input: $input) { ... on BulkPayload { bulk { id status action matched reason ratePerSecond } } ${REFUSAL} }
}`;
const field = <T>(response: GraphqlResponse, name: string): T => {
  expect(response.errors).toEqual([]);
  return response.data?.[name] as T;
};
async function preview(input: Record<string, unknown>, key?: string) {
  const response = await graphql.ask(PREVIEW, { input }, key === undefined ? {} : { key });
  return field<Record<string, unknown>>(response, 'bulkPreview');
}

describe('a bulk operation over GraphQL', () => {
  it('can be previewed, run, listed, and read along with its failures', async () => {
    const id = await send({ tags: ['gql'], scheduled_at: inAnHour() });
    await world.clock.advance(10);

    const result = await preview({ action: 'CANCEL', messages: { tags: ['gql'], status: ['SCHEDULED'] } });
    const run = await graphql.ask(RUN, { input: { token: result.token, reason: 'a mistake', ratePerSecond: 500 } });
    const { bulk } = field<{ bulk: { id: string } }>(run, 'bulkRun');
    await work();
    const read = await graphql.ask(
      `query ($id: ID!) {
        node(id: $id) { ... on BulkOperation { status done failed skipped filter createdBy { kind } errors { id reason } } }
        bulkOperations(first: 5) { nodes { id } }
      }`,
      { id: bulk.id },
    );

    expect(result).toMatchObject({
      __typename: 'BulkPreview',
      action: 'CANCEL',
      matched: 1,
      sample: [id],
      skipped: [],
    });
    expect(bulk).toMatchObject({
      status: 'QUEUED',
      action: 'CANCEL',
      matched: 1,
      reason: 'a mistake',
      ratePerSecond: 500,
    });
    expect(read.errors).toEqual([]);
    expect(read.data).toEqual({
      node: {
        status: 'COMPLETED',
        done: 1,
        failed: 0,
        skipped: 0,
        filter: { tag: ['gql'], status: 'scheduled' },
        createdBy: { kind: 'KEY' },
        errors: [],
      },
      bulkOperations: { nodes: [{ id: bulk.id }] },
    });
  });

  it('gets no points refunded for a negative page size', async () => {
    const ask = (first: number) =>
      graphql.ask(
        `query ($id: ID!, $first: Int) {
          node(id: $id) { ... on BulkOperation { items(first: $first) { nodes { id } } } }
          auditVerify { verified }
        }`,
        { id: 'blk_00000000000000000000000000', first },
      );

    const [none, negative] = [await ask(0), await ask(-100_000)];

    const requested = ({ extensions }: typeof none) => (extensions.cost as { requested: number }).requested;
    expect(requested(negative)).toBe(requested(none));
    expect(requested(negative)).toBeGreaterThan(100);
  });

  it('is rejected if a filter is missing, contains null, or belongs to another action', async () => {
    const refusal = (path: string[], reason: string) => ({
      __typename: 'InvalidInputError',
      code: 'INVALID_REQUEST',
      fields: [{ path, reason }],
    });
    expect(await preview({ action: 'CANCEL' })).toMatchObject(refusal(['filter'], 'missing_field'));
    expect(await preview({ action: 'CANCEL', messages: { domain: null } })).toMatchObject(
      refusal(['domain'], 'invalid_type'),
    );
    expect(await preview({ action: 'CANCEL', messages: { status: [] } })).toMatchObject({ reason: 'invalid_status' });
    expect(await preview({ action: 'CANCEL', messages: {}, jobs: { queue: 'bulk.run' } })).toMatchObject({
      reason: 'invalid_type',
    });
    expect(await preview({ action: 'REDRIVE', jobs: { queue: 'bulk.run' } })).toMatchObject({
      __typename: 'BulkPreview',
    });
  });

  it('cannot be seen, run or stopped by a caller without permission', async () => {
    const result = await preview({ action: 'EXPORT', messages: {} });
    const foreign = await graphql.ask(RUN, { input: { token: result.token, reason: 'mine' } }, { key: other.secret });
    const { bulk } = field<{ bulk: { id: string } }>(
      await graphql.ask(RUN, { input: { token: result.token, reason: 'asked for' } }),
      'bulkRun',
    );
    const query = `query ($id: ID!) { node(id: $id) { id } bulkOperations { nodes { id } } }`;
    const cancel = `mutation ($id: ID!) {
      bulkCancel(input: { id: $id, reason: "not needed" }) { ... on BulkPayload { bulk { status } } ${REFUSAL} }
    }`;

    expect(field(foreign, 'bulkRun')).toMatchObject({ reason: 'invalid_preview' });
    expect((await graphql.ask(query, { id: bulk.id }, { key: other.secret })).data).toEqual({
      node: null,
      bulkOperations: { nodes: [] },
    });
    expect(field(await graphql.ask(cancel, { id: bulk.id }, { key: other.secret }), 'bulkCancel')).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'bulk_not_found',
    });
    expect(
      await preview({ action: 'EXPORT', messages: {}, workspaceId: other.workspace_id }, other.secret),
    ).toMatchObject({ __typename: 'BulkPreview' });
    expect(
      await preview({ action: 'EXPORT', messages: {}, workspaceId: world.workspace_id }, other.secret),
    ).toMatchObject({ __typename: 'NotFoundError', reason: 'workspace_not_found' });
    expect((await graphql.ask(query, { id: bulk.id }, { key: operator })).data).toMatchObject({
      node: { id: bulk.id },
    });
    expect(field(await graphql.ask(cancel, { id: bulk.id }, { key: operator }), 'bulkCancel')).toEqual({
      bulk: { status: 'CANCELED' },
    });
  });
});

describe('a subscription to a bulk operation', () => {
  const query = 'subscription ($id: ID!) { bulkOperation(id: $id) { id status done } }';
  const follow = async (id: string, key: string) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
    };
    const response = await fetch(graphql.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query, variables: { id } }),
    });
    // The stream closes when the operation ends.
    const text = await response.text();
    return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
  };

  it('reports progress to permitted callers until the operation finishes', async () => {
    for (let count = 0; count < 3; count++) await send({ tags: ['followed'], scheduled_at: inAnHour() });
    await world.clock.advance(10);
    const result = await preview({ action: 'CANCEL', messages: { tags: ['followed'] } });
    const { bulk } = field<{ bulk: { id: string } }>(
      await graphql.ask(RUN, { input: { token: result.token, reason: 'watched', ratePerSecond: 2 } }),
      'bulkRun',
    );

    const foreign = await follow(bulk.id, other.secret);
    const worker = world.services.jobs.work('bulk.run', {
      handler: (data) => workOff(world.services, data),
      concurrency: () => 1,
    });
    const updates = await follow(bulk.id, world.secret);
    await worker.stop();

    expect(foreign).toMatchObject([{ errors: [{ extensions: { reason: 'bulk_not_found' } }] }]);
    expect(updates.at(0)?.data.bulkOperation.id).toBe(bulk.id);
    expect(updates.at(-1)?.data).toEqual({ bulkOperation: { id: bulk.id, status: 'COMPLETED', done: 3 } });
  });
});

describe('a single message', () => {
  it('can be sent or retried immediately', async () => {
    const scheduled = await send({ scheduled_at: inAnHour() });
    const now = await graphql.ask(
      `mutation ($id: ID!) { messageSendNow(input: { id: $id }) { ... on MessagePayload { email { id } } ${REFUSAL} } }`,
      { id: scheduled },
    );
    world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));
    const deferred = await send({});
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));
    const retry = `mutation ($id: ID!) {
      messageRetry(input: { id: $id }) { ... on MessagePayload { email { id } } ${REFUSAL} }
    }`;
    const repeat = await graphql.ask(retry, { id: deferred });
    await world.drain();
    const second = await graphql.ask(retry, { id: deferred });

    expect(field(now, 'messageSendNow')).toEqual({ email: { id: scheduled } });
    expect(field(repeat, 'messageRetry')).toEqual({ email: { id: deferred } });
    expect(field(second, 'messageRetry')).toEqual({ code: 'UNPROCESSABLE', reason: 'not_deferred' });
    expect(world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${deferred}@`))).toHaveLength(1);
  });
});
