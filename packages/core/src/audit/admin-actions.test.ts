import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { resumeDomain, suspendDomain } from '../domains/index.ts';
import { limitDestination, releaseDestination } from '../lanes/index.ts';
import { invoke } from '../operation/operation.ts';
import { listAudit } from './list-audit.ts';

const world = await openWorld();

it('each instance-wide admin action is recorded once, in the instance audit chain', async () => {
  const ctx = world.as(world.workspace_id);
  const destination = 'slow.test';

  await invoke(ctx, limitDestination, { destination, connections: 5 });
  await invoke(ctx, limitDestination, { destination, messages_per_minute: 9 });
  await invoke(ctx, releaseDestination, { destination });
  await invoke(ctx, releaseDestination, { destination });

  const { data } = await invoke(ctx, listAudit, { chain: 'instance', target_id: destination });
  const entries = data.toSorted((left, right) => left.sequence - right.sequence);
  expect(entries.map(({ action, diff }) => [action, diff])).toEqual([
    ['destination.limited', { connections: [null, 5] }],
    ['destination.limited', { connections: [5, null], messages_per_minute: [null, 9] }],
    ['destination.released', null],
  ]);
});

it('domain suspension and resumption are recorded in both audit chains, with the reason', async () => {
  const other = await world.workspace('free');
  await world.domain('spam.test', other.workspace_id);
  const target = { domain: 'spam.test', workspace_id: other.workspace_id };

  await invoke(world.as(world.workspace_id), suspendDomain, { ...target, reason: 'spam' });
  await invoke(world.as(world.workspace_id), suspendDomain, { ...target, reason: 'spam again' });
  await invoke(world.as(world.workspace_id), resumeDomain, target);

  for (const chain of ['workspace', 'instance']) {
    const action = 'domain.suspended,domain.resumed';
    const { data } = await invoke(world.as(other.workspace_id), listAudit, { chain, action });
    const entries = data.toSorted((left, right) => left.sequence - right.sequence);
    expect(entries.map(({ action, reason, diff }) => [action, reason, diff?.status])).toEqual([
      ['domain.suspended', 'spam', ['verified', 'suspended']],
      ['domain.resumed', null, ['suspended', 'pending']],
    ]);
  }
});
