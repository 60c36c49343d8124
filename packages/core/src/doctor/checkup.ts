import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import type { ActorContext } from '../operation/context.ts';
import { type CheckupStatus, checkupStatuses } from './finding.ts';

export const checkupSchema = z
  .object({
    object: objectName('checkup'),
    status: z.enum(checkupStatuses).meta({ description: 'The worst status among all checks.' }),
    checked_at: timeField,
    checks: z
      .array(
        z.object({
          name: z.string().meta({ examples: ['port_25'] }),
          status: z.enum(checkupStatuses),
          detail: z.string(),
          fix: z.string().nullable().meta({ description: 'How to fix it.' }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'Checkup' });
export type Checkup = z.output<typeof checkupSchema>;

/** Returns the findings of several checks and the worst status among them. */
export function checkupOf({ clock }: Pick<ActorContext, 'clock'>, checks: Checkup['checks']): Checkup {
  const worst = Math.max(...checks.map(({ status }) => checkupStatuses.indexOf(status)));
  const status: CheckupStatus = checkupStatuses[worst] === 'skipped' ? 'ok' : (checkupStatuses[worst] ?? 'ok');
  return { object: 'checkup', status, checked_at: isoTime(new Date(clock.now())), checks };
}
