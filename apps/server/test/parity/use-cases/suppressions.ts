import { invoke } from '@postrider/core';
import { createSuppressions, deleteSuppression, listSuppressions } from '@postrider/core/suppressions';
import * as shapes from '../shapes.ts';
import { camelFields, connection, mutation, useCase } from '../use-case.ts';

export const suppressions = [
  useCase(listSuppressions, {
    rest: 'GET /suppressions',
    trpc: 'GET suppressions.list',
    graphql: connection('suppressions', shapes.suppression, { filter: 'SuppressionFilter' }, ({ input }) => ({
      filter: { causes: [String(input.source).toUpperCase()] },
    })),
    given: async (world, workspace_id, number) => {
      const ctx = world.as(workspace_id);
      await invoke(ctx, createSuppressions, { email: `by-hand@nr${number}.example.com` });
      const suppressions = [1, 2, 3, 4, 5].map((count) => ({ email: `c${count}@nr${number}.example.com` }));
      await invoke(ctx, createSuppressions, { suppressions });
      return { input: { source: 'import' } };
    },
    paged: true,
    bad: { cursor: 'nonsense' },
  }),
  useCase(createSuppressions, {
    rest: 'POST /suppressions',
    trpc: 'POST suppressions.add',
    graphql: mutation(
      'suppressionAdd',
      'SuppressionInput',
      'SuppressionPayload',
      `of: suppression { ${shapes.suppression} }`,
      ({ input: { email, reason, ...others } }) => ({ ...camelFields(others), address: email, note: reason }),
    ),
    given: async (_, __, number) => ({ input: { email: `Ada@nr${number}.example.com`, reason: 'She asked' } }),
    writes: true,
    bad: { expires_at: 'tomorrow' },
  }),
  useCase(deleteSuppression, {
    rest: 'DELETE /suppressions/{email}',
    trpc: 'POST suppressions.remove',
    graphql: mutation('suppressionRemove', 'TargetInput', 'DeletePayload', 'id: deletedId', ({ ids = {} }) => ({
      id: ids.suppression,
    })),
    async given(world, workspace_id, number) {
      const address = `ada@nr${number}.example.com`;
      const added = await invoke(world.as(workspace_id), createSuppressions, { email: address });
      if ('data' in added) throw new Error('one address was answered as a list');
      return { input: { email: address }, ids: { suppression: added.id } };
    },
    target: 'email',
    writes: true,
  }),
];
