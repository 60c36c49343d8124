import type { Fragment, Sql, Tx } from '@postrider/db';

/** The capacity of a bucket in points, and how many leak per second. */
export interface BudgetSize {
  readonly points: number;
  readonly per_second: number;
}

export interface BudgetLevel {
  /** Whether the points fit and were taken. */
  readonly taken: boolean;
  readonly level: number;
  readonly now: Date;
}

/** Returns the current level of a bucket, after the leak since its last update. */
function leaked(sql: Sql, { per_second }: BudgetSize): Fragment {
  return sql`greatest(0, b.level - greatest(0, extract(epoch from clock_now() - b.at)::float8) * ${per_second})`;
}

/**
 * Takes points (`select key_id, points`) from the budgets of keys, if they fit. Requests of one key lock its row, so
 * that all processes together never exceed the budget.
 */
export function takePoints(sql: Sql, size: BudgetSize, points: Fragment): Fragment {
  return sql`
    insert into query_budgets as b (key_id, level, taken, at)
    select a.key_id, a.points, true, clock_now() from (${points}) as a (key_id, points)
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

/** Refunds points that were taken but not used. */
export async function returnBudget(sql: Sql, refunds: ReadonlyMap<string, number>): Promise<void> {
  await sql`
    update query_budgets b set level = greatest(0, b.level - r.points)
    from unnest(${[...refunds.keys()]}::uuid[], ${[...refunds.values()]}::float8[]) as r (key_id, points)
    where b.key_id = r.key_id`;
}

/** Deletes buckets that have long been empty, and expired streams. */
export async function forgetBudgets(sql: Sql | Tx): Promise<void> {
  await sql`delete from query_budgets where at < clock_now() - interval '10 minutes'`;
  await sql`delete from query_streams where until < clock_now()`;
}
