import {
  createKey,
  type KeyEntry,
  keyModes,
  keyNotFound,
  keyStatuses,
  listKeys,
  revokeKey,
  rotateKey,
} from '@postrider/core/api-keys';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page, present } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { ApiKey, Domain } from '../kit/refs.ts';
import { Bucket, StatPoint } from '../kit/stat-point.ts';
import { RotateInput, TargetInput } from '../kit/target.ts';
import { TimeRange } from '../kit/time-range.ts';
import { Actor } from './audit.ts';

export const KeyMode = enumOf('KeyMode', keyModes);
const KeyStatus = enumOf('KeyStatus', keyStatuses);

// The cost of a time series with a few hundred points.
const KEY_USAGE_POINTS = 4;

claimIds('api_key', 'ApiKey');
builder.node(ApiKey, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.keys.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name'),
    mode: t.field({ type: KeyMode, resolve: ({ mode }) => mode }),
    scopes: t.stringList({ resolve: ({ scopes }) => scopes }),
    prefix: t.exposeString('prefix', { description: 'First characters of the secret.' }),
    last4: t.exposeString('last4', { description: 'Last characters of the secret.' }),
    status: t.field({ type: KeyStatus, resolve: ({ status }) => status }),
    domainNames: t.stringList({
      nullable: true,
      description: 'The domains it can send from, whether or not the workspace has added them; null: any.',
      resolve: ({ domains }) => domains,
    }),
    domains: t.field({
      type: [Domain],
      nullable: true,
      description: 'The domains among domainNames that are in the workspace; null: any.',
      async resolve({ domains }, _, { load }) {
        if (domains === null) return null;
        return (await load.domainsByName.loadMany(domains)).filter((domain) => domain !== null);
      },
    }),
    allowedIps: t.stringList({
      nullable: true,
      description: 'IP addresses and networks it can be used from; null: any.',
      resolve: ({ allowed_ips }) => allowed_ips,
    }),
    usage: t.field({
      type: [StatPoint],
      nullable: true,
      description: 'Recipients of email sent with this key, by bucket; null after the key is deleted.',
      args: { range: t.arg({ type: TimeRange, required: true }), bucket: t.arg({ type: Bucket, defaultValue: 'day' }) },
      complexity: { field: KEY_USAGE_POINTS, multiplier: 1 },
      resolve: async ({ id }, { range, bucket }, { load }) =>
        (await load.keyUsages(range, bucket ?? 'day').load(id))?.points ?? null,
    }),
    createdBy: t.field({ type: Actor, resolve: ({ id }, _, { load }) => load.makers.load(id) }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    lastUsedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ last_used_at }) => last_used_at }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ expires_at }) => expires_at }),
    revokedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ revoked_at }) => revoked_at }),
    replacedBy: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The key that replaced it on rotation.',
      resolve: ({ replaced_by }, _, { load }) => (replaced_by === null ? null : load.keys.load(replaced_by)),
    }),
  }),
});

const ApiKeyConnection = connectionOf(ApiKey);

const ApiKeyFilter = builder.inputType('ApiKeyFilter', {
  fields: (t) => ({ status: t.field({ type: [KeyStatus], description: 'Any of these.' }) }),
});

builder.queryField('apiKeys', (t) =>
  t.field({
    type: ApiKeyConnection,
    args: { ...pageArgs(t), filter: t.arg({ type: ApiKeyFilter }) },
    resolve: (_, { filter, ...args }, g) => page(g, listKeys, args, { status: filter?.status?.join(',') }),
  }),
);

const ApiKeyPayload = builder.objectRef<{ readonly apiKey: KeyEntry }>('ApiKeyPayload').implement({
  fields: (t) => ({ apiKey: t.field({ type: ApiKey, resolve: ({ apiKey }) => apiKey }) }),
});
const ApiKeyResult = resultOf('ApiKeyResult', ApiKeyPayload);

const ApiKeyCreatePayload = builder.objectRef<KeyEntry & { readonly secret: string }>('ApiKeyCreatePayload').implement({
  fields: (t) => ({
    apiKey: t.field({ type: ApiKey, resolve: (key) => key }),
    secret: t.exposeString('secret', { description: 'Only returned here.' }),
  }),
});
const ApiKeyCreateResult = resultOf('ApiKeyCreateResult', ApiKeyCreatePayload);

const ApiKeyInput = builder.inputType('ApiKeyInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    scopes: t.stringList({ required: true }),
    mode: t.field({ type: KeyMode, description: 'Default: LIVE.' }),
    domains: t.stringList({ description: 'The domains it can send from. Default: any.' }),
    allowedIps: t.stringList({ description: 'IP addresses and networks it can be used from. Default: any.' }),
    expiresAt: t.field({ type: 'DateTime' }),
  }),
});

builder.mutationFields((t) => ({
  apiKeyCreate: t.field({
    type: ApiKeyCreateResult,
    description: 'A key cannot have a scope that its creator lacks.',
    args: { input: t.arg({ type: ApiKeyInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, createKey, input)),
  }),
  apiKeyRotate: t.field({
    type: ApiKeyCreateResult,
    description: 'Replaces a key with a new one that has the same permissions. The old key works for another 24 hours.',
    args: { input: t.arg({ type: RotateInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, rotateKey, { keyId: input.id })),
  }),
  apiKeyRevoke: t.field({
    type: ApiKeyResult,
    description: 'Takes effect on the next request, in every process. Idempotent.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await call(g, revokeKey, { keyId: input.id });
        return { apiKey: present(await g.load.keys.load(input.id), keyNotFound(input.id)) };
      }),
  }),
}));
