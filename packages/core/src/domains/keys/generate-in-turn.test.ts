import { setTimeout as pause } from 'node:timers/promises';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { invoke } from '../../operation/operation.ts';
import { FairLine, keyBounds } from '../../shares/index.ts';
import { addDomain } from '../add-domain.ts';

const world = await openWorld();
const MAX_OWN_WAITING = 20;

/** A line in which fewer keys wait, and none gives up on a slow machine. */
function newLine() {
  const bounds = { ...keyBounds, max_own_waiting: MAX_OWN_WAITING, max_wait_ms: 600_000 };
  return new FairLine('dkim_keys', bounds, world.services.metrics);
}

function waitingNow() {
  const waiting = world.services.metrics.read().find(({ name }) => name === 'share_waiting');
  return waiting?.points.find(({ labels }) => labels.includes('dkim_keys'))?.value;
}

describe('a workspace that generates many DKIM keys', () => {
  it('does not delay another workspace, and has a limited number waiting', async () => {
    const [greedy, other] = await Promise.all([world.workspace('business'), world.workspace('business')]);
    const key_line = newLine();
    const outcomes: (string | undefined)[] = [];
    const add = async (workspace_id: string, name: string) => {
      const outcome = await invoke({ ...world.as(workspace_id), key_line }, addDomain, { name }).then(
        () => workspace_id,
        (error: { reason?: string }) => error.reason,
      );
      outcomes.push(outcome);
    };
    const requests = Array.from({ length: 3 * MAX_OWN_WAITING }, (_, index) =>
      add(greedy.workspace_id, `d${index}.test`),
    );
    await expect.poll(() => outcomes).toContain('dkim_keys_busy');

    await add(other.workspace_id, 'other.test');
    await Promise.all(requests);

    const added = outcomes.filter((outcome) => outcome !== 'dkim_keys_busy');
    const place = added.indexOf(other.workspace_id);
    expect(new Set(added)).toEqual(new Set([greedy.workspace_id, other.workspace_id]));
    expect(added.length).toBeGreaterThan(MAX_OWN_WAITING);
    expect(place).toBeLessThan(MAX_OWN_WAITING);
  });

  it('is rejected if its key was revoked while it waited', async () => {
    const { workspace_id, key_id } = await world.workspace('business');
    const key_line = newLine();
    const leave = await key_line.enter(workspace_id);
    const actor = { kind: 'key', workspace_id, key_id, scopes: ['admin'], mode: 'live', domains: null } as const;
    const request = invoke({ ...world.as(workspace_id), key_line, actor }, addDomain, { name: 'waited.test' });
    const outcome = request.then(
      () => 'added',
      (error: { reason?: string }) => error.reason,
    );

    await expect.poll(waitingNow).toBe(1);
    await world.services.sql`update api_keys set revoked_at = clock_now() where id = ${key_id}`;
    // Callers are checked again once they have waited for a second.
    await pause(1100);
    leave();

    expect(await outcome).toBe('revoked_key');
  });
});
