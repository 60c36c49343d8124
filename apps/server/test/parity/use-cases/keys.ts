import { createKey, currentKey, keyUsage, listKeys, revokeKey, rotateKey } from '@postrider/core/api-keys';
import * as shapes from '../shapes.ts';
import { absent, connection, mutation, reading, useCase } from '../use-case.ts';
import { emptySetup, HOUR_MS, NO_PAGE, several, withInput } from './setup.ts';

export const keys = [
  useCase(listKeys, {
    rest: 'GET /api-keys',
    trpc: 'GET apiKeys.list',
    graphql: connection('apiKeys', shapes.apiKey),
    given: (world) => several(() => world.key({ scopes: ['email:send'] })),
    paged: true,
    // The request itself updates the key's last use.
    varying: ['last_used_at'],
    bad: { limit: 0 },
  }),
  useCase(currentKey, {
    rest: 'GET /api-keys/current',
    trpc: absent('A session is no key.'),
    graphql: reading('viewer', {}, `key { ${shapes.apiKey} }`, undefined, (viewer) => (viewer as { key: unknown }).key),
    given: emptySetup,
    varying: ['last_used_at'],
  }),
  useCase(createKey, {
    rest: 'POST /api-keys',
    trpc: 'POST apiKeys.create',
    graphql: mutation('apiKeyCreate', 'ApiKeyInput', 'ApiKeyCreatePayload', `of: apiKey { ${shapes.apiKey} } secret`),
    given: withInput({ name: 'Shop', scopes: ['email:send'], allowed_ips: ['192.0.2.0/24'], domains: ['example.com'] }),
    writes: true,
    varying: ['last4'],
    bad: { scopes: ['email:send', 'everything'] },
  }),
  useCase(keyUsage, {
    rest: absent('A program reads the usage of its workspace.'),
    trpc: NO_PAGE,
    graphql: {
      field: 'node',
      document: `query ($id: ID!, $range: TimeRange!) { value: node(id: $id) { ... on ApiKey {
        key_id: id last_used_at: lastUsedAt points: usage(range: $range) { at value } } } }`,
      variables: ({ input: { key_id, since } }) => ({ id: key_id, range: { since } }),
      value: (response) => response,
    },
    given: async (world) => ({
      input: {
        key_id: (await world.key({ scopes: ['email:send'] })).id,
        since: new Date(world.clock.now() - 72 * HOUR_MS).toISOString(),
      },
    }),
    target: 'key_id',
    looks_up: true,
  }),
  useCase(rotateKey, {
    rest: 'POST /api-keys/{key_id}/rotate',
    trpc: 'POST apiKeys.rotate',
    graphql: mutation(
      'apiKeyRotate',
      'RotateInput',
      'ApiKeyCreatePayload',
      `of: apiKey { ${shapes.apiKey} } secret`,
      ({ input }) => ({ id: input.key_id }),
    ),
    given: async (world) => ({ input: { key_id: (await world.key({ scopes: ['email:send'] })).id } }),
    target: 'key_id',
    writes: true,
    varying: ['last4'],
  }),
  useCase(revokeKey, {
    rest: 'DELETE /api-keys/{key_id}',
    trpc: 'POST apiKeys.revoke',
    graphql: mutation(
      'apiKeyRevoke',
      'TargetInput',
      'ApiKeyPayload',
      'of: apiKey { id revoked_at: revokedAt }',
      ({ input }) => ({ id: input.key_id }),
    ),
    given: async (world) => ({ input: { key_id: (await world.key({ scopes: ['email:send'] })).id } }),
    target: 'key_id',
    writes: true,
  }),
];
