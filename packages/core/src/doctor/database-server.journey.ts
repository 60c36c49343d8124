import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, migrate, type Sql } from '@postrider/db';
import { type EmbeddedServer, startEmbedded } from '@postrider/db/embedded';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkMigrations, checkSettings, checkTransactionIds, checkVacuum } from './database-checks.ts';
import type { Finding } from './finding.ts';

// A separate server, because the fixes apply to a whole server.
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '20',
  autovacuum_naptime: '1s',
  autovacuum_freeze_max_age: '100000',
};
let data_dir: string;
let server: EmbeddedServer;
beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'postrider-doctor-'));
  // Postgres may run as another user.
  await chmod(data_dir, 0o755);
  server = await startEmbedded({ data_dir, settings });
});
afterAll(async () => {
  await server.stop();
  await rm(data_dir, { recursive: true, force: true });
});

/** Uses a new connection, as a restarted process would. */
async function withSql<T>(work: (sql: Sql) => Promise<T>, database = 'postrider'): Promise<T> {
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  const sql = connect(url.href, { max: 1, application_name: 'postrider-test' });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
const findingOf = (check: (sql: Sql) => Promise<Finding>, database?: string) => withSql(check, database);
/** Runs every `alter` and `select` statement in the text of a fix. */
const apply = ({ fix }: Finding) =>
  withSql(async (sql) => {
    for (const [statement] of (fix ?? '').matchAll(/(?:alter|select) [^;]*;/g)) await sql.unsafe(statement);
  });

it('settings: a value that risks losing email in a crash fails, and passes after the suggested fix', async () => {
  const first = await findingOf(checkSettings);
  expect(first).toMatchObject({ status: 'failing', detail: 'fsync, full_page_writes are off.' });

  await apply(first);
  await expect.poll(() => findingOf(checkSettings)).toMatchObject({ status: 'warning' });
});

it('settings: too few connections cause a warning, and pass after the suggested restart', async () => {
  const warned = await findingOf(checkSettings);
  expect(warned).toMatchObject({ detail: 'max_connections is 20, and each process uses up to 17.' });

  await apply(warned);
  await server.stop();
  server = await startEmbedded({ data_dir, settings });

  expect(await findingOf(checkSettings)).toMatchObject({ status: 'ok', fix: null });
});

it('settings: an unexpected encoding fails, and a database created with the suggested command passes', async () => {
  await withSql((sql) => sql`create database ascii encoding 'SQL_ASCII' template template0`);
  await withSql((sql) => sql`create database utf8 encoding 'UTF8' template template0`);

  expect(await findingOf(checkSettings, 'ascii')).toMatchObject({
    status: 'failing',
    fix: expect.stringMatching(/UTF8/),
  });
  expect(await findingOf(checkSettings, 'utf8')).toMatchObject({ status: 'ok' });
});

it('migrations: pending migrations fail, and pass once applied', async () => {
  expect(await findingOf(checkMigrations, 'utf8')).toMatchObject({
    status: 'failing',
    fix: 'Run `npx postrider migrate`.',
  });

  const url = new URL(server.url);
  url.pathname = '/utf8';
  await migrate(url.href);

  expect(await findingOf(checkMigrations, 'utf8')).toMatchObject({ status: 'ok', fix: null });
});

it('transaction ids: an open transaction ages the ids, which pass once it ends and a vacuum runs', async () => {
  await withSql((sql) => sql`create unlogged table spent (id integer)`);
  const idle = connect(server.url, { max: 1, application_name: 'postrider-test-idle' });
  const release = Promise.withResolvers<void>();
  const open = idle.begin('isolation level repeatable read', async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`insert into spent values (0)`;
    await release.promise;
  });
  // Each subtransaction that writes uses up an id.
  await withSql(
    (sql) => sql`
      do $$ begin
        for n in 1..250000 loop
          begin insert into spent values (n); exception when division_by_zero then null; end;
        end loop;
      end $$`,
  );
  const warned = await findingOf(checkTransactionIds);
  expect(warned).toMatchObject({ status: 'warning' });

  release.resolve();
  await open;
  await idle.end();
  const freeze = async () => {
    const one = await findingOf(checkTransactionIds);
    const [, database] = /in the database (\w+)/.exec(one.fix ?? '') ?? [];
    // No client can connect to template0; autovacuum freezes it.
    if (database !== undefined && database !== 'template0') await withSql((sql) => sql`vacuum (freeze)`, database);
    return one;
  };

  await expect.poll(freeze).toMatchObject({ status: 'ok', fix: null });
});

it('vacuum: a table with many dead rows causes a warning, and passes once vacuumed', async () => {
  await withSql(async (sql) => {
    await sql`create table emptied (n int) with (autovacuum_enabled = off)`;
    await sql`insert into emptied select generate_series(1, 200000)`;
    await sql`delete from emptied where n > 10`;
  });
  await expect
    .poll(() => findingOf(checkVacuum))
    .toMatchObject({
      status: 'warning',
      detail: 'Vacuum is behind on emptied (199990 dead rows, 10 live).',
    });

  await withSql((sql) => sql`vacuum emptied`);

  await expect.poll(() => findingOf(checkVacuum)).toMatchObject({ status: 'ok', fix: null });
});
