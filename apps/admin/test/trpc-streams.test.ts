import { request } from 'node:http';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { inviteMember } from '@postrider/core/people';
import { setConcurrency } from '@postrider/core/queues';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { invokeAs, signedIn, signOut } from './signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
const open: Stream[] = [];
afterEach(() => {
  for (const stream of open.splice(0)) stream.stop();
});

interface StreamEvent {
  readonly event: string | null;
  readonly data: Record<string, unknown>;
}

interface Stream {
  readonly events: StreamEvent[];
  /** The changes that the stream has reported. */
  readonly changes: () => StreamEvent['data'][];
  readonly ended: () => boolean;
  stop(): void;
}

/** Subscribes as EventSource does. */
async function follow(cookie: string): Promise<Stream> {
  const events: StreamEvent[] = [];
  let is_ended = false;
  const headers = { cookie, accept: 'text/event-stream' };
  const subscription = request({ host: '127.0.0.1', port: admin.port, path: '/trpc/live', headers, agent: false });
  subscription.on('error', () => undefined);
  subscription.on('response', (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('close', () => {
      is_ended = true;
    });
    response.on('data', (chunk: string) => {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1] ?? null;
        const data = field('data');
        if (data) events.push({ event: field('event'), data: JSON.parse(data) });
      }
    });
  });
  subscription.end();
  const stream = {
    events,
    changes: () => events.filter(({ event }) => event === null).map(({ data }) => data),
    ended: () => is_ended,
    stop: () => void subscription.destroy(),
  };
  open.push(stream);
  // Every stream starts with `connected`, after which no event is missed.
  await expect.poll(() => events.some(({ event }) => event === 'connected') || events.length > 0).toBe(true);
  return stream;
}

/** Returns the reason of the error that closed a stream, or null. */
const refusalOf = ({ events }: Stream) => {
  const [error] = events.filter(({ event }) => event === 'serialized-error');
  return (error?.data.data as { reason: string } | undefined)?.reason ?? null;
};

const system = (workspace_id = world.workspace_id) => world.as(workspace_id);
const send = (workspace_id?: string) =>
  invoke(system(workspace_id), sendMessage, {
    from: 'shop@sandbox.test',
    to: 'ada@example.com',
    subject: 'Followed',
    text: 'Hi',
  });

describe('the live stream', () => {
  it('reports each event in the workspace by type and email, but none in another workspace', async () => {
    const { cookie } = await signedIn(world, admin, 'viewer');
    const other = await world.workspace('free');
    await world.domain('elsewhere.test', other.workspace_id);
    const stream = await follow(cookie);

    await invoke(system(other.workspace_id), sendMessage, {
      from: 'shop@elsewhere.test',
      to: 'ada@example.com',
      subject: 'Foreign',
      text: 'Hi',
    });
    const { id } = await send();
    await world.drain();

    await expect
      .poll(() => stream.changes())
      .toEqual([
        { type: 'email.queued', id },
        { type: 'email.delivered', id },
      ]);
  });

  it("reports only an audit entry's action and target, and only to users who may read the target", async () => {
    const [reader, administrator] = [await signedIn(world, admin, 'viewer'), await signedIn(world, admin, 'admin')];
    const [viewers, admins] = [await follow(reader.cookie), await follow(administrator.cookie)];

    const key = await world.key({ scopes: ['email:send'] });
    const blocked = { scope: 'api_key', value: key.id, reason: 'Secret' } as const;
    const hold = await administrator.api.holds.create.mutate(blocked);
    const { id } = await send();

    await expect
      .poll(() => admins.changes())
      .toEqual(
        expect.arrayContaining([
          { type: 'hold.created', id: hold.id },
          { type: 'api_key.created', id: key.id },
          { type: 'email.queued', id },
        ]),
      );
    await expect.poll(() => viewers.changes()).toEqual([{ type: 'email.queued', id }]);
  });

  it('reports a new member to every member', async () => {
    const [reader, administrator] = [await signedIn(world, admin, 'viewer'), await signedIn(world, admin, 'admin')];
    const stream = await follow(reader.cookie);

    const member = await invokeAs(world, administrator, inviteMember, { email: 'new@people.test', role: 'viewer' });

    await expect.poll(() => stream.changes()).toContainEqual({ type: 'member.added', id: member.id });
  });

  it('reports instance changes only to operators', async () => {
    const [operator, other] = [await signedIn(world, admin, 'operator'), await signedIn(world, admin, 'admin')];
    const [operators, admins] = [await follow(operator.cookie), await follow(other.cookie)];

    await invoke(system(), setConcurrency, { queue: 'webhook.recover', concurrency: 5 });
    const key = await world.key({ scopes: ['email:send'] });

    const changed = { type: 'queue.concurrency_set', id: 'webhook.recover' };
    await expect.poll(() => operators.changes()).toContainEqual(changed);
    await expect.poll(() => admins.changes()).toContainEqual({ type: 'api_key.created', id: key.id });
    expect(admins.changes()).not.toContainEqual(changed);
  });

  it('fairness L2: needs a session, and closes within five seconds after the session ends', async () => {
    await world.clock.freeze(new Date(world.clock.now()));
    const person = await signedIn(world, admin, 'admin');
    const nameless = await follow('sid=none');
    const stream = await follow(person.cookie);

    await signOut(admin, person.cookie);
    await world.clock.advance(5000);

    await expect.poll(() => stream.ended()).toBe(true);
    await expect.poll(() => refusalOf(nameless)).toBe('session_ended');
    await world.clock.unfreeze();
  });
});
