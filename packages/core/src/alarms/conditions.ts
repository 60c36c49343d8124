import type { Sql } from '@postrider/db';
import { titleOf } from './rules.ts';
import { type ConditionRow, instanceConditions } from './store.ts';

/** Rules whose condition health judges directly, without waiting for the next turn. */
const DIRECT: readonly string[] = ['no_worker', 'dead_jobs_grow', 'hold_old', 'hold_ends'];

/** Health judges the delivery queue directly, too. */
const isLine = ({ rule, subject }: ConditionRow) => rule === 'queue_waits' && subject === 'delivery.attempt';

/** Returns the conditions of the instance that hold at the moment, whether or not they have lasted long enough to alert. */
export async function openConditions(sql: Sql): Promise<(ConditionRow & { readonly title: string })[]> {
  const rows = await instanceConditions(sql);
  return rows.flatMap((row) =>
    DIRECT.includes(row.rule) || isLine(row) ? [] : [{ ...row, title: titleOf(row.rule) }],
  );
}
