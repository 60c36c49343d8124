import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { idField, objectName } from '../fields/wire.ts';
import { accessScopes } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { priorities } from '../priorities/index.ts';
import { ownerOf, reachField } from './ownership.ts';
import { requireRules } from './requirements.ts';
import { routeOf, ruleThatApplies } from './route.ts';
import { allRules, allTransports, rulesOfWorkspaces, transportsOfWorkspaces } from './store.ts';
import { DEFAULT_TRANSPORT, domainField, MAX_RULES, ruleSchema } from './transport.ts';

const previewSchema = z.object({
  object: objectName('transport_route'),
  rule: z.int().nullable().meta({ description: 'The position of the rule that applies, from 1. null: none does.' }),
  rule_of: z
    .enum(accessScopes)
    .nullable()
    .meta({ description: 'Whether the rule is one of the instance or of the workspace. null: none applies.' }),
  transports: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .readonly()
    .meta({ description: 'In order of preference.' }),
  captured: z.boolean().meta({
    description: 'Whether DELIVERY is capture: the test inbox then takes all email, whatever the rules say.',
  }),
});
export type RoutePreview = z.output<typeof previewSchema>;

/** Tells which transports an email would use, by the current rules or by rules that are not saved yet. */
export const previewRoute = operation({
  name: 'transports.preview',
  scope: null,
  summary: 'Preview the transports of an email',
  reasons: ['unknown_transport', 'workspace_not_found'],
  input: z.object({
    rules: z
      .array(ruleSchema)
      .max(MAX_RULES)
      .readonly()
      .optional()
      .meta({ description: 'Rules to try. Default: the current ones.' }),
    reach: reachField,
    workspace_id: idField(idPrefixes.workspace)
      .optional()
      .meta({ description: 'Default: no particular workspace; with the reach workspace, always the own one.' }),
    from_domain: domainField.meta({ description: 'The domain of the sender.' }),
    to_domain: domainField.meta({ description: 'The domain of the recipient.' }),
    tags: z.array(z.string()).max(10).default([]).meta({ description: 'The tags of the email.' }),
    priority: z.enum(priorities).default('normal').meta({ description: 'The priority of the email.' }),
  }),
  output: previewSchema,
  async run(
    ctx,
    { rules: draft, reach, workspace_id = '', from_domain, to_domain, tags, priority },
  ): Promise<RoutePreview> {
    const owner_id = ownerOf(ctx, reach);
    if (draft) await requireRules(ctx.sql, owner_id, draft);
    const email = { workspace_id: owner_id ?? workspace_id, from_domain, tags, priority, email: `a@${to_domain}` };
    const ids = email.workspace_id === '' ? [] : [email.workspace_id];
    const own = owner_id !== null && draft ? draft : await rulesOfWorkspaces(ctx.sql, ids);
    // Which transports the instance has is not the business of a workspace.
    const instance = owner_id === null ? (draft ?? (await allRules(ctx.sql))) : [];
    const own_index = ruleThatApplies(own, email);
    const index = own_index < 0 ? ruleThatApplies(instance, email) : own_index;
    const route = routeOf({ instance, own: new Map([[email.workspace_id, own]]) }, email);
    const rows = [...(await allTransports(ctx.sql)), ...(await transportsOfWorkspaces(ctx.sql, ids))];
    const nameOf = new Map([[DEFAULT_TRANSPORT, 'DELIVERY'], ...rows.map(({ id, name }) => [id, name] as const)]);
    return {
      object: 'transport_route',
      rule: index < 0 ? null : index + 1,
      rule_of: index < 0 ? null : own_index < 0 ? 'instance' : 'workspace',
      transports: route.map((id) => ({ id, name: nameOf.get(id) ?? id })),
      captured: ctx.config.DELIVERY.some(({ kind }) => kind === 'capture'),
    };
  },
});
