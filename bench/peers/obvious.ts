import { connect } from '@postrider/db';
import { PgBoss } from 'pg-boss';
import { httpRequest } from '../measure/http-connection.ts';
import type { AcceptTarget } from '../product/accept-target.ts';
import { receipt } from '../product/sample.ts';
import { vacuum } from '../product/vacuum.ts';

export const OBVIOUS_QUEUE = 'send';

const UNLIMITED = 2_000_000_000;

// A straightforward schema: one row per message and the tables needed to accept it, without tags, events or recipients.
const SCHEMA = `
  create table api_key (
    id int primary key, hash bytea unique not null, workspace_id int not null, scopes text[] not null,
    revoked_at timestamptz, rate_limit int not null
  );
  create table domain (workspace_id int, name text, verified_at timestamptz, primary key (workspace_id, name));
  create unlogged table rate (key_id int, minute timestamptz, used int not null, primary key (key_id, minute))
    with (fillfactor = 50);
  create table quota (
    workspace_id int, month date, used bigint not null default 0, cap bigint not null, primary key (workspace_id, month)
  ) with (fillfactor = 50);
  create table message (
    id uuid primary key, workspace_id int not null, key_id int not null, status smallint not null default 0,
    created_at timestamptz not null default now(), scheduled_at timestamptz, from_addr text not null,
    to_addrs text[] not null, subject text not null, tags text[] not null default '{}', body jsonb not null
  );
  create index message_ws on message (workspace_id, created_at desc, id desc);`;

/** Creates the tables of the obvious design, with a workspace and a domain per key. */
export async function prepareObvious(url: string, keys: number): Promise<AcceptTarget> {
  const sql = connect(url, { max: 2, application_name: 'bench-obvious' });
  await sql.unsafe(SCHEMA);
  const secrets = Array.from({ length: keys }, (_, index) => `key_${index + 1}`);
  await sql`
    insert into api_key (id, hash, workspace_id, scopes, rate_limit)
    select i, sha256(('key_' || i)::bytea), i, '{email:send}', ${UNLIMITED} from generate_series(1, ${keys}::int) as i`;
  await sql`insert into domain select i, 'mail.example.com', now() from generate_series(1, ${keys}::int) as i`;
  await sql`
    insert into quota (workspace_id, month, cap)
    select i, m::date, ${UNLIMITED}
    from generate_series(1, ${keys}::int) as i,
      (values (date_trunc('month', now())), (date_trunc('month', now() + interval '1 day'))) as months (m)
    on conflict do nothing`;
  const pg_boss = new PgBoss({ connectionString: url, max: 1, supervise: false, schedule: false });
  await pg_boss.start();
  await pg_boss.createQueue(OBVIOUS_QUEUE, { partition: true });
  const table = (await pg_boss.getQueue(OBVIOUS_QUEUE))?.table ?? 'job';
  await pg_boss.stop({ graceful: false });
  return {
    requests: secrets.map((secret) => httpRequest('POST', '/v1/email/send', secret, receipt)),
    async countMessages() {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from message`;
      return row?.count ?? 0;
    },
    async reset() {
      await sql`truncate message, rate, ${sql(`pgboss.${table}`)}`;
      await vacuum(sql);
    },
    async stop() {
      await sql.end();
    },
  };
}
