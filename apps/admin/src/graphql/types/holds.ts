import { createHold, type HoldEntry, holdScopes, listHolds, releaseHold } from '@postrider/core/holds';
import { builder } from '../kit/builder.ts';
import { enumOf } from '../kit/enums.ts';
import { call } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Hold } from '../kit/refs.ts';
import { Actor } from './audit.ts';

// In practice, fewer holds are active at the same time. tRPC pages through holds that have ended.
const MAX_ITEMS = 100;

export const HoldScope = enumOf('HoldScope', holdScopes, 'The kind of target that a hold stops.');
const HoldStatus = enumOf(
  'HoldStatus',
  ['active', 'resuming', 'ended'],
  'RESUMING: released, and the held email is being sent at the resume rate.',
);
const HoldEnd = enumOf('HoldEnd', ['release', 'expiry'], 'RELEASE: released by a person or key. EXPIRY: expired.');

claimIds('hold', 'Hold');
builder.node(Hold, {
  description: 'Pauses sending on every worker. No email is lost, and no attempts are counted.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.holds.loadMany(ids),
  fields: (t) => ({
    scope: t.field({ type: HoldScope, description: 'The kind of target.', resolve: ({ scope }) => scope }),
    value: t.exposeString('value', {
      description: 'The target: a queue name, a domain name or an ID; "all" for the instance.',
    }),
    workspaceId: t.id({
      nullable: true,
      description: 'null: applies to all workspaces.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    reason: t.exposeString('reason', { description: 'Shown wherever email is held.' }),
    status: t.field({
      type: HoldStatus,
      description: 'Whether it still stops or slows email.',
      resolve: ({ status }) => status,
    }),
    createdBy: t.field({
      type: Actor,
      description: 'To users who are not operators, an operator appears with the kind SYSTEM and the id operator.',
      resolve: ({ created_by }) => created_by,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ created_at }) => created_at,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Null if it lasts until it is released.',
      resolve: ({ expires_at }) => expires_at,
    }),
    endedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was released or expired; null while active.',
      resolve: ({ ended_at }) => ended_at,
    }),
    endedBy: t.field({
      type: HoldEnd,
      nullable: true,
      description: 'Whether it was released or expired; null while active.',
      resolve: ({ ended_by }) => ended_by,
    }),
    resumeRatePerMin: t.int({
      nullable: true,
      description: 'The rate at which held email is sent after the hold; null: no limit.',
      resolve: ({ resume_rate_per_minute }) => resume_rate_per_minute,
    }),
    affected: t.exposeInt('affected', { description: 'Number of held items, counted up to 10,000.' }),
  }),
});

builder.queryField('holds', (t) =>
  t.field({
    type: [Hold],
    description:
      'Holds, newest first. With active: false, the newest 100, including ended ones. Requires admin or operator.',
    args: { active: t.arg.boolean({ defaultValue: true, description: 'false: also ended ones.' }) },
    complexity: { field: 1, multiplier: 10 },
    resolve: async (_, { active }, g) => (await call(g, listHolds, { active: active ?? true, limit: MAX_ITEMS })).data,
  }),
);

const HoldPayload = builder.objectRef<{ readonly hold: HoldEntry }>('HoldPayload').implement({
  description: 'The changed hold.',
  fields: (t) => ({
    hold: t.field({ type: Hold, description: 'The hold after the change.', resolve: ({ hold }) => hold }),
  }),
});
const HoldResult = resultOf('HoldResult', HoldPayload);

const HoldInput = builder.inputType('HoldInput', {
  description: 'The properties of a new hold.',
  fields: (t) => ({
    scope: t.field({ type: HoldScope, required: true, description: 'The kind of target.' }),
    value: t.string({
      required: true,
      description: 'A queue name, a domain name or an ID; "all" for the instance.',
    }),
    reason: t.string({ required: true, description: 'Shown wherever email is held.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Default: one day from now. Maximum: 30 days from now. Instance holds do not expire by default.',
    }),
    resumeRatePerMin: t.int({ description: 'The rate at which held email is sent.' }),
    workspaceId: t.id({ description: 'The workspace of the domain (operators only).' }),
  }),
});
const HoldReleaseInput = builder.inputType('HoldReleaseInput', {
  description: 'The hold to release.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The hold ID.' }),
    reason: t.string({ description: 'Reason for the audit log.' }),
    resumeRatePerMin: t.int({
      description: "Overrides the rate at which the hold's email is sent after its release, in emails per minute.",
    }),
    atOnce: t.boolean({ description: 'Also removes the resume rate, even if the hold has already ended.' }),
  }),
});

builder.mutationFields((t) => ({
  holdCreate: t.field({
    type: HoldResult,
    description:
      'Creates a hold, effective on every worker within two seconds. Instance, queue and destination holds require operator; all others require admin.',
    args: { input: inputArg(t, HoldInput) },
    resolve: (_, { input: { resumeRatePerMin, ...input } }, g) =>
      outcome(async () => ({ hold: await call(g, createHold, { ...input, resumeRatePerMinute: resumeRatePerMin }) })),
  }),
  holdRelease: t.field({
    type: HoldResult,
    description: 'Releases a hold. Idempotent. Requires operator for holds created by operators, otherwise admin.',
    args: { input: inputArg(t, HoldReleaseInput) },
    resolve: (_, { input: { id, reason, resumeRatePerMin, atOnce } }, g) =>
      outcome(async () => ({
        hold: await call(g, releaseHold, {
          holdId: id,
          reason,
          resumeRatePerMinute: resumeRatePerMin,
          atOnce: atOnce ?? undefined,
        }),
      })),
  }),
}));
