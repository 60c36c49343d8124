import type { Sql, Tx } from '@postrider/db';
import { runAll } from '../process/run-all.ts';

/**
 * Creates the partitions of the next months, and this month's if maintenance was paused. One transaction per table:
 * holding one table's lock while waiting for the next could deadlock with a statement that locks them in another order.
 */
export async function extendPartitions(sql: Sql): Promise<void> {
  const tables = await sql<{ parent: string; period: string }[]>`select parent, period from partitioned_tables`;
  const extend = ({ parent, period }: { parent: string; period: string }) =>
    sql.begin(async (tx) => {
      // Moving the rows that accumulated in the default partition during a long pause may exceed the statement timeout.
      await tx`set local statement_timeout = 0`;
      await tx`select ensure_partitions(${parent}, ${period}, clock_now())`;
    });
  await runAll(
    'partitions',
    tables.map((table) => () => extend(table)),
  );
}

export async function forgetIdempotencyKeys(sql: Sql | Tx): Promise<void> {
  await sql`delete from idempotency_keys where expires_at < clock_now()`;
}
