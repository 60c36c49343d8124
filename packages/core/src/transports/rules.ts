import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { allRules, allTransports, lockTransports, missingWorkspaces, noteChange, replaceRules } from './store.ts';
import { DEFAULT_TRANSPORT, MAX_RULES, type Rules, ruleEntry, ruleSchema, rulesSchema } from './transport.ts';

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
      const ids = new Set([DEFAULT_TRANSPORT, ...(await allTransports(tx)).map(({ id }) => id)]);
      const missing_workspaces = await missingWorkspaces(
        tx,
        rules.flatMap((rule) => rule.workspace_id ?? []),
      );
      for (const [index, { transports, workspace_id }] of rules.entries()) {
        const missing = transports.find((id) => !ids.has(id));
        if (missing !== undefined) throw unknownTransport(index, missing);
        if (workspace_id !== null && missing_workspaces.has(workspace_id))
          throw new AppError('workspace_not_found', `Rule ${index + 1}: no workspace with ID ${workspace_id}.`);
      }
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

function unknownTransport(index: number, id: string): AppError {
  const message = `Rule ${index + 1} names the transport ${id.slice(0, 64)}, which does not exist.`;
  return new AppError('unknown_transport', message, {
    details: [{ param: `rules[${index}].transports`, reason: 'unknown_transport', message }],
  });
}

/** Returns a rule on one line, for the audit log. */
function ruleText({ transports, ...conditions }: Rules['data'][number]): string {
  const words = Object.entries(conditions).flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`]));
  return `${words.join(' ') || 'all'} → ${transports.join(', ')}`;
}
