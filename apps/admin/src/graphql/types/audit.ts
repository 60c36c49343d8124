import { accessScopes, viaNames } from '@postrider/core';
import {
  type AuditVerification,
  actorKinds,
  auditKinds,
  type AuditEntry as Entry,
  followAudit,
  listAudit,
  verifyAudit,
} from '@postrider/core/audit';
import { builder } from '../kit/builder.ts';
import { connectionOf, edgeOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, page } from '../kit/from-operation.ts';
import { claimIds, typenameOf } from '../kit/node-ids.ts';

const Via = enumOf('Via', viaNames, 'The interface that the action was performed through.');
const ActorKind = enumOf('ActorKind', actorKinds, 'KEY: an API key. USER: a signed-in user. SYSTEM: Postrider.');
const AuditKind = enumOf(
  'AuditKind',
  auditKinds,
  'READS: entries that record who read something, such as email content. CHANGES: all other entries.',
);
const AuditChain = enumOf(
  'AuditChain',
  accessScopes,
  'INSTANCE: entries without a workspace. Requires the operator scope.',
);

export const Actor = builder.objectRef<Entry['actor']>('Actor').implement({
  description: 'Who performed an audited action.',
  fields: (t) => ({
    kind: t.field({
      type: ActorKind,
      description: 'Whether it is a key, a user or Postrider.',
      resolve: ({ kind }) => kind,
    }),
    id: t.exposeID('id', { description: 'The ID of the key or user; a name for SYSTEM.' }),
    name: t.exposeString('name', { description: 'The key name or email address at that time.' }),
  }),
});

export const AuditEntry = builder.objectRef<Entry>('AuditEntry');
claimIds('audit', 'AuditEntry');
builder.node(AuditEntry, {
  description: 'An entry of the audit log, chained by hash to the one before.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.auditEntries.loadMany(ids),
  fields: (t) => ({
    sequence: t.int({
      description: 'The position in the chain, from 1 and without gaps.',
      resolve: ({ sequence }) => sequence,
    }),
    at: t.field({ type: 'DateTime', description: 'When the action was performed.', resolve: ({ at }) => at }),
    actor: t.field({ type: Actor, description: 'Who performed the action.', resolve: ({ actor }) => actor }),
    via: t.field({ type: Via, description: 'The API that the action came in through.', resolve: ({ via }) => via }),
    action: t.exposeString('action', { description: 'The action, such as api_key.revoked.' }),
    target: t.node({
      description: 'The target, if it has an ID, still exists and is visible to the key.',
      id: ({ target_id }) => (typenameOf(target_id) === null ? null : target_id),
    }),
    targetId: t.id({
      description: 'The target ID, or its name if it has no ID.',
      resolve: ({ target_id }) => target_id,
    }),
    diff: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What changed; [before, after] for a field that had a value.',
      resolve: ({ diff }) => diff,
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'The reason given with the action; null: none.' }),
    ip: t.string({
      nullable: true,
      description: 'Client IP address; null: none, such as for SYSTEM.',
      resolve: ({ address }) => address,
    }),
    requestId: t.id({
      description: 'The ID of the request that performed the action.',
      resolve: ({ request_id }) => request_id,
    }),
  }),
});

const AuditFilter = builder.inputType('AuditFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    chain: t.field({ type: AuditChain, description: 'Default: WORKSPACE.' }),
    action: t.stringList({ description: 'Any of these actions, such as api_key.revoked.' }),
    kind: t.field({ type: AuditKind, description: 'Default: both kinds.' }),
    targetId: t.id({ description: 'The target ID, or its name if it has no ID.' }),
    actorId: t.id({ description: 'The ID of the key or user that performed the action.' }),
    since: t.field({ type: 'DateTime', description: 'At or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Before this time.' }),
  }),
});

const AuditConnection = connectionOf(AuditEntry);

builder.queryField('auditLog', (t) =>
  t.field({
    type: AuditConnection,
    description: 'The audit log, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, AuditFilter) },
    resolve: (_, { filter, ...args }, g) => page(g, listAudit, args, { ...filter, action: filter?.action?.join(',') }),
  }),
);

const AuditFault = builder.objectRef<NonNullable<AuditVerification['broken']>>('AuditFault').implement({
  description: 'A broken entry of the audit log.',
  fields: (t) => ({
    sequence: t.exposeInt('sequence', { description: 'The position of the entry in the chain.' }),
    id: t.id({ nullable: true, description: 'The ID of the entry; null if it is missing.', resolve: ({ id }) => id }),
    problem: t.exposeString('problem', { description: 'missing, changed, detached or replaced.' }),
  }),
});

const Verification = builder.objectRef<AuditVerification>('AuditVerification').implement({
  description: 'The result of a check of the audit log.',
  fields: (t) => ({
    verified: t.exposeInt('verified', { description: 'The sequence number up to which the chain is intact.' }),
    length: t.exposeInt('length', { description: 'Length of the chain when the check began.' }),
    complete: t.exposeBoolean('complete', {
      description: 'false: continue with after = verified, unless broken is set.',
    }),
    head: t.exposeString('head', {
      nullable: true,
      description:
        'The hash of the last entry. Store it elsewhere to detect later changes to this entry or any earlier one.',
    }),
    broken: t.field({
      type: AuditFault,
      nullable: true,
      description: 'The first broken entry.',
      resolve: ({ broken }) => broken,
    }),
  }),
});

builder.queryField('auditVerify', (t) =>
  t.field({
    type: Verification,
    description: 'Verifies the hash chain of the audit log, up to 20,000 entries at a time.',
    // Costs as much as many pages because it reads as many entries.
    complexity: { field: 200, multiplier: 1 },
    args: {
      chain: t.arg({ type: AuditChain, description: 'Default: WORKSPACE.' }),
      after: t.arg.int({ description: 'verified from the previous response.' }),
    },
    resolve: (_, args, g) => call(g, verifyAudit, args),
  }),
);

builder.subscriptionField('auditLog', (t) =>
  t.field({
    type: edgeOf(AuditEntry),
    description: 'New entries in chain order, or the ones after a cursor, without gaps.',
    args: {
      after: t.arg.string({
        description: 'The cursor of an edge; entries after it come first. Default: only new entries.',
      }),
      chain: t.arg({ type: AuditChain, description: 'Default: WORKSPACE.' }),
    },
    subscribe: (_, args, g) => g.follow(g, () => call(g, followAudit, args)),
    resolve: (edge) => edge,
  }),
);
