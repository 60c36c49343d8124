import { invoke } from '@postrider/core';
import { cancelBulk, getBulk, listBulk, previewBulk, runBulk } from '@postrider/core/bulk';
import * as shapes from '../shapes.ts';
import { absent, connection, mutation, type UseCase, useCase } from '../use-case.ts';
import { NO_REST, node, scheduled, several } from './setup.ts';

const aPreview: UseCase['given'] = async (world, workspace_id, number) => {
  await scheduled(world, workspace_id, number);
  return { input: { action: 'send_now', filter: { to: `reader@nr${number}.example.com` } } };
};

const aBulk: UseCase['given'] = async (world, workspace_id, number) => {
  const ctx = world.as(workspace_id);
  // Open operations are canceled because they are limited per workspace and no worker runs here.
  const { data } = await invoke(ctx, listBulk, { limit: 100 });
  const open = data.filter(({ finished_at }) => finished_at === null);
  if (open.length >= 15) for (const { id } of open) await invoke(ctx, cancelBulk, { id });
  const { input } = await aPreview(world, workspace_id, number);
  const { token } = await invoke(ctx, previewBulk, input);
  const { id } = await invoke(ctx, runBulk, { token, reason: 'Now' });
  return { input: { id } };
};

export const bulk = [
  useCase(previewBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkPreview',
    graphql: mutation('bulkPreview', 'BulkInput', 'BulkPreview', shapes.preview, ({ input }) => ({
      action: String(input.action).toUpperCase(),
      messages: input.filter,
    })),
    given: aPreview,
    scope: 'admin',
    varying: ['token'],
    bad: { filter: { since: 'yesterday' } },
  }),
  useCase(runBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkRun',
    graphql: mutation('bulkRun', 'BulkRunInput', 'BulkPayload', `of: bulk { ${shapes.bulk} }`),
    // A token is bound to the caller of the preview, so no two callers can share one.
    given: async () => ({ input: { token: 'nonsense', reason: 'Now' } }),
    answers: false,
    bad: { rate_per_second: 0 },
    writes: true,
  }),
  useCase(listBulk, {
    rest: NO_REST,
    trpc: 'GET ops.bulkList',
    graphql: connection('bulkOperations', shapes.bulk),
    given: (world, workspace_id, number) => several(() => aBulk(world, workspace_id, number)),
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees those of the instance.') },
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getBulk, {
    rest: NO_REST,
    trpc: 'GET ops.bulkGet',
    graphql: node('BulkOperation', shapes.bulk),
    given: aBulk,
    target: 'id',
    looks_up: true,
  }),
  useCase(cancelBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkCancel',
    graphql: mutation('bulkCancel', 'BulkCancelInput', 'BulkPayload', `of: bulk { ${shapes.bulk} }`),
    given: aBulk,
    target: 'id',
    writes: true,
  }),
];
