import { connect, mayMigrate, type Sql } from '@postrider/db';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { maintainStorage } from './maintain.ts';

const world = await openWorld();
const ROLE = `application_${process.pid}`;
let own: Sql;
beforeAll(async () => {
  const { sql } = world.services;
  await sql`create role ${sql(ROLE)} login password 'application'`;
  await sql`select grant_application(${ROLE})`;
  const url = new URL(world.database_url);
  url.username = ROLE;
  url.password = 'application';
  own = connect(url.href, { max: 2, application_name: 'postrider-test' });
});
afterAll(async () => {
  const { sql } = world.services;
  await own.end();
  await sql`drop owned by ${sql(ROLE)}`;
  await sql`drop role ${sql(ROLE)}`;
});

describe('a database role that owns nothing', () => {
  it('creates and drops partitions through the owner’s functions, and runs all other periodic tasks', async () => {
    const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
    await invoke(world.as(world.workspace_id), sendMessage, mail);
    await world.clock.advance(130 * 86_400_000);

    await maintainStorage({ ...world.services, sql: own });

    const month = new Date(world.clock.now()).toISOString().slice(0, 7).replace('-', '');
    const [row] = await own<{ there: boolean }[]>`
      select to_regclass(${`messages_${month}`}) is not null as there`;
    expect(row).toEqual({ there: true });
    expect(await own`select from messages`).toHaveLength(1);
  });

  it('cannot change the schema or misuse the owner’s functions', async () => {
    await expect(own`create table other (id int)`).rejects.toThrow('permission denied');
    await expect(own`alter table messages add column other text`).rejects.toThrow('must be owner');
    await expect(own`select drop_partition('messages', 'messages_default')`).rejects.toThrow('may be dropped');
    await expect(own`select ensure_partitions('plans', 'month', now())`).rejects.toThrow('is not partitioned');
    expect(await mayMigrate(own)).toBe(false);
    expect(await mayMigrate(world.services.sql)).toBe(true);
  });

  it('can call only the owner’s table-changing functions, each of which sets its search path', async () => {
    const functions = await world.services.sql<{ name: string }[]>`
      select p.proname || case when p.prosecdef then ', as the owner' else '' end as name from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and p.prosrc ~* '\\m(create|alter|drop|truncate)\\M +(unlogged +)?table'
      order by p.proname`;
    const open = await world.services.sql<{ name: string }[]>`
      select p.proname as name from pg_proc p
      where p.pronamespace in ('public'::regnamespace, 'pgboss'::regnamespace) and p.prosecdef
        and (not coalesce(p.proconfig @> '{"search_path=public, pg_temp"}', false)
          or p.proowner <> (select relowner from pg_class where oid = 'messages'::regclass))`;

    expect(functions.map(({ name }) => name)).toEqual([
      'add_partition',
      'drop_partition, as the owner',
      'drop_past, as the owner',
      'ensure_partitions, as the owner',
      'tend_request_days, as the owner',
    ]);
    expect(open).toEqual([]);
    await expect(own`select add_partition('messages', 'month', now() + interval '9 months')`).rejects.toThrow(
      'permission denied',
    );
  });
});
