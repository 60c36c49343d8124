import type { Sql } from '@postrider/db';

/** Records a stream of a key unless its limit is reached. Concurrent opens of one key wait for each other. */
export async function insertStream(
  sql: Sql,
  stream: { readonly key_id: string; readonly id: string; readonly seconds: number },
  most: number,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('streams of ' || ${stream.key_id}::text, 0))`;
    const rows = await tx`
      insert into query_streams (key_id, id, until)
      select ${stream.key_id}, ${stream.id}::uuid, clock_now() + make_interval(secs => ${stream.seconds})
      where (
        select count(*) from query_streams s where s.key_id = ${stream.key_id} and s.until > clock_now()
      ) < ${most}
      returning id`;
    return rows.length > 0;
  });
}

export async function renewStream(
  sql: Sql,
  { key_id, id, seconds }: { readonly key_id: string; readonly id: string; readonly seconds: number },
): Promise<void> {
  await sql`
    update query_streams set until = clock_now() + make_interval(secs => ${seconds})
    where key_id = ${key_id} and id = ${id}::uuid`;
}

export async function deleteStream(
  sql: Sql,
  { key_id, id }: { readonly key_id: string; readonly id: string },
): Promise<void> {
  await sql`delete from query_streams where key_id = ${key_id} and id = ${id}::uuid`;
}
