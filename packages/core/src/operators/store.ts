import type { Sql, Tx } from '@postrider/db';

export interface OperatorRow {
  id: string;
  email: string;
  password_hash: string;
}

export async function anyOperator(tx: Tx | Sql): Promise<boolean> {
  const [row] = await tx<{ found: boolean }[]>`select exists (select from operators) as found`;
  return row?.found ?? false;
}

export async function insertOperator(tx: Tx | Sql, operator: OperatorRow): Promise<void> {
  await tx`
    insert into operators (id, email, password_hash, created_at)
    values (${operator.id}, ${operator.email}, ${operator.password_hash}, clock_now())`;
}

export async function operatorByEmail(sql: Sql, email: string): Promise<OperatorRow | null> {
  const [row] = await sql<OperatorRow[]>`select id, email, password_hash from operators where email = ${email}`;
  return row ?? null;
}

export async function replacePasswordHash(sql: Sql, email: string, password_hash: string): Promise<boolean> {
  const rows = await sql`update operators set password_hash = ${password_hash} where email = ${email} returning id`;
  return rows.length > 0;
}
