import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { newId } from '../fields/ids.ts';
import { AppError, type Reason } from '../operation/errors.ts';
import { invoke } from '../operation/operation.ts';
import { requestGroups } from './request-groups.ts';

const world = await openWorld();

async function refuse(reason: Reason, path: string, workspace_id = world.workspace_id): Promise<string> {
  const { services, clock } = world;
  const id = newId('request', clock.now());
  services.request_log.note({
    id,
    api: 'rest',
    method: 'POST',
    path,
    status: 400,
    error: new AppError(reason, `For ${id}`),
    actor: { kind: 'system', workspace_id },
    secret_hash: null,
    address: null,
    input: {},
    duration_ms: 1,
  });
  await services.request_log.flush();
  return id;
}

describe('rejected request groups', () => {
  it('count each reason per route, most frequent first, with the latest request for each', async () => {
    const other = await world.workspace('business');
    await refuse('invalid_email', '/email/send');
    const last = await refuse('invalid_email', '/email/send');
    const first = await refuse('missing_field', '/webhooks');
    await refuse('missing_field', '/webhooks', other.workspace_id);

    const groups = await invoke(world.as(world.workspace_id), requestGroups, {});

    expect(groups).toMatchObject({
      exact: true,
      data: [
        { reason: 'invalid_email', path: '/email/send', count: 2, last_id: last, message: `For ${last}` },
        { reason: 'missing_field', path: '/webhooks', count: 1, last_id: first },
      ],
    });
    expect(groups.data).toHaveLength(2);
  });

  it('cover the requested time range', async () => {
    const since = new Date(world.clock.now() + 1000).toISOString();

    expect((await invoke(world.as(world.workspace_id), requestGroups, { since })).data).toEqual([]);
  });
});
