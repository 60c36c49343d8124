import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { invoke } from '../../operation/operation.ts';
import { addDomain } from '../add-domain.ts';
import { rotateKeys } from '../rotate-keys.ts';

const world = await openWorld();

function addAll(workspace_id: string, count: number, outcomes: (string | undefined)[]): Promise<void>[] {
  return Array.from({ length: count }, async (_, index) => {
    const outcome = await invoke(world.as(workspace_id), addDomain, { name: `d${index}.test` }).then(
      () => 'added',
      (error: { reason?: string }) => error.reason,
    );
    outcomes.push(outcome);
  });
}

function countOf<T>(values: readonly T[], value: T): number {
  return values.filter((each) => each === value).length;
}

describe('a workspace that generates many DKIM keys', () => {
  it('does not delay another workspace, and may have only a limited number waiting', async () => {
    const [greedy, other] = await Promise.all([world.workspace('business'), world.workspace('business')]);
    const outcomes: (string | undefined)[] = [];
    const requests = addAll(greedy.workspace_id, 90, outcomes);
    await expect.poll(() => outcomes).toContain('dkim_keys_busy');

    const before = countOf(outcomes, 'added');
    await Promise.all(addAll(other.workspace_id, 1, outcomes));
    const meanwhile = countOf(outcomes, 'added') - 1 - before;

    expect(meanwhile).toBeLessThan(25);
    await Promise.all(requests);
    expect(new Set(outcomes)).toEqual(new Set(['added', 'dkim_keys_busy']));
    expect(countOf(outcomes, 'added')).toBeGreaterThanOrEqual(52);
  });

  it('is rejected before a key is generated if a rotation is in progress', async () => {
    const { workspace_id } = await world.workspace('business');
    const ctx = world.as(workspace_id);
    await invoke(ctx, addDomain, { name: 'rotated.test' });
    await invoke(ctx, rotateKeys, { domain: 'rotated.test' });
    const key_line = { enter: () => Promise.reject(new Error('a key was generated')), stop: () => undefined };

    const rotation = invoke({ ...ctx, key_line }, rotateKeys, { domain: 'rotated.test' });

    await expect(rotation).rejects.toMatchObject({ reason: 'rotation_in_progress' });
  });
});
