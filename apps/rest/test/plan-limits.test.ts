import { invoke } from '@postrider/core';
import { recordCapture, trimCaptures } from '@postrider/core/captures';
import { inviteMember } from '@postrider/core/people';
import { createPlan } from '@postrider/core/workspaces';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { errorOf, openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
const other = await openRest(world);

const CONCURRENT = 20;
let serial = 0;

type Limits = Readonly<Record<string, number>>;

/** Creates a workspace on its own plan, with a first key. */
async function workspaceWith(limits: Limits) {
  const name = `limited-${serial++}`;
  await invoke(world.as(world.workspace_id), createPlan, { name, recipients_per_request: 10, ...limits });
  const workspace = await world.workspace('free');
  await world.services.sql`update workspaces set plan = ${name} where id = ${workspace.workspace_id}`;
  return { ...workspace, plan: name };
}

const serverOf = (number: number) => (number % 2 ? rest : other);

const resources = [
  ['api_key_limit', 'api_keys', 'key_limit', '/api-keys', () => ({ name: `K${serial++}`, scopes: ['email:send'] }), 1],
  ['domain_limit', 'domains', 'domain_limit', '/domains', () => ({ name: `limited${serial++}.example` }), 0],
  ['webhook_limit', 'webhooks', 'webhook_limit', '/webhooks', () => ({ url: `http://localhost:4000/${serial++}` }), 0],
] as const;

describe('a plan limit', () => {
  it.each(resources)('fairness N10: is never exceeded, either concurrently or sequentially: %s', async (...args) => {
    const [limit, resource, reason, path, body, before] = args;
    const { secret: key, plan } = await workspaceWith({ [limit]: before + 3 });

    const responses = await Promise.all(
      Array.from({ length: CONCURRENT }, (_, number) => serverOf(number).call('POST', path, { key, body: body() })),
    );

    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    const rejected = responses.filter(({ status }) => status === 422);
    expect(rejected).toHaveLength(CONCURRENT - 3);
    for (const response of rejected) {
      expect(errorOf(response)).toMatchObject({
        reason,
        limit: before + 3,
        used: before + 3,
        message: expect.stringContaining(`The plan ${plan} allows ${before + 3}`),
      });
    }
    const usage = await rest.call('GET', '/usage', { key });
    expect(usage.body.plan_use).toMatchObject({ [resource]: { used: before + 3, limit: before + 3 } });
    expect((await rest.call('POST', path, { key, body: body() })).status).toBe(422);
  });

  it('fairness N10: is never exceeded by concurrent invitations (member_limit)', async () => {
    const { workspace_id, secret: key } = await workspaceWith({ member_limit: 2 });
    const invite = (number: number) =>
      invoke(world.as(workspace_id), inviteMember, {
        email: `m${number}@limited.test`,
        role: 'viewer',
        entry: 'login_link',
      });

    const outcomes = await Promise.allSettled(Array.from({ length: CONCURRENT }, (_, number) => invite(number)));

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.reason] : []));
    expect(reasons).toEqual(Array(CONCURRENT - 2).fill('member_limit'));
    const usage = await rest.call('GET', '/usage', { key });
    expect(usage.body.plan_use).toMatchObject({ members: { used: 2, limit: 2 } });
  });

  it("fairness N10: capture_bytes_limit preserves the newest captured email and other workspaces' email", async () => {
    const limited = await workspaceWith({ capture_bytes_limit: 2500 });
    const free = await world.workspace('free');
    for (const { workspace_id } of [limited, free]) {
      for (let count = 0; count < 4; count++) {
        const envelope = { envelope_from: 'shop@sandbox.test', envelope_to: ['ada@example.com'] };
        await recordCapture(world.services, { ...envelope, raw: Buffer.alloc(1000, 'x') }, workspace_id);
      }
    }

    await trimCaptures(world.services.sql, { seconds: 86_400, bytes_per_workspace: 1_000_000 });

    const usage = await rest.call('GET', '/usage', { key: limited.secret });
    expect(usage.body.plan_use).toMatchObject({ capture_bytes: { used: 2000, limit: 2500 } });
    const unlimited = await rest.call('GET', '/usage', { key: free.secret });
    expect(unlimited.body.plan_use).toMatchObject({ capture_bytes: { used: 4000, limit: null } });
  });
});
