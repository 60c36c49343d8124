import type { Sql, Tx } from './connect.ts';

/** The database's time, which alone decides what is due. */
export async function transactionTime(tx: Tx | Sql): Promise<Date> {
  const [row] = await tx<{ now: Date }[]>`select clock_now() as now`;
  if (!row) throw new Error('the database told no time');
  return row.now;
}
