import { z } from 'zod';
import { changesOf, recordAudit } from '../../audit/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { objectName, timeField } from '../../fields/wire.ts';
import { accessField, accessibleSide, accessScopes, INSTANCE } from '../../operation/access.ts';
import type { ActorContext } from '../../operation/context.ts';
import { requireFreshSignIn } from '../../operation/fresh-sign-in.ts';
import { operation } from '../../operation/operation.ts';
import { deletePolicy, type PolicyRow, readPolicy, writePolicy } from './policy-store.ts';

const MAX_GRACE_DAYS = 90;
const DEFAULT_GRACE_DAYS = 7;

const secondFactorField = z.enum(['optional', 'required_for_admins', 'required']).meta({
  description:
    'Who must have a second factor. required_for_admins includes operators. The stricter policy of workspace and instance applies.',
});

const graceField = z
  .int()
  .min(0)
  .max(MAX_GRACE_DAYS)
  .meta({ description: 'Days that people have to add one, from the policy or from when they joined.' });

const policySchema = z.object({
  object: objectName('sign_in_policy'),
  access: z.enum(accessScopes),
  second_factor: secondFactorField,
  grace_days: graceField,
  since: timeField.nullable().meta({ description: 'null: optional.' }),
});
type Policy = z.output<typeof policySchema>;

function policyEntry(owner: string, row: PolicyRow | null): Policy {
  return {
    object: 'sign_in_policy',
    access: owner === INSTANCE ? 'instance' : 'workspace',
    second_factor: row?.second_factor ?? 'optional',
    grace_days: row?.grace_days ?? DEFAULT_GRACE_DAYS,
    since: row && isoTime(row.since),
  };
}

export const getSignInPolicy = operation({
  name: 'people.sign_in_policy',
  scope: null,
  summary: 'Who must have a second factor',
  input: z.object({ access: accessField }),
  output: policySchema,
  async run(ctx, { access }): Promise<Policy> {
    const owner = accessibleSide(ctx, access);
    return policyEntry(owner, await readPolicy(ctx.sql, owner));
  },
});

/**
 * Sets who must have a second factor. After the grace period, someone without one can do nothing but add one, also in
 * sessions that had already started.
 */
export const setSignInPolicy = operation({
  name: 'people.set_sign_in_policy',
  scope: null,
  summary: 'Set who must have a second factor',
  input: z.object({ access: accessField, second_factor: secondFactorField, grace_days: graceField.optional() }),
  output: policySchema,
  async run(ctx: ActorContext, { access, second_factor, grace_days = DEFAULT_GRACE_DAYS }): Promise<Policy> {
    const owner = accessibleSide(ctx, access);
    await requireFreshSignIn(ctx);
    return ctx.sql.begin(async (tx) => {
      const before = policyEntry(owner, await readPolicy(tx, owner));
      if (second_factor === 'optional') await deletePolicy(tx, owner);
      else await writePolicy(tx, owner, { second_factor, grace_days });
      const after = policyEntry(owner, await readPolicy(tx, owner));
      const diff = changesOf(before, after, ['second_factor', 'grace_days']);
      if (diff) {
        const target_id = owner === INSTANCE ? 'instance' : owner;
        await recordAudit(tx, ctx, [{ action: 'sign_in_policy.set', target_id, diff, workspace_id: owner }]);
      }
      return after;
    });
  },
});
