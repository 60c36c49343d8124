import { invoke } from '@postrider/core';
import { createKey } from '@postrider/core/api-keys';
import { createPlan, updatePlan } from '@postrider/core/workspaces';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { countEach, fillWindow } from './rate-windows.ts';
import { openResend } from './resend-server.ts';
import { type ApiResponse, errorOf, openRest, startRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
const peer = endAfterTests(await startRest(await world.peer(), world.secret));
const resend = await openResend(world);

const CONCURRENT = 20;
const NOW = new Date('2031-05-10T12:00:05.000Z');
let serial = 0;
beforeEach(() => world.clock.freeze(NOW));

/** Creates a workspace on its own plan, with two keys and a domain. */
async function workspaceWith(limits: { readonly workspace_rate?: number; readonly send_per_minute?: number }) {
  const plan = `rate-${serial++}`;
  await invoke(world.as(world.workspace_id), createPlan, { name: plan, recipients_per_request: 10, ...limits });
  const { workspace_id, secret } = await world.workspace('free');
  await world.services.sql`update workspaces set plan = ${plan} where id = ${workspace_id}`;
  const second = await invoke(world.as(workspace_id), createKey, { name: 'Second key', scopes: ['admin'] });
  await world.domain(`${plan}.test`, workspace_id);
  const email = { from: `shop@${plan}.test`, to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  return { workspace_id, plan, keys: [secret, second.secret] as const, email };
}
type Workspace = Awaited<ReturnType<typeof workspaceWith>>;

const fill = ({ workspace_id }: Workspace, used: number) => fillWindow(world, workspace_id, 'workspace', used);
const serverOf = (number: number) => (number % 2 ? rest : peer);
const send = ({ keys, email }: Workspace, number = 0) =>
  serverOf(number).call('POST', '/email/send', { key: keys[number % 3 ? 0 : 1], body: email });
const outcomeOf = (response: ApiResponse) => (response.status === 429 ? errorOf(response).reason : 'passed');

async function sharedWindow({ workspace_id }: Workspace): Promise<number | null> {
  const [row] = await world.services.sql<{ used: number }[]>`
    select used from rate_windows where class = 'workspace' and subject = ${workspace_id}`;
  return row?.used ?? null;
}

describe("a plan's workspace_rate limit", () => {
  it("fairness P15: is never exceeded by two keys' concurrent requests in all classes on two processes", async () => {
    const workspace = await workspaceWith({ workspace_rate: 50 });
    await fill(workspace, 43);
    const calls = [
      (number: number) => send(workspace, number),
      (number: number) => serverOf(number).call('GET', '/email/logs', { key: workspace.keys[0] }),
      (number: number) => serverOf(number).call('GET', '/domains', { key: workspace.keys[1] }),
    ];

    const responses = await Promise.all(
      Array.from({ length: CONCURRENT }, (_, number) => calls[number % 3]?.(number) ?? send(workspace)),
    );

    expect(countEach(responses.map(outcomeOf))).toEqual(
      new Map([
        ['passed', 7],
        ['workspace_rate', CONCURRENT - 7],
      ]),
    );
  });

  it.each([false, true])('fairness P15: is never exceeded by concurrent sends with cached keys: %s', async (cached) => {
    const workspace = await workspaceWith({ workspace_rate: 50 });
    if (cached) for (let number = 0; number < 12; number++) expect((await send(workspace, number)).status).toBe(202);
    await fill(workspace, 47);

    const responses = await Promise.all(Array.from({ length: CONCURRENT }, (_, number) => send(workspace, number)));

    expect(countEach(responses.map(outcomeOf))).toEqual(
      new Map([
        ['passed', 3],
        ['workspace_rate', CONCURRENT - 3],
      ]),
    );
  });

  it('fairness P15: rejects either key after the last allowed request, and resets after a minute', async () => {
    const workspace = await workspaceWith({ workspace_rate: 3 });
    const statuses = [];
    for (const number of [0, 1, 2]) statuses.push((await send(workspace, number)).status);
    expect(statuses).toEqual([202, 202, 202]);

    for (const key of workspace.keys) {
      for (const [method, path] of [
        ['POST', '/email/send'],
        ['GET', '/email/logs'],
        ['GET', '/usage'],
      ] as const) {
        const response = await rest.call(method, path, { key, ...(method === 'POST' && { body: workspace.email }) });
        expect(errorOf(response)).toMatchObject({
          code: 'rate_limited',
          reason: 'workspace_rate',
          message: 'The plan allows all API keys of the workspace together 3 requests per minute. Retry in 55 s.',
        });
        expect(response.headers.get('retry-after')).toBe('55');
        expect(response.headers.get('x-ratelimit-limit')).toBe('3');
        expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
        expect(response.headers.get('ratelimit-policy')).toBe('"workspace";q=3;w=60');
      }
    }

    await world.clock.freeze(new Date(NOW.getTime() + 60_000));
    const usage = await rest.call('GET', '/usage', { key: workspace.keys[0] });
    expect(usage.body.plan_use).toMatchObject({ workspace_rate: { used: 1, limit: 3 } });
    expect(usage.headers.get('ratelimit-policy')).toBe('"default";q=120;w=60');
  });

  it('counts requests to /resend', async () => {
    const workspace = await workspaceWith({ workspace_rate: 50 });
    await fill(workspace, 49);
    const ask = () => fetch(`${resend.url}/domains`, { headers: { authorization: `Bearer ${workspace.keys[0]}` } });

    const responses = [await ask(), await ask()];

    expect(responses.map(({ status }) => status)).toEqual([200, 429]);
    expect(responses[1]?.headers.get('retry-after')).toBe('55');
  });

  it.each([1, CONCURRENT])("does not count requests that exceed their key's own limit, %i at a time", async (count) => {
    const workspace = await workspaceWith({ workspace_rate: 10, send_per_minute: 2 });
    const [key] = workspace.keys;
    const sendWithFirst = () => rest.call('POST', '/email/send', { key, body: workspace.email });

    const responses = [];
    while (responses.length < CONCURRENT)
      responses.push(...(await Promise.all(Array.from({ length: count }, sendWithFirst))));

    expect(countEach(responses.map(outcomeOf))).toEqual(
      new Map([
        ['passed', 2],
        ['send_rate', CONCURRENT - 2],
      ]),
    );
    expect(await sharedWindow(workspace)).toBe(2);
    expect((await rest.call('GET', '/domains', { key: workspace.keys[1] })).status).toBe(200);
  });

  it('leaves requests unlimited and uncounted while null, and applies from the next request once set', async () => {
    const workspace = await workspaceWith({});
    for (let number = 0; number < 6; number++) expect((await send(workspace, number)).status).toBe(202);
    const usage = await rest.call('GET', '/usage', { key: workspace.keys[0] });
    expect(usage.body.plan_use).toMatchObject({ workspace_rate: { used: 0, limit: null } });
    expect(await sharedWindow(workspace)).toBeNull();

    await invoke(world.as(world.workspace_id), updatePlan, { name: workspace.plan, workspace_rate: 1 });

    expect((await send(workspace)).status).toBe(202);
    expect(outcomeOf(await send(workspace))).toBe('workspace_rate');
  });

  it('fairness P15: does not affect another workspace, even on the same plan', async () => {
    const greedy = await workspaceWith({ workspace_rate: 20 });
    const neighbor = await workspaceWith({});
    await world.services.sql`update workspaces set plan = ${greedy.plan} where id = ${neighbor.workspace_id}`;
    await fill(greedy, 20);

    const responses = await Promise.all(
      Array.from({ length: CONCURRENT }, async (_, number) => [
        await send(greedy, number),
        await send(neighbor, number),
      ]),
    );

    const [rejected, passed] = [responses.map(([first]) => first), responses.map(([, second]) => second)];
    expect(rejected.map((response) => response && outcomeOf(response))).toEqual(
      Array(CONCURRENT).fill('workspace_rate'),
    );
    expect(passed.map((response) => response?.status)).toEqual(Array(CONCURRENT).fill(202));
  });
});
