import type { Sql } from '@postrider/db';

interface NewStream {
  readonly key_id: string;
  readonly workspace_id: string;
  readonly id: string;
  readonly seconds: number;
}

/** Records a stream, or returns the limit that was reached. Concurrent opens in one workspace wait for each other. */
export async function insertStream(
  sql: Sql,
  stream: NewStream,
  max: { readonly of_key: number; readonly of_workspace: number },
): Promise<'key' | 'workspace' | null> {
  const { key_id, workspace_id } = stream;
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`streams of ${workspace_id}`}, 0))`;
    const [open] = await tx<{ of_key: number; of_workspace: number }[]>`
      select count(*) filter (where s.key_id = ${key_id})::int as of_key, count(*)::int as of_workspace
      from query_streams s
      where s.until > clock_now() and s.key_id in (
        select k.id from api_keys k where k.workspace_id = ${workspace_id}
        union all select o.id from sessions o where o.workspace_id = ${workspace_id}
        union all select ${key_id}
      )`;
    if (open && open.of_key >= max.of_key) return 'key';
    if (open && open.of_workspace >= max.of_workspace) return 'workspace';
    await tx`
      insert into query_streams (key_id, id, until)
      values (${key_id}, ${stream.id}::uuid, clock_now() + make_interval(secs => ${stream.seconds}))`;
    return null;
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
