import type { Fragment, Sql, Tx } from '@postrider/db';

/** Points that a bucket holds, and how fast it leaks. */
export interface BudgetSize {
  readonly points: number;
  readonly per_second: number;
}

export interface BudgetLevel {
  /** Whether the points that were asked for fitted; if not, nothing was taken. */
  readonly taken: boolean;
  readonly level: number;
  readonly now: Date;
}

/** What is in a bucket at this moment, after it has leaked since it was last looked at. */
function leaked(sql: Sql, { per_second }: BudgetSize): Fragment {
  return sql`greatest(0, b.level - greatest(0, extract(epoch from clock_now() - b.at)::float8) * ${per_second})`;
}

/**
 * Takes points out of the budgets of some keys, `select key_id, points`, as far as they fit. Requests of one key
 * take turns at its row, so that processes together never take more than there is.
 */
export function takePoints(sql: Sql, size: BudgetSize, asked: Fragment): Fragment {
  return sql`
    insert into query_budgets as b (key_id, level, taken, at)
    select a.key_id, a.points, true, clock_now() from (${asked}) as a (key_id, points)
    on conflict (key_id) do update set
      level = ${leaked(sql, size)}
        + case when ${leaked(sql, size)} + excluded.level <= ${size.points} then excluded.level else 0 end,
      taken = ${leaked(sql, size)} + excluded.level <= ${size.points},
      at = greatest(b.at, clock_now())
    returning b.key_id, b.level, b.taken, clock_now() as now`;
}

export async function takeBudget(sql: Sql, size: BudgetSize, key_id: string, points: number): Promise<BudgetLevel> {
  const [row] = await sql<BudgetLevel[]>`
    ${takePoints(sql, size, sql`select ${key_id}::uuid, ${points}::float8`)}`;
  if (!row) throw new Error('a query was not counted');
  return row;
}

/** Gives points back that were asked for and not used. */
export async function returnBudget(sql: Sql, refunds: ReadonlyMap<string, number>): Promise<void> {
  await sql`
    update query_budgets b set level = greatest(0, b.level - r.points)
    from unnest(${[...refunds.keys()]}::uuid[], ${[...refunds.values()]}::float8[]) as r (key_id, points)
    where b.key_id = r.key_id`;
}

/** Drops buckets that have run empty long ago. */
export async function forgetBudgets(sql: Sql | Tx): Promise<void> {
  await sql`delete from query_budgets where at < clock_now() - interval '10 minutes'`;
  await sql`delete from query_streams where until < clock_now()`;
}
