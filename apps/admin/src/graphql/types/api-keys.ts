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
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { ApiKey, Domain } from '../kit/refs.ts';
import { Bucket, StatPoint } from '../kit/stat-point.ts';
import { RotateInput, TargetInput } from '../kit/target.ts';
import { TimeRange } from '../kit/time-range.ts';
import { Actor } from './audit.ts';

export const KeyMode = enumOf(
  'KeyMode',
  keyModes,
  'Email from SANDBOX keys goes to the simulator and does not count toward the quota.',
);
const KeyStatus = enumOf('KeyStatus', keyStatuses, 'Only ACTIVE keys can be used.');

// The cost of a time series with a few hundred points.
const KEY_USAGE_POINTS = 4;

claimIds('api_key', 'ApiKey');
builder.node(ApiKey, {
  description: 'A key for the APIs and for SMTP submission.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.keys.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name given on creation.' }),
    mode: t.field({
      type: KeyMode,
      description: 'Email from SANDBOX keys goes to the simulator and does not count toward the quota.',
      resolve: ({ mode }) => mode,
    }),
    scopes: t.stringList({
      description: 'The permissions of the key, such as email:send.',
      resolve: ({ scopes }) => scopes,
    }),
    prefix: t.exposeString('prefix', { description: 'First characters of the secret.' }),
    last4: t.exposeString('last4', { description: 'Last characters of the secret.' }),
    status: t.field({ type: KeyStatus, description: 'Whether the key can be used.', resolve: ({ status }) => status }),
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
      args: {
        range: t.arg({
          type: TimeRange,
          required: true,
          description: 'The first bucket is the one that contains since.',
        }),
        bucket: t.arg({ type: Bucket, defaultValue: 'day', description: 'The interval of each point.' }),
      },
      complexity: { field: KEY_USAGE_POINTS, multiplier: 1 },
      resolve: async ({ id }, { range, bucket }, { load }) =>
        (await load.keyUsages(range, bucket ?? 'day').load(id))?.points ?? null,
    }),
    createdBy: t.field({
      type: Actor,
      description: 'The user or key that created it.',
      resolve: ({ id }, _, { load }) => load.makers.load(id),
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ created_at }) => created_at,
    }),
    lastUsedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used; null: never.',
      resolve: ({ last_used_at }) => last_used_at,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null: never.',
      resolve: ({ expires_at }) => expires_at,
    }),
    revokedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null: not revoked.',
      resolve: ({ revoked_at }) => revoked_at,
    }),
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
  description: 'Filters of the list of API keys.',
  fields: (t) => ({ status: t.field({ type: [KeyStatus], description: 'Any of these.' }) }),
});

builder.queryField('apiKeys', (t) =>
  t.field({
    type: ApiKeyConnection,
    description: 'The API keys of the workspace, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, ApiKeyFilter) },
    resolve: (_, { filter, ...args }, g) => page(g, listKeys, args, { status: filter?.status?.join(',') }),
  }),
);

const ApiKeyPayload = builder.objectRef<{ readonly apiKey: KeyEntry }>('ApiKeyPayload').implement({
  description: 'The changed API key.',
  fields: (t) => ({
    apiKey: t.field({ type: ApiKey, description: 'The API key after the change.', resolve: ({ apiKey }) => apiKey }),
  }),
});
const ApiKeyResult = resultOf('ApiKeyResult', ApiKeyPayload);

const ApiKeyCreatePayload = builder.objectRef<KeyEntry & { readonly secret: string }>('ApiKeyCreatePayload').implement({
  description: 'A new API key with its secret.',
  fields: (t) => ({
    apiKey: t.field({ type: ApiKey, description: 'The new key.', resolve: (key) => key }),
    secret: t.exposeString('secret', { description: 'Only returned here.' }),
  }),
});
const ApiKeyCreateResult = resultOf('ApiKeyCreateResult', ApiKeyCreatePayload);

const ApiKeyInput = builder.inputType('ApiKeyInput', {
  description: 'The properties of a new API key.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The name of the key, up to 100 characters.' }),
    scopes: t.stringList({
      required: true,
      description: 'The permissions of the key, such as email:send; at least one.',
    }),
    mode: t.field({ type: KeyMode, description: 'Default: LIVE.' }),
    domains: t.stringList({ description: 'The domains it can send from. Default: any.' }),
    allowedIps: t.stringList({ description: 'IP addresses and networks it can be used from. Default: any.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires. Default: never.' }),
  }),
});

builder.mutationFields((t) => ({
  apiKeyCreate: t.field({
    type: ApiKeyCreateResult,
    description: 'A key cannot have a scope that its creator lacks.',
    args: { input: inputArg(t, ApiKeyInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, createKey, input)),
  }),
  apiKeyRotate: t.field({
    type: ApiKeyCreateResult,
    description: 'Replaces a key with a new one that has the same permissions. The old key works for another 24 hours.',
    args: { input: inputArg(t, RotateInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, rotateKey, { keyId: input.id })),
  }),
  apiKeyRevoke: t.field({
    type: ApiKeyResult,
    description: 'Takes effect on the next request, in every process. Idempotent.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await call(g, revokeKey, { keyId: input.id });
        return { apiKey: present(await g.load.keys.load(input.id), keyNotFound(input.id)) };
      }),
  }),
}));
