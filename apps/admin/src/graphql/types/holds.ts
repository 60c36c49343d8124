import { createHold, type HoldEntry, holdScopes, listHolds, releaseHold } from '@postrider/core/holds';
import { builder } from '../builder.ts';
import { enumOf } from '../enums.ts';
import { outcome, resultOf } from '../errors.ts';
import { call } from '../from-operation.ts';
import { claimIds } from '../node-ids.ts';
import { Actor } from './audit.ts';
import { Hold } from './refs.ts';

// More are not in force at once by any reason; ended ones are seen page by page over tRPC.
const MOST = 100;

const HoldScope = enumOf('HoldScope', holdScopes);
const HoldStatus = enumOf(
  'HoldStatus',
  ['active', 'resuming', 'ended'],
  'RESUMING: it has ended, and what it kept back goes on at its rate.',
);
const HoldEnd = enumOf('HoldEnd', ['release', 'expiry']);

claimIds('hold', 'Hold');
builder.node(Hold, {
  description: 'Stops something on every worker for a while. Nothing is lost by it, and no attempt is spent.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.holds.loadMany(ids),
  fields: (t) => ({
    scope: t.field({ type: HoldScope, resolve: ({ scope }) => scope }),
    value: t.exposeString('value', { description: 'What is held: the name of a queue or a domain, or an id.' }),
    workspaceId: t.id({
      nullable: true,
      description: 'null where it holds for all.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    reason: t.exposeString('reason'),
    status: t.field({ type: HoldStatus, resolve: ({ status }) => status }),
    createdBy: t.field({
      type: Actor,
      description: 'Others than operators see of an operator only that it is one: the kind SYSTEM, the id operator.',
      resolve: ({ created_by }) => created_by,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    expiresAt: t.field({ type: 'DateTime', resolve: ({ expires_at }) => expires_at }),
    endedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ ended_at }) => ended_at }),
    endedBy: t.field({ type: HoldEnd, nullable: true, resolve: ({ ended_by }) => ended_by }),
    resumeRatePerMin: t.int({
      nullable: true,
      description: 'How fast what was kept back goes on after its end; null: all at once.',
      resolve: ({ resume_rate_per_minute }) => resume_rate_per_minute,
    }),
    affected: t.exposeInt('affected', { description: 'What it keeps back just now, counted up to 10000.' }),
  }),
});

builder.queryField('holds', (t) =>
  t.field({
    type: [Hold],
    description: 'What is held, newest first; not active: the newest hundred, ended ones too. Needs admin or operator.',
    args: { active: t.arg.boolean({ defaultValue: true }) },
    complexity: { field: 1, multiplier: 10 },
    resolve: async (_, { active }, g) => (await call(g, listHolds, { active: active ?? true, limit: MOST })).data,
  }),
);

const HoldPayload = builder.objectRef<{ readonly hold: HoldEntry }>('HoldPayload').implement({
  fields: (t) => ({ hold: t.field({ type: Hold, resolve: ({ hold }) => hold }) }),
});
const HoldResult = resultOf('HoldResult', HoldPayload);

const HoldInput = builder.inputType('HoldInput', {
  fields: (t) => ({
    scope: t.field({ type: HoldScope, required: true }),
    value: t.string({ required: true, description: 'The name of a queue or a domain, or an id.' }),
    reason: t.string({ required: true, description: 'Seen by those whose mail it keeps back.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'In a day where it is not given, at most in 30.' }),
    resumeRatePerMin: t.int({ description: 'How fast what was kept back goes on afterwards.' }),
    workspaceId: t.id({ description: 'For operators: whose domain it is.' }),
  }),
});
const HoldReleaseInput = builder.inputType('HoldReleaseInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    reason: t.string(),
    atOnce: t.boolean({ description: 'Lifts its rate too, also where it has ended before.' }),
  }),
});

builder.mutationFields((t) => ({
  holdCreate: t.field({
    type: HoldResult,
    description: 'Holds on every worker within two seconds. Needs operator for queues and destinations, else admin.',
    args: { input: t.arg({ type: HoldInput, required: true }) },
    resolve: (_, { input: { resumeRatePerMin, ...input } }, g) =>
      outcome(async () => ({ hold: await call(g, createHold, { ...input, resumeRatePerMinute: resumeRatePerMin }) })),
  }),
  holdRelease: t.field({
    type: HoldResult,
    description:
      'Ends a hold. Released once, it answers the same again. Needs operator for what an operator holds, else admin.',
    args: { input: t.arg({ type: HoldReleaseInput, required: true }) },
    resolve: (_, { input: { id, reason, atOnce } }, g) =>
      outcome(async () => ({ hold: await call(g, releaseHold, { holdId: id, reason, atOnce: atOnce ?? undefined }) })),
  }),
}));
