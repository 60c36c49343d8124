import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { priorities } from '../priorities/index.ts';
import { requireRules } from './requirements.ts';
import { ruleThatApplies } from './route.ts';
import { allRules, allTransports } from './store.ts';
import { DEFAULT_TRANSPORT, domainField, MAX_RULES, ruleSchema } from './transport.ts';

const previewSchema = z.object({
  object: objectName('transport_route'),
  rule: z.int().nullable().meta({ description: 'The position of the rule that applies, from 1. null: none does.' }),
  transports: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .readonly()
    .meta({ description: 'In order of preference.' }),
});
export type RoutePreview = z.output<typeof previewSchema>;

/** Tells which transports an email would use, by the current rules or by rules that are not saved yet. */
export const previewRoute = operation({
  name: 'transports.preview',
  scope: 'operator',
  summary: 'Preview the transports of an email',
  reasons: ['unknown_transport', 'workspace_not_found'],
  input: z.object({
    rules: z
      .array(ruleSchema)
      .max(MAX_RULES)
      .readonly()
      .optional()
      .meta({ description: 'Rules to try. Default: the current ones.' }),
    workspace_id: idField(idPrefixes.workspace).optional().meta({ description: 'Default: no particular workspace.' }),
    from_domain: domainField.meta({ description: 'The domain of the sender.' }),
    to_domain: domainField.meta({ description: 'The domain of the recipient.' }),
    tags: z.array(z.string()).max(10).default([]).meta({ description: 'The tags of the email.' }),
    priority: z.enum(priorities).default('normal').meta({ description: 'The priority of the email.' }),
  }),
  output: previewSchema,
  async run(ctx, { rules: draft, workspace_id = '', from_domain, to_domain, tags, priority }): Promise<RoutePreview> {
    const [rules, rows] = await Promise.all([draft ?? allRules(ctx.sql), allTransports(ctx.sql)]);
    if (draft) await requireRules(ctx.sql, draft);
    const index = ruleThatApplies(rules, { workspace_id, from_domain, tags, priority, email: `a@${to_domain}` });
    const nameOf = new Map([[DEFAULT_TRANSPORT, 'DELIVERY'], ...rows.map(({ id, name }) => [id, name] as const)]);
    const ids = rules[index]?.transports ?? [DEFAULT_TRANSPORT];
    return {
      object: 'transport_route',
      rule: index < 0 ? null : index + 1,
      transports: ids.map((id) => ({ id, name: nameOf.get(id) ?? id })),
    };
  },
});
