import { faces, reaches } from '@postrider/core';
import { actorKinds, type AuditEntry as Entry, followAudit, listAudit } from '@postrider/core/audit';
import { builder } from '../builder.ts';
import { connectionOf, edgeOf, pageArgs } from '../connections.ts';
import { enumOf } from '../enums.ts';
import { call, page } from '../from-operation.ts';
import { claimIds, typenameOf } from '../node-ids.ts';

const Face = enumOf('Face', faces, 'What an action came in through.');
const ActorKind = enumOf('ActorKind', actorKinds);
const AuditChain = enumOf(
  'AuditChain',
  reaches,
  'INSTANCE: what belongs to no workspace; it needs the scope operator.',
);

export const Actor = builder.objectRef<Entry['actor']>('Actor').implement({
  description: 'Who did something.',
  fields: (t) => ({
    kind: t.field({ type: ActorKind, resolve: ({ kind }) => kind }),
    id: t.exposeID('id'),
    name: t.exposeString('name', { description: 'As it was then: the name of the key, or the e-mail address.' }),
  }),
});

export const AuditEntry = builder.objectRef<Entry>('AuditEntry');
claimIds('audit', 'AuditEntry');
builder.node(AuditEntry, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.auditEntries.loadMany(ids),
  fields: (t) => ({
    sequence: t.int({
      description: 'Its place in its chain, from 1 and without gaps.',
      resolve: ({ sequence }) => sequence,
    }),
    at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    actor: t.field({ type: Actor, resolve: ({ actor }) => actor }),
    face: t.field({ type: Face, resolve: ({ face }) => face }),
    action: t.exposeString('action'),
    target: t.node({
      description: 'What it was done to, where that has an id, is still there, and is in reach of the key.',
      id: ({ target_id }) => (typenameOf(target_id) === null ? null : target_id),
    }),
    targetId: t.id({
      description: 'The id of the target, or its name where it has none.',
      resolve: ({ target_id }) => target_id,
    }),
    diff: t.field({
      type: 'JSON',
      nullable: true,
      description: 'What changed; of a field that had a value before: [before, after].',
      resolve: ({ diff }) => diff,
    }),
    reason: t.exposeString('reason', { nullable: true }),
    ip: t.string({ nullable: true, resolve: ({ address }) => address }),
    requestId: t.id({ resolve: ({ request_id }) => request_id }),
  }),
});

const AuditFilter = builder.inputType('AuditFilter', {
  fields: (t) => ({
    chain: t.field({ type: AuditChain, description: 'WORKSPACE where it is left out.' }),
    action: t.stringList({ description: 'Such as api_key.revoked; any of them.' }),
    targetId: t.id(),
    actorId: t.id(),
    since: t.field({ type: 'DateTime' }),
    until: t.field({ type: 'DateTime' }),
  }),
});

const AuditConnection = connectionOf(AuditEntry);

builder.queryField('auditLog', (t) =>
  t.field({
    type: AuditConnection,
    description: 'Who did what, newest first.',
    args: { ...pageArgs(t), filter: t.arg({ type: AuditFilter }) },
    resolve: (_, { filter, ...args }, g) => page(g, listAudit, args, { ...filter, action: filter?.action?.join(',') }),
  }),
);

builder.subscriptionField('auditLog', (t) =>
  t.field({
    type: edgeOf(AuditEntry),
    description: 'Entries as they are made, in the order of their chain, or from behind a cursor on; none is missed.',
    args: { after: t.arg.string(), chain: t.arg({ type: AuditChain, description: 'WORKSPACE where it is left out.' }) },
    subscribe: (_, args, g) => g.follow(g, () => call(g, followAudit, args)),
    resolve: (edge) => edge,
  }),
);
