import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { addDomain } from '../domains/index.ts';
import { newId } from '../fields/ids.ts';
import { getMessage } from '../messages/index.ts';
import { AppError } from '../operation/errors.ts';
import { invoke } from '../operation/operation.ts';
import type { Scope } from '../operation/scopes.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { rollUpStats } from '../stats/index.ts';
import { createSuppressions } from '../suppressions/index.ts';
import { createWebhook } from '../webhooks/index.ts';
import { findThings } from './find-things.ts';

const MINUTE_MS = 60_000;

const world = await openWorld();
let mail: string;
beforeAll(async () => {
  const ctx = world.as(world.workspace_id);
  mail = (
    await invoke(ctx, sendMessage, {
      from: 'shop@sandbox.test',
      to: ['Ada <ada@example.com>'],
      subject: 'Your invoice for May',
      text: 'Hi',
      tags: ['billing'],
    })
  ).id;
});

const find = async (text: string, workspace_id = world.workspace_id) =>
  (await invoke(world.as(workspace_id), findThings, { text })).data;

describe('find', () => {
  it('returns a result for any id related to an email', async () => {
    const { recipients, events, message_id, request_id } = await invoke(world.as(world.workspace_id), getMessage, {
      id: mail,
    });

    expect(await find(mail)).toMatchObject([
      { type: 'email', id: mail, title: 'Your invoice for May', path: `/emails/${mail}` },
    ]);
    expect(await find(message_id)).toMatchObject([{ type: 'email', id: mail }]);
    expect(await find(message_id.slice(1, -1))).toMatchObject([{ type: 'email', id: mail }]);
    expect(await find(request_id)).toMatchObject([{ type: 'email', id: mail }]);
    const [recipient] = recipients;
    expect(await find(recipient?.id ?? '')).toMatchObject([{ type: 'recipient', path: expect.stringContaining(mail) }]);
    expect(await find(events[0]?.id ?? '')).toMatchObject([{ type: 'event', title: 'email.queued' }]);
  });

  it('returns an address’s sent and received email, and its suppression', async () => {
    await invoke(world.as(world.workspace_id), createSuppressions, { email: 'gone@example.com', reason: 'Asked' });

    expect(await find('ADA@example.com')).toMatchObject([{ type: 'email', id: mail }]);
    expect(await find('shop@sandbox.test')).toMatchObject([{ type: 'email', id: mail }]);
    expect(await find('gone@example.com')).toMatchObject([{ type: 'suppression', title: 'gone@example.com' }]);
  });

  it('returns subjects, tags, domains, keys and endpoints that match the words', async () => {
    const ctx = world.as(world.workspace_id);
    const { id: domain } = await invoke(ctx, addDomain, { name: 'shop.example.org' });
    const { id: webhook } = await invoke(ctx, createWebhook, { url: 'http://127.0.0.1/hooks/shop.example.org' });
    const key = await world.key({ scopes: ['email:send'], name: 'Checkout' });

    expect(await find('INVOICE for')).toMatchObject([{ type: 'email', id: mail }]);
    expect(await find('billing')).toMatchObject([{ type: 'tag', id: 'billing', path: '/emails?q=tag%3Abilling' }]);
    expect((await find('shop.example.org')).map(({ type, id }) => [type, id])).toEqual([
      ['domain', domain],
      ['webhook', webhook],
    ]);
    expect(await find('checkout')).toMatchObject([{ type: 'api_key', id: key.id }]);
  });

  it('never returns results from another workspace', async () => {
    const { workspace_id } = await world.workspace('free');
    const { message_id } = await invoke(world.as(world.workspace_id), getMessage, { id: mail });

    for (const text of [mail, message_id, 'ada@example.com', 'invoice', 'billing', 'sandbox.test'])
      expect(await find(text, workspace_id), text).toEqual([]);
  });

  it('shows only results that the caller’s scopes allow', async () => {
    const { workspace_id, services } = world;
    const key = await world.key({ scopes: ['email:send'], name: 'Secret shop' });
    const actor = {
      kind: 'key',
      workspace_id,
      key_id: key.id,
      scopes: ['email:logs:read'],
      mode: 'live',
      domains: null,
    } as const;
    const search = async (text: string) => (await invoke(createContext(services, actor), findThings, { text })).data;

    expect(await search('secret shop')).toEqual([]);
    expect(await search(key.id)).toEqual([]);
    expect(await search('sandbox.test')).toEqual([]);
    expect(await search(mail)).toHaveLength(1);
  });
});

describe('a rejected request', () => {
  it('is found by its ID, by an admin of its workspace', async () => {
    const id = newId('request', world.clock.now());
    world.services.request_log.note({
      id,
      api: 'rest',
      method: 'POST',
      path: '/email/send',
      status: 422,
      error: new AppError('missing_field', 'to is missing.'),
      actor: { kind: 'system', workspace_id: world.workspace_id },
      secret_hash: null,
      address: null,
      input: {},
      duration_ms: 1,
    });
    await world.services.request_log.flush();
    const { workspace_id } = await world.workspace('free');

    expect(await find(id)).toMatchObject([{ type: 'request', title: 'POST /email/send', path: `/logs?open=${id}` }]);
    expect(await find(id, workspace_id)).toEqual([]);
  });
});

describe('finding destinations', () => {
  let other: Awaited<ReturnType<typeof world.workspace>>;
  beforeAll(async () => {
    other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    const ctx = world.as(world.workspace_id);
    const message = { from: 'shop@sandbox.test', subject: 'Hello', text: 'Hi' };
    for (const to of ['a@parcel.example', 'b@parcel.example', 'c@parade.example'])
      await invoke(ctx, sendMessage, { ...message, to });
    await invoke(world.as(other.workspace_id), sendMessage, {
      ...message,
      from: 'x@other.test',
      to: 'd@parking.example',
    });
    await world.clock.advance(10 * MINUTE_MS);
    await rollUpStats(world.services);
  });

  async function search(
    text: string,
    { scopes = ['admin'] as readonly Scope[], mode = 'live' as KeyMode, workspace_id = world.workspace_id } = {},
  ) {
    const actor = { kind: 'key', workspace_id, key_id: other.key_id, scopes, mode, domains: null } as const;
    const { data } = await invoke(createContext(world.services, actor), findThings, { text });
    return data.filter(({ type }) => type === 'destination');
  }
  const names = async (...args: Parameters<typeof search>) => (await search(...args)).map(({ id }) => id);

  it('returns those of the workspace’s email whose domain begins with the text, the busiest first', async () => {
    const path = '/emails?q=at%3Aparcel.example';

    expect(await search('Parc')).toMatchObject([{ id: 'parcel.example', title: 'parcel.example', path }]);
    expect(await names('par')).toEqual(['parcel.example', 'parade.example']);
    expect(await names('parade.example')).toEqual(['parade.example']);
    expect(await names('arcel')).toEqual([]);
    expect(await names('pa')).toEqual([]);
    expect(await names('par', { workspace_id: other.workspace_id })).toEqual(['parking.example']);
  });

  it('requires admin and both modes', async () => {
    expect(await names('parcel.example', { scopes: ['email:logs:read'] })).toEqual([]);
    expect(await names('parcel.example', { mode: 'sandbox' })).toEqual([]);
  });

  it('returns a destination with a limit once', async () => {
    await world.services.sql`
      insert into destination_limits (destination, connections, changed_at) values ('parcel.example', 1, clock_now())`;

    expect(await names('parcel.example', { scopes: ['admin', 'operator'] })).toEqual(['parcel.example']);
  });
});
