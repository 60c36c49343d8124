import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import { accessField, accessibleSide, accessScopes, INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { runbookOf } from './notice-body.ts';
import { rulesOf, titleOf } from './rules.ts';
import { countActive } from './store.ts';

const ruleSchema = z
  .object({
    object: objectName('alarm_rule'),
    rule: z.string().meta({ examples: ['queue_waits'] }),
    title: z.string(),
    condition: z.string().meta({ description: 'When the alert is raised, with its threshold.' }),
    access: z.enum(accessScopes).meta({ description: 'Whether the rule judges one workspace or the whole instance.' }),
    active: z.int().meta({ description: 'How many alerts of the rule are active.' }),
    runbook: z.string().meta({ description: 'Path of the documentation about the alert.' }),
  })
  .meta({ id: 'AlarmRule' });
export type AlarmRuleEntry = z.output<typeof ruleSchema>;

/** Lists the rules that judge the workspace or the instance. */
export const listAlarmRules = operation({
  name: 'alarms.rules',
  scope: null,
  summary: 'List alert rules with their thresholds',
  input: z.object({ access: accessField }),
  output: z.array(ruleSchema).readonly(),
  async run(ctx, input): Promise<readonly AlarmRuleEntry[]> {
    const owner = accessibleSide(ctx, input.access);
    const access = owner === INSTANCE ? 'instance' : 'workspace';
    const active = new Map((await countActive(ctx.sql, owner)).map(({ rule, count }) => [rule, count]));
    return rulesOf(access).map(({ rule, condition }) => ({
      object: 'alarm_rule',
      rule,
      title: titleOf(rule),
      condition,
      access,
      active: active.get(rule) ?? 0,
      runbook: runbookOf(rule),
    }));
  },
});
