import { invoke } from '@postrider/core';
import { getErasure, listErasures, startErasure } from '@postrider/core/erasures';
import * as shapes from '../shapes.ts';
import { connection, mutation, reading, useCase } from '../use-case.ts';
import { NO_REST } from './setup.ts';

export const erasures = [
  useCase(startErasure, {
    rest: 'POST /erasures',
    trpc: 'POST erasures.start',
    graphql: mutation(
      'erasureStart',
      'ErasureInput',
      'ErasurePayload',
      `of: erasure { ${shapes.erasure} }`,
      ({ input: { email } }) => ({ address: email }),
    ),
    given: async (_, __, number) => ({ input: { email: `ada@nr${number}.example.com` } }),
    writes: true,
    bad: { email: 'no-address' },
  }),
  useCase(getErasure, {
    rest: 'GET /erasures/{id}',
    trpc: 'GET erasures.get',
    graphql: reading('erasure', { id: 'ID!' }, shapes.erasure),
    async given(world, workspace_id, number) {
      const { id } = await invoke(world.as(workspace_id), startErasure, { email: `ada@nr${number}.example.com` });
      return { input: { id } };
    },
    target: 'id',
    looks_up: true,
  }),
  useCase(listErasures, {
    rest: NO_REST,
    trpc: 'GET erasures.list',
    graphql: connection('erasures', shapes.erasure),
    async given(world, workspace_id, number) {
      for (const name of ['ada', 'bob', 'eve'])
        await invoke(world.as(workspace_id), startErasure, { email: `${name}@nr${number}.example.com` });
      return { input: { limit: 2 } };
    },
    paged: true,
  }),
];
