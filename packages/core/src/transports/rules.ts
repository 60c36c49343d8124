import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { requireRules } from './requirements.ts';
import { allRules, lockTransports, noteChange, replaceRules } from './store.ts';
import { MAX_RULES, type Rules, ruleEntry, ruleSchema, rulesSchema } from './transport.ts';

/** Returns the rules, in order. */
export const getTransportRules = operation({
  name: 'transports.rules',
  scope: 'operator',
  summary: 'Get the rules that choose a transport',
  input: z.object({}),
  output: rulesSchema,
  async run(ctx): Promise<Rules> {
    return { object: 'transport_rules', data: (await allRules(ctx.sql)).map(ruleEntry) };
  },
});

/**
 * Replaces all rules. Every worker follows within five seconds, also with email that waits; email that is being sent
 * stays with its transport.
 */
export const setTransportRules = operation({
  name: 'transports.set_rules',
  scope: 'operator',
  summary: 'Replace the rules that choose a transport',
  reasons: ['unknown_transport', 'workspace_not_found'],
  input: z.object({ rules: z.array(ruleSchema).max(MAX_RULES).readonly() }),
  output: rulesSchema,
  async run(ctx, { rules }): Promise<Rules> {
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      await requireRules(tx, rules);
      const before = (await allRules(tx)).map(ruleEntry);
      await replaceRules(tx, rules);
      await noteChange(tx);
      const after = (await allRules(tx)).map(ruleEntry);
      const diff = { rules: [before.map(ruleText), after.map(ruleText)] };
      const fact = { action: 'transport.rules_set', target_id: INSTANCE, workspace_id: INSTANCE } as const;
      await recordAudit(tx, ctx, [{ ...fact, diff }]);
      return { object: 'transport_rules', data: after };
    });
  },
});

/** Returns a rule on one line, for the audit log. */
function ruleText({ transports, ...conditions }: Rules['data'][number]): string {
  const words = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  return `${words.join(' ') || 'all'} → ${transports.join(', ')}`;
}
