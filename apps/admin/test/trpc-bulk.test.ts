import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { workOff } from '@postrider/core/bulk';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);

async function send(fields: Record<string, unknown>): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields };
  const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
  return (await invoke(ctx, sendMessage, mail)).id;
}

it("an admin can preview and run a bulk action, and read its receipts under the admin's name", async () => {
  const { api, email } = await signedIn(world, admin, 'admin');
  const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
  const id = await send({ tags: ['trpc'], scheduled_at });
  await world.clock.advance(10);

  const result = await api.ops.bulkPreview.mutate({ action: 'cancel', filter: { tag: 'trpc' } });
  const bulk = await api.ops.bulkRun.mutate({ token: result.token, reason: 'a mistake' });
  for (const job of await world.services.jobs.fetch('bulk.run', 5)) await workOff(world.services, job.data);

  expect(result).toMatchObject({ matched: 1, sample: [id] });
  expect(bulk.created_by).toMatchObject({ kind: 'user', name: email });
  expect((await api.ops.bulkItems.query({ id: bulk.id })).data).toMatchObject([{ id, outcome: 'done' }]);
  expect((await api.ops.bulkList.query()).data).toMatchObject([{ id: bulk.id, status: 'completed', done: 1 }]);
  expect(await refusalOf(api.ops.bulkCancel.mutate({ id: bulk.id }))).toMatchObject({
    status: 422,
    reason: 'bulk_finished',
  });
});

it('a viewer can act on neither many emails nor one', async () => {
  const { api } = await signedIn(world, admin, 'viewer');
  const id = await send({});

  for (const call of [
    () => api.ops.bulkPreview.mutate({ action: 'cancel', filter: {} }),
    () => api.ops.bulkList.query(),
    () => api.emails.sendNow.mutate({ id }),
    () => api.emails.retryNow.mutate({ id }),
  ]) {
    expect(await refusalOf(call())).toMatchObject({ status: 403, reason: 'missing_scope' });
  }
});

it('a member can send a scheduled email immediately', async () => {
  const { api } = await signedIn(world, admin, 'admin');
  const scheduled_at = new Date(world.clock.now() + 3_600_000).toISOString();
  const id = await send({ scheduled_at });

  await api.emails.sendNow.mutate({ id });
  await world.drain();

  expect(await api.emails.get.query({ id })).toMatchObject({ status: 'delivered' });
});
