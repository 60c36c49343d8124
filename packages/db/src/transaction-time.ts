import type { Sql, Tx } from './sql.ts';

/** Returns the database's time, the only clock that decides what is due. */
export async function transactionTime(tx: Tx | Sql): Promise<Date> {
  const [row] = await tx<{ now: Date }[]>`select clock_now() as now`;
  if (!row) throw new Error('the database returned no time');
  return row.now;
}
