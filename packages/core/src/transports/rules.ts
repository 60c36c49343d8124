import type { Sql, Tx } from '@postrider/db';
import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { ownerOf, reachField } from './ownership.ts';
import { requireRules } from './requirements.ts';
import {
  allRules,
  lockTransports,
  noteChange,
  replaceRules,
  replaceWorkspaceRules,
  rulesOfWorkspaces,
} from './store.ts';
import { MAX_RULES, type Rule, type Rules, ruleEntry, ruleSchema, rulesSchema } from './transport.ts';

/** Returns the rules, in order. */
export const getTransportRules = operation({
  name: 'transports.rules',
  scope: null,
  summary: 'Get the rules that choose a transport',
  input: z.object({ reach: reachField }),
  output: rulesSchema,
  async run(ctx, { reach }): Promise<Rules> {
    return { object: 'transport_rules', data: await rulesOf(ctx.sql, ownerOf(ctx, reach)) };
  },
});

/**
 * Replaces all rules. Every worker follows within five seconds, also with email that waits; email that is being sent
 * stays with its transport.
 */
export const setTransportRules = operation({
  name: 'transports.set_rules',
  scope: null,
  summary: 'Replace the rules that choose a transport',
  reasons: ['unknown_transport', 'workspace_not_found'],
  input: z.object({ rules: z.array(ruleSchema).max(MAX_RULES).readonly(), reach: reachField }),
  output: rulesSchema,
  async run(ctx, { rules, reach }): Promise<Rules> {
    const owner_id = ownerOf(ctx, reach);
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      await requireRules(tx, owner_id, rules);
      const before = await rulesOf(tx, owner_id);
      if (owner_id === null) await replaceRules(tx, rules);
      else await replaceWorkspaceRules(tx, owner_id, rules);
      await noteChange(tx, owner_id);
      const after = await rulesOf(tx, owner_id);
      const diff = { rules: [before.map(ruleText), after.map(ruleText)] };
      const chain = owner_id ?? INSTANCE;
      await recordAudit(tx, ctx, [{ action: 'transport.rules_set', target_id: chain, workspace_id: chain, diff }]);
      return { object: 'transport_rules', data: after };
    });
  },
});

async function rulesOf(sql: Sql | Tx, owner_id: string | null): Promise<Rule[]> {
  if (owner_id === null) return (await allRules(sql)).map(ruleEntry);
  // Whose email they concern goes without saying.
  return (await rulesOfWorkspaces(sql, [owner_id])).map((row) => ({ ...ruleEntry(row), workspace_id: null }));
}

/** Returns a rule on one line, for the audit log. */
function ruleText({ transports, ...conditions }: Rules['data'][number]): string {
  const words = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  return `${words.join(' ') || 'all'} → ${transports.join(', ')}`;
}
