import { AppError, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

// Tests features that only tRPC has. Streams are covered in trpc-streams.test.ts.

const world = await openWorld();
const admin = await openAdmin(world);
const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', tags: ['alone'] };
const send = (fields: object = {}) => invoke(world.as(world.workspace_id), sendMessage, { ...mail, ...fields });

it("overview.summary reports the email health of the caller's workspace", async () => {
  const { api } = await signedIn(world, admin, 'viewer');
  await send();

  const overview = await api.overview.summary.query({});

  expect(overview).toMatchObject({ object: 'overview', waiting: { count: 1 }, usage: { used: 1 } });
  // The test runs no worker.
  expect(overview.problems).toMatchObject([{ kind: 'worker' }]);
});

it('onboarding.state lists the completed steps', async () => {
  const fresh = await world.workspace('free');
  const { api } = await signedIn(world, admin, 'viewer', fresh.workspace_id);

  const state = await api.onboarding.state.query({});

  expect(state.steps.map(({ name, done_at }) => [name, done_at !== null])).toEqual([
    ['key', expect.any(Boolean)],
    ['test_send', false],
    ['domain', false],
    ['verify', false],
    ['webhook', false],
  ]);
  expect(state.done).toBe(false);
});

it('requests.groups counts rejected requests, for a workspace admin', async () => {
  const [{ api }, viewer] = [await signedIn(world, admin, 'admin'), await signedIn(world, admin, 'viewer')];
  for (const path of ['/email/send', '/email/send', '/webhooks']) {
    world.services.request_log.note({
      id: newId('request', world.clock.now()),
      api: 'rest',
      method: 'POST',
      path,
      status: 400,
      error: new AppError('missing_field', 'It is missing.'),
      actor: { kind: 'system', workspace_id: world.workspace_id },
      secret_hash: null,
      address: null,
      input: {},
      duration_ms: 1,
    });
  }
  await world.services.request_log.flush();

  const { data } = await api.requests.groups.query({});

  expect(data.map(({ path, count }) => [path, count])).toEqual([
    ['/email/send', 2],
    ['/webhooks', 1],
  ]);
  expect(await refusalOf(viewer.api.requests.groups.query({}))).toMatchObject({ reason: 'missing_scope' });
});

it('webhooks.recoveryPreview counts what a recovery would deliver, within the workspace', async () => {
  const { api } = await signedIn(world, admin, 'admin');
  const { id } = await api.webhooks.create.mutate({ url: 'http://127.0.0.1:4999/hook' });
  const since = new Date(world.clock.now()).toISOString();
  const fresh = await world.workspace('business');
  const stranger = await signedIn(world, admin, 'admin', fresh.workspace_id);

  const preview = await api.webhooks.recoveryPreview.query({ id, since });

  expect(preview).toMatchObject({ matched: 0, matched_exact: true, first_at: null, pending: 0, delivered: 0 });
  expect(await refusalOf(stranger.api.webhooks.recoveryPreview.query({ id, since }))).toMatchObject({
    reason: 'webhook_not_found',
  });
});

it('suppressions.byAddress returns the suppression of each address, within the workspace', async () => {
  const { api } = await signedIn(world, admin, 'admin');
  await api.suppressions.add.mutate({ email: 'gone@alone.example.com', reason: 'Bounced' });
  const fresh = await world.workspace('business');
  const stranger = await signedIn(world, admin, 'viewer', fresh.workspace_id);
  const ids = ['fine@alone.example.com', 'Gone@alone.example.com'];

  expect(await api.suppressions.byAddress.query({ ids })).toMatchObject([null, { reason: 'Bounced' }]);
  expect(await stranger.api.suppressions.byAddress.query({ ids })).toEqual([null, null]);
});

it('deliveries.ofEvents returns the webhook deliveries of events, within the workspace', async () => {
  const { api } = await signedIn(world, admin, 'admin');
  const { id } = await api.webhooks.create.mutate({
    url: 'http://127.0.0.1:4999/of-events',
    events: ['suppression.added'],
  });
  await api.suppressions.add.mutate({ email: 'of-events@alone.example.com' });
  const [delivery] = (await api.deliveries.list.query({ id })).data;
  const fresh = await world.workspace('business');
  const stranger = await signedIn(world, admin, 'admin', fresh.workspace_id);
  const ids = [delivery?.event_id ?? ''];

  const [deliveries = []] = await api.deliveries.ofEvents.query({ ids });
  expect(deliveries.map((one) => one.webhook_id)).toContain(id);
  expect(await stranger.api.deliveries.ofEvents.query({ ids })).toEqual([[]]);
});

it('members.counts and usage.months return those of the workspaces that the caller may read', async () => {
  const { api } = await signedIn(world, admin, 'operator');
  const fresh = await world.workspace('business');
  const stranger = await signedIn(world, admin, 'admin', fresh.workspace_id);
  const ids = [world.workspace_id, fresh.workspace_id];

  expect(await api.members.counts.query({ ids })).toEqual([expect.any(Number), 1]);
  expect(await api.usage.months.query({ ids })).toMatchObject([{ used: expect.any(Number) }, { used: 0 }]);
  expect(await refusalOf(stranger.api.members.counts.query({ ids }))).toMatchObject({ reason: expect.any(String) });
});

it('events.byId returns the email that an event is about, within the workspace', async () => {
  const { api } = await signedIn(world, admin, 'viewer');
  const { id } = await send();
  const { events } = await api.emails.get.query({ id });
  const fresh = await world.workspace('business');
  const stranger = await signedIn(world, admin, 'viewer', fresh.workspace_id);
  const ids = events.map((event) => event.id);

  expect(await api.events.byId.query({ ids })).toMatchObject([{ data: { email: { id, subject: 'Hello' } } }]);
  expect(await stranger.api.events.byId.query({ ids })).toEqual([null]);
});
