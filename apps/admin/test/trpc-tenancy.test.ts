import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createSuppressions } from '@postrider/core/suppressions';
import { createWebhook, listWebhookDeliveries, testWebhook } from '@postrider/core/webhooks';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { type Dashboard, refusalOf, type SignedIn, signedIn } from './signed-in.ts';

interface ForeignIds {
  readonly message: string;
  readonly webhook: string;
  readonly delivery: string;
  readonly key: string;
  readonly domain: string;
  readonly address: string;
}

const world = await openWorld();
const admin = await openAdmin(world);
let foreign: SignedIn;
let theirs: ForeignIds;
let absent_ids: ForeignIds;
let leave: () => Promise<unknown>;
beforeAll(async () => {
  const own = world.as(world.workspace_id);
  await world.domain('theirs.test');
  const { id: key } = await world.key({ scopes: ['email:send'] });
  const { id: message } = await invoke(own, sendMessage, {
    from: 'shop@theirs.test',
    to: 'ada@example.com',
    subject: 'Hello',
    text: 'Hi',
  });
  const { id: webhook } = await invoke(own, createWebhook, { url: 'https://hooks.theirs.test/x', events: 'all' });
  await invoke(own, testWebhook, { id: webhook });
  const delivery = (await invoke(own, listWebhookDeliveries, { id: webhook })).data[0]?.id ?? '';
  await invoke(own, createSuppressions, { email: 'bob@example.com' });
  theirs = { message, webhook, delivery, key, domain: 'theirs.test', address: 'bob@example.com' };
  absent_ids = {
    message: `msg_${'0'.repeat(26)}`,
    webhook: `whk_${'0'.repeat(26)}`,
    delivery: `whd_${'0'.repeat(26)}`,
    key: `key_${'0'.repeat(26)}`,
    domain: 'nobody.test',
    address: 'nobody@example.com',
  };
  const other = await world.workspace('free');
  foreign = await signedIn(world, admin, 'admin', other.workspace_id);
  leave = async () => {
    const rows = await world.services.sql`
      select (select status from messages where id = ${message}) as status,
        (select count(*)::int from webhooks where id = ${webhook}) as webhooks,
        (select count(*)::int from suppressions where email = 'bob@example.com') as suppressions,
        (select count(*)::int from domains where name = 'theirs.test') as domains,
        (select count(*)::int from api_keys where id = ${key} and revoked_at is null) as keys`;
    return rows[0];
  };
});

const calls: Record<string, (api: Dashboard, ids: ForeignIds) => Promise<unknown>> = {
  'emails.get': (api, { message }) => api.emails.get.query({ id: message }),
  'emails.content': (api, { message }) => api.emails.content.query({ id: message }),
  'emails.cancel': (api, { message }) => api.emails.cancel.mutate({ id: message }),
  'emails.reschedule': (api, { message }) =>
    api.emails.reschedule.mutate({ id: message, scheduled_at: new Date(world.clock.now() + 60_000).toISOString() }),
  'emails.resend': (api, { message }) => api.emails.resend.mutate({ id: message }),
  'domains.get': (api, { domain }) => api.domains.get.query({ domain }),
  'domains.verify': (api, { domain }) => api.domains.verify.mutate({ domain }),
  'domains.update': (api, { domain }) => api.domains.update.mutate({ domain, dkim_ed25519: true }),
  'domains.rotateKeys': (api, { domain }) => api.domains.rotateKeys.mutate({ domain }),
  'domains.delete': (api, { domain }) => api.domains.delete.mutate({ domain }),
  'webhooks.get': (api, { webhook }) => api.webhooks.get.query({ id: webhook }),
  'webhooks.update': (api, { webhook }) => api.webhooks.update.mutate({ id: webhook, events: ['email.bounced'] }),
  'webhooks.test': (api, { webhook }) => api.webhooks.test.mutate({ id: webhook }),
  'webhooks.rotateSecret': (api, { webhook }) => api.webhooks.rotateSecret.mutate({ id: webhook }),
  'webhooks.recover': (api, { webhook }) =>
    api.webhooks.recover.mutate({ id: webhook, since: new Date(world.clock.now() - 60_000).toISOString() }),
  'webhooks.delete': (api, { webhook }) => api.webhooks.delete.mutate({ id: webhook }),
  'deliveries.list': (api, { webhook }) => api.deliveries.list.query({ id: webhook }),
  'deliveries.replay': (api, { webhook, delivery }) =>
    api.deliveries.replay.mutate({ id: webhook, delivery_id: delivery }),
  'apiKeys.revoke': (api, { key }) => api.apiKeys.revoke.mutate({ key_id: key }),
  'suppressions.remove': (api, { address }) => api.suppressions.remove.mutate({ email: address }),
};

/** Returns the text of an error without the names of the objects it refers to. */
function refusalText(refusal: Record<string, unknown>, ids: ForeignIds): string {
  let text = JSON.stringify({ ...refusal, request_id: null });
  for (const [kind, name] of Object.entries(ids)) text = text.replaceAll(name, kind);
  return text;
}

describe('an object in another workspace', () => {
  it.each(Object.keys(calls))('looks nonexistent to %s, and stays unchanged', async (name) => {
    const call = calls[name] ?? (() => Promise.resolve());
    const before = await leave();

    const existing = await refusalOf(call(foreign.api, theirs));
    const missing = await refusalOf(call(foreign.api, absent_ids));

    expect(existing.status).toBe(404);
    expect(refusalText(existing, theirs)).toBe(refusalText(missing, absent_ids));
    expect(await leave()).toEqual(before);
  });

  it('does not appear in any list, and its cursors are invalid', async () => {
    const own = await signedIn(world, admin, 'admin');
    for (const count of [1, 2]) await world.key({ scopes: ['email:send'], name: `Key ${count}` });
    const { next_cursor } = await own.api.apiKeys.list.query({ limit: 1 });

    const lists = await Promise.all([
      foreign.api.emails.list.query(),
      foreign.api.domains.list.query(),
      foreign.api.webhooks.list.query(),
      foreign.api.suppressions.list.query(),
      foreign.api.events.list.query(),
    ]);

    expect(lists.map(({ data }) => data.length)).toEqual([0, 0, 0, 0, 0]);
    expect(await refusalOf(foreign.api.apiKeys.list.query({ cursor: next_cursor }))).toMatchObject({
      status: 400,
      reason: 'invalid_cursor',
    });
  });

  it('cannot be created by passing that workspace as input', async () => {
    const key = await foreign.api.apiKeys.create.mutate({
      name: 'Mine',
      scopes: ['email:send'],
      ...{ workspace_id: world.workspace_id, status: 'active', secret_hash: 'x' },
    });

    const [row] = await world.services.sql`select workspace_id from api_keys where id = ${key.id}`;
    expect(row?.workspace_id).not.toBe(world.workspace_id);
  });
});
