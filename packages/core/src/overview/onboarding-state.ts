import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import { operation } from '../operation/operation.ts';
import { firstSteps } from './store.ts';

const stepNames = ['key', 'test_send', 'domain', 'verify', 'webhook'] as const;

const onboardingSchema = z.object({
  object: objectName('onboarding'),
  done: z.boolean().meta({ description: 'Whether every step is done.' }),
  steps: z
    .array(
      z.object({
        name: z.enum(stepNames),
        done_at: timeField.nullable(),
        id: z.string().nullable().meta({ description: 'The first key, mail, domain or webhook.' }),
      }),
    )
    .readonly(),
});

/** Returns how far the setup of a workspace has progressed, judged by the resources that exist. */
export const onboardingState = operation({
  name: 'onboarding.state',
  scope: 'email:logs:read',
  summary: 'Which of the five steps of the setup are done',
  input: z.object({}),
  output: onboardingSchema,
  async run(ctx): Promise<z.output<typeof onboardingSchema>> {
    const by_name = new Map((await firstSteps(ctx.sql, ctx.actor.workspace_id)).map((row) => [row.name, row]));
    const steps = stepNames.map((name) => {
      const row = by_name.get(name);
      return { name, done_at: row ? isoTime(row.at) : null, id: row?.id ?? null };
    });
    return { object: 'onboarding', done: steps.every(({ done_at }) => done_at !== null), steps };
  },
});
