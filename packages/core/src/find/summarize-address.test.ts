import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { createHold } from '../holds/index.ts';
import { cancelMessage, getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { createSuppressions } from '../suppressions/index.ts';
import { summarizeAddress } from './summarize-address.ts';

const world = await openWorld();
let email: string;
let count = 0;
beforeEach(async () => {
  count += 1;
  email = `ada@nr${count}.example.com`;
  await world.services.sql`delete from holds`;
});

const system = () => world.as(world.workspace_id);
const summary = (workspace_id = world.workspace_id) => invoke(world.as(workspace_id), summarizeAddress, { email });

async function send(fields: object = {}): Promise<string> {
  const { id } = await invoke(system(), sendMessage, {
    from: 'shop@sandbox.test',
    to: email,
    subject: 'Hello',
    text: 'Hi',
    ...fields,
  });
  await world.clock.advance(1);
  return id;
}

function keyOf(mode: KeyMode, key_id: string) {
  const { workspace_id, services } = world;
  const actor = { kind: 'key', workspace_id, key_id, scopes: ['email:logs:read'], mode, domains: null } as const;
  return createContext(services, actor);
}

describe('the summary of an address', () => {
  it('is empty if the address is unknown', async () => {
    expect(await summary()).toEqual({ object: 'address', email, suppression: null, holds: [], emails: [] });
  });

  it('contains its suppression, in any spelling', async () => {
    await invoke(system(), createSuppressions, { email, reason: 'Asked' });

    const { suppression } = await invoke(system(), summarizeAddress, { email: email.toUpperCase() });

    expect(suppression).toMatchObject({ email, reason: 'Asked' });
  });

  it('contains the holds that its waiting email names', async () => {
    await world.domain(`from${count}.test`);
    const hold = (scope: string, value: string) =>
      invoke(system(), createHold, { scope, value, reason: `Holds the ${scope}` });
    await hold('destination', 'elsewhere.example.com');
    const destination = await hold('destination', `nr${count}.example.com`);
    expect((await summary()).holds).toEqual([
      {
        id: destination.id,
        scope: 'destination',
        reason: 'Holds the destination',
        expires_at: destination.expires_at,
      },
    ]);

    await hold('sender_domain', `from${count}.test`);
    const queue = await hold('queue', 'delivery.attempt');
    const instance = await hold('instance', 'all');
    const id = await send({ from: `shop@from${count}.test` });

    const { recipients } = await invoke(system(), getMessage, { id });
    const { holds } = await summary();
    expect(recipients[0]?.waiting?.hold?.id).toBe(destination.id);
    expect(holds.map((one) => one.id)).toEqual([destination.id, instance.id, queue.id]);
    expect(holds.map((one) => one.expires_at)).toEqual([destination.expires_at, null, queue.expires_at]);
  });

  it('contains only the holds that its waiting email names, for those who are not administrators', async () => {
    const hold = (value: string) =>
      invoke(system(), createHold, { scope: 'destination', value, reason: 'Not for everyone' });
    const key = await world.key({ scopes: ['email:logs:read'] });
    const viewer = keyOf('live', key.id);
    const { id } = await hold(`nr${count}.example.com`);
    expect((await invoke(viewer, summarizeAddress, { email })).holds).toEqual([]);

    await send();

    expect((await invoke(viewer, summarizeAddress, { email })).holds).toMatchObject([{ id }]);
  });

  it('contains the hold on the sending domain of a listed email', async () => {
    const value = `from${count}.test`;
    await world.domain(value);
    const { id } = await invoke(system(), createHold, { scope: 'sender_domain', value, reason: 'Broken' });
    expect((await summary()).holds).toEqual([]);

    await send({ from: `shop@${value}` });

    expect((await summary()).holds).toMatchObject([{ id, scope: 'sender_domain' }]);
  });

  it('contains the newest five emails, each with the status of this recipient', async () => {
    const replies = (codes: Readonly<Record<string, number>>) =>
      world.smtp.script(({ to }) =>
        codes[to] === undefined ? { kind: 'accept' } : { kind: 'reply', code: codes[to], text: 'No' },
      );
    await send({ subject: 'Too old' });
    const other = `other@nr${count}.example.com`;
    replies({ [other]: 550 });
    const delivered = await send({ to: [other], cc: [email] });
    await world.drain();
    replies({ [email]: 451 });
    const deferred = await send();
    await world.drain();
    const canceled = await send();
    await invoke(system(), cancelMessage, { id: canceled });
    replies({ [email]: 550 });
    const bounced = await send();
    await world.drain();
    replies({});
    const queued = await send({ subject: 'The newest' });

    const { emails } = await summary();

    expect(emails.map(({ id, status }) => [id, status])).toEqual([
      [queued, 'queued'],
      [bounced, 'bounced'],
      [canceled, 'canceled'],
      [deferred, 'deferred'],
      [delivered, 'delivered'],
    ]);
    expect(await invoke(system(), getMessage, { id: delivered })).toMatchObject({ status: 'bounced' });
    expect(emails[0]).toMatchObject({ subject: 'The newest', captured: false });
  });

  it('contains nothing of another workspace', async () => {
    await send();
    await invoke(system(), createSuppressions, { email });
    const { workspace_id } = await world.workspace('free');

    expect(await summary(workspace_id)).toMatchObject({ suppression: null, holds: [], emails: [] });
  });

  it('contains only email of its mode for a sandbox key, without the suppression', async () => {
    const key = await world.key({ scopes: ['email:logs:read'] });
    await send();
    await invoke(system(), createSuppressions, { email });
    await invoke(system(), createHold, { scope: 'destination', value: `nr${count}.example.com`, reason: 'Down' });

    const sandbox = await invoke(keyOf('sandbox', key.id), summarizeAddress, { email });
    const live = await invoke(keyOf('live', key.id), summarizeAddress, { email });

    expect(sandbox).toMatchObject({ suppression: null, holds: [], emails: [] });
    expect(live).toMatchObject({ suppression: { email }, holds: [{ scope: 'destination' }], emails: [{}] });
  });

  it('rejects text that is not an address', async () => {
    await expect(invoke(system(), summarizeAddress, { email: 'nobody' })).rejects.toMatchObject({
      reason: 'invalid_email',
    });
  });
});
