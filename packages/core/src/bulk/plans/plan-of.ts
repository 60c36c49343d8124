import type { Ages } from '../../operation/retention.ts';
import type { BulkCommand } from '../command.ts';
import { replayPlan } from './delivery-plan.ts';
import { redrivePlan } from './job-plan.ts';
import { messagePlan } from './message-plan.ts';
import type { Plan } from './plan.ts';

/** Parses the filter of a bulk command; throws if it is invalid. */
export function planOf(ages: Ages, command: BulkCommand): Plan {
  const { action } = command;
  switch (action) {
    case 'replay':
      return replayPlan(command);
    case 'redrive':
      return redrivePlan(command);
    default:
      return messagePlan(ages, { ...command, action });
  }
}
