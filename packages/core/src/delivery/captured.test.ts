import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { listEvents } from '../events/index.ts';
import { getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { statSeries } from '../stats/index.ts';
import { rollUpStats } from '../stats/roll-up.ts';

// Live email leaves through a relay; email of sandbox keys is captured.
const world = await openWorld({ DELIVERY: 'smtp://127.0.0.1:2525' });
await world.domain('own.test');

async function send(mode: 'live' | 'sandbox', to: string | string[]): Promise<string> {
  const { id: key_id } = await world.key({ scopes: ['email:send'], mode, name: `${mode} ${to}` });
  const ctx = createContext(world.services, {
    kind: 'key',
    workspace_id: world.workspace_id,
    key_id,
    scopes: ['email:send'],
    mode,
    domains: null,
  });
  return (await invoke(ctx, sendMessage, { from: 'a@own.test', to, subject: 'Hi', text: 'Hi' })).id;
}

const detail = (id: string) => invoke(world.as(world.workspace_id), getMessage, { id });

describe('email of a sandbox key', () => {
  it('is captured, with one or several recipients, and after a deferral', async () => {
    world.smtp.script(({ to, nth }) =>
      to === 'late@example.com' && nth === 1 ? { kind: 'reply', code: 451, text: '4.7.1 Later' } : { kind: 'accept' },
    );
    const ids = [
      await send('sandbox', 'ada@example.com'),
      await send('sandbox', ['bob@example.com', 'eve@example.com']),
      await send('sandbox', 'late@example.com'),
    ];
    await world.drain();
    await world.clock.advance(10 * 60_000);
    await world.drain();

    for (const id of ids) {
      const { status, captured, recipients } = await detail(id);
      expect([status, captured, ...recipients.map((one) => one.captured)]).toEqual([
        'delivered',
        true,
        ...recipients.map(() => true),
      ]);
      expect(recipients.map(({ relayed }) => relayed)).toEqual(recipients.map(() => false));
    }
    const { data } = await invoke(world.as(world.workspace_id), listEvents, { type: 'email.delivered', limit: 100 });
    expect(data.map((event) => event.data.captured)).toEqual([true, true, true, true]);
  });
});

describe('email of a live key', () => {
  it('is delivered, and counts apart from captured email', async () => {
    const id = await send('live', ['ada@example.com', 'bob@example.com']);
    await world.drain();

    expect(await detail(id)).toMatchObject({
      status: 'delivered',
      captured: false,
      recipients: [
        { captured: false, relayed: true, confirmed_at: null },
        { captured: false, relayed: true, confirmed_at: null },
      ],
    });
    const single = await send('live', 'eve@example.com');
    await world.drain();
    expect(await detail(single)).toMatchObject({ recipients: [{ captured: false, relayed: true }] });
    await world.clock.advance(5 * 60_000);
    await rollUpStats(world.services);
    const { series } = await invoke(world.as(world.workspace_id), statSeries, {
      bucket: 'hour',
      since: new Date(world.clock.now() - 2 * 3_600_000).toISOString(),
      metrics: ['delivered', 'captured', 'relayed'],
      reach: 'workspace',
    });
    const sums = series.map(({ points }) => points.reduce((sum, { value }) => sum + (value ?? 0), 0));
    expect(sums).toEqual([7, 4, 3]);
  });
});
