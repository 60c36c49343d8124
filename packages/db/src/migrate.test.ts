import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { connect } from './connect.ts';
import { migrate, pendingMigrations, requireUpgradable, schemaVersion } from './migrate.ts';
import type { Sql } from './sql.ts';

const directory = mkdtempSync(join(tmpdir(), 'postrider-migrate-'));
const migrations = join(directory, 'migrations');
let admin: Sql;
let sql: Sql;
let url: string;
let database: string;

beforeAll(async () => {
  admin = connect(inject('postgres_url'), { max: 1, application_name: 'migrate-test' });
});

afterAll(async () => {
  await admin?.end();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  database = `test_migrate_${randomBytes(6).toString('hex')}`;
  await admin`create database ${admin(database)}`;
  url = new URL(`/${database}`, inject('postgres_url')).href;
  sql = connect(url, { max: 1, application_name: 'migrate-test' });
  rmSync(migrations, { recursive: true, force: true });
  mkdirSync(migrations);
  writeFileSync(join(migrations, 'README.md'), 'not a migration');
  write('0001_letters', 'create table letters (id int primary key); insert into letters values (1);');
  write('0002_more', "insert into letters values (2);\nselect 'two statements in a file';");
});

afterEach(async () => {
  await sql.end();
  await admin`drop database ${admin(database)} with (force)`;
});

function write(name: string, text: string): void {
  writeFileSync(join(migrations, `${name}.sql`), text);
}

async function tables(): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname || ' ' || c.relfilenode as name from pg_class c
    where c.relnamespace = 'public'::regnamespace order by name`;
  return rows.map((row) => row.name);
}

async function letters(): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select id from letters order by id`;
  return rows.map((row) => row.id);
}

describe('migrate', () => {
  it('runs the files in order, returns their names, and does nothing on the second run', async () => {
    const first = await migrate(url, undefined, migrations);
    const second = await migrate(url, undefined, migrations);

    expect(first).toEqual(['0001_letters', '0002_more']);
    expect(second).toEqual([]);
    expect(await letters()).toEqual([1, 2]);
  });

  it('lets one of three concurrent processes migrate while the others wait', async () => {
    write('0003_slow', 'select pg_sleep(0.3); insert into letters values (3);');

    const runs = await Promise.all([1, 2, 3].map(() => migrate(url, undefined, migrations)));

    expect(runs.map((names) => names.length).sort()).toEqual([0, 0, 3]);
    expect(await letters()).toEqual([1, 2, 3]);
  });

  it('keeps the changes from files before a failing file, discards that file’s changes, and resumes there', async () => {
    write('0003_broken', 'insert into letters values (3); select * from absent;');
    const lines: string[] = [];
    await expect(migrate(url, (line) => lines.push(line), migrations)).rejects.toThrow(
      'relation "absent" does not exist',
    );
    expect(await letters()).toEqual([1, 2]);
    expect(lines.join('\n')).toContain('0003_broken');

    write('0003_broken', 'insert into letters values (30);');

    expect(await migrate(url, undefined, migrations)).toEqual(['0003_broken']);
    expect(await letters()).toEqual([1, 2, 30]);
  });

  it('accepts a database migrated by a newer release', async () => {
    write('0003_newer', 'insert into letters values (3);');
    await migrate(url, undefined, migrations);
    rmSync(join(migrations, '0003_newer.sql'));

    expect(await migrate(url, undefined, migrations)).toEqual([]);
    expect(await pendingMigrations(sql, migrations)).toEqual([]);
  });
});

describe('an index built without blocking writes', () => {
  const partitioned = `
    create table emails (id int not null, word text not null) partition by range (id);
    create table emails_1 partition of emails for values from (0) to (10);
    create table emails_default partition of emails default;
    insert into emails values (1, 'a'), (11, 'b');`;
  const index =
    "-- concurrently: the release before runs on it.\ncreate index emails_word on emails (word) where word <> 'x';\n";

  it('covers every partition, including future ones, without blocking writes', async () => {
    write('0003_emails', partitioned);
    await migrate(url, undefined, migrations);
    write('0004_words', index);
    const writer = connect(url, { max: 1, application_name: 'migrate-test' });
    const { promise: written, resolve: done } = Promise.withResolvers<void>();
    const writing = writer.begin(async (tx) => {
      await tx`insert into emails_1 values (2, 'c')`;
      await written;
    });

    const migrating = migrate(url, undefined, migrations);
    await expect
      .poll(
        () =>
          sql`select from pg_stat_activity where datname = current_database() and query like 'create index concurrently%'`,
      )
      .toHaveLength(1);
    await sql`insert into emails values (3, 'd')`;
    done();
    await writing;
    await writer.end();

    expect(await migrating).toEqual(['0004_words']);
    await sql`create table emails_2 partition of emails for values from (20) to (30)`;
    const indexes = await sql`
      select indrelid::regclass::text as table from pg_index where indisvalid and indexrelid in
        (select 'emails_word'::regclass union all select inhrelid from pg_inherits where inhparent = 'emails_word'::regclass)
      order by 1`;
    expect(indexes.map((row) => row.table)).toEqual(['emails', 'emails_1', 'emails_2', 'emails_default']);
  });

  it('is completed by the next run if its creation was interrupted', async () => {
    write('0003_emails', partitioned);
    await migrate(url, undefined, migrations);
    await sql`create index emails_word on only emails (word) where word <> 'x'`;
    await sql`create index emails_1_emails_word on emails_1 (word) where word <> 'x'`;
    await sql`update pg_index set indisvalid = false where indexrelid = 'emails_1_emails_word'::regclass`;
    write('0004_words', index);

    await migrate(url, undefined, migrations);

    expect(await sql`select from pg_index where not indisvalid`).toHaveLength(0);
    expect(await sql`select from pg_inherits where inhparent = 'emails_word'::regclass`).toHaveLength(2);
  });

  it('has a distinct name on a partition with a long name', async () => {
    const long = `emails_${'x'.repeat(52)}`;
    write('0003_emails', `${partitioned} create table ${long} partition of emails for values from (20) to (30);`);
    write('0004_words', `${index}create index emails_wordy on emails (word, id);\n`);

    await migrate(url, undefined, migrations);

    const indexes = await sql<{ columns: number }[]>`
      select indnatts::int as columns from pg_index where indisvalid and indrelid = ${long}::regclass order by 1`;
    expect(indexes.map(({ columns }) => columns)).toEqual([1, 2]);
  });

  it('is not confused with another table’s index', async () => {
    write('0003_emails', `${partitioned} create index emails_1_emails_word on letters (id);`);
    write('0004_words', index);

    await expect(migrate(url, undefined, migrations)).rejects.toThrow('the name of an index of another table');
  });

  it('is created by a migration marked in its first line, and no other migration has the mark', async () => {
    write('0003_letters', 'insert into letters values (3);\n-- concurrently with nothing\n');

    expect(await migrate(url, undefined, migrations)).toHaveLength(3);

    expect(await letters()).toEqual([1, 2, 3]);
  });

  it('is the only statement in its migration', async () => {
    await migrate(url, undefined, migrations);
    write('0003_words', `${index}insert into letters values (3);`);

    await expect(migrate(url, undefined, migrations)).rejects.toThrow('holds only: create index');
  });
});

describe('the product’s migrations', () => {
  it('are numbered without gaps, because a database with a later migration rejects an earlier one', () => {
    const files = readdirSync(new URL('../migrations/', import.meta.url)).filter((name) => name.endsWith('.sql'));

    expect(files.sort().map((name) => Number(name.slice(0, 4)))).toEqual(files.map((_, index) => index + 1));
  });
});

describe('a migration that waits for a lock', () => {
  it('retries with short waits, which let other requests for the lock through', async () => {
    await migrate(url, undefined, migrations);
    write('0003_more', 'alter table letters add column sound text;');
    const reader = connect(url, { max: 1, application_name: 'migrate-test' });
    const { promise: read, resolve: done } = Promise.withResolvers<void>();
    const { promise: has_lock, resolve: locked } = Promise.withResolvers<void>();
    const reading = reader.begin(async (tx) => {
      // Our own transactions are terminated after idling for seconds.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`select from letters`;
      locked();
      await read;
    });
    await has_lock;
    const lines: string[] = [];

    const migrating = migrate(url, (line) => lines.push(line), migrations);
    try {
      await expect.poll(() => lines.join()).toContain('Retrying');
      expect(await letters()).toEqual([1, 2]);
    } finally {
      done();
      await reading;
      await reader.end();
    }

    expect(await migrating).toEqual(['0003_more']);
  });
});

describe('pendingMigrations', () => {
  it('lists every file for an empty database, and only new files later', async () => {
    expect(await pendingMigrations(sql, migrations)).toEqual(['0001_letters', '0002_more']);
    await migrate(url, undefined, migrations);
    expect(await pendingMigrations(sql, migrations)).toEqual([]);

    write('0003_new', 'select 1;');

    expect(await pendingMigrations(sql, migrations)).toEqual(['0003_new']);
  });
});

describe('a database that this release cannot upgrade', () => {
  it('is rejected with instructions, and left unchanged, if created before checksums existed', async () => {
    await migrate(url, undefined, migrations);
    await sql`drop table migration_checksums`;
    write('0003_new', 'insert into letters values (3);');

    await expect(migrate(url, undefined, migrations)).rejects.toThrow(/too old to upgrade.*another DATA_DIR/);
    await expect(requireUpgradable(sql, migrations)).rejects.toThrow('too old to upgrade');

    expect(await letters()).toEqual([1, 2]);
    expect(await sql`select from pg_tables where tablename = 'migration_checksums'`).toHaveLength(0);
  });

  it('is rejected with instructions, and left unchanged, if created before the baseline', async () => {
    await migrate(url, undefined, migrations);
    const before = await tables();

    await expect(migrate(url)).rejects.toThrow(/too old to upgrade.*not changed.*another DATA_DIR/);
    await expect(requireUpgradable(sql)).rejects.toThrow('too old to upgrade');

    expect(await tables()).toEqual(before);
    expect(await letters()).toEqual([1, 2]);
    expect(await schemaVersion(sql)).toBe('0002_more');
  });

  it('is rejected, with the file’s name, if migrated with a different version of a file', async () => {
    await migrate(url, undefined, migrations);
    write('0002_more', 'insert into letters values (20);');
    write('0003_new', 'insert into letters values (3);');

    await expect(migrate(url, undefined, migrations)).rejects.toThrow('a different version of migration 0002_more');

    expect(await letters()).toEqual([1, 2]);
    expect(await schemaVersion(sql)).toBe('0002_more');
  });

  it('does not include a database whose migration stopped before storing a checksum', async () => {
    await migrate(url, undefined, migrations);
    await sql`delete from migration_checksums where name = '0002_more'`;
    write('0003_new', 'insert into letters values (3);');

    expect(await migrate(url, undefined, migrations)).toEqual(['0003_new']);

    expect(await sql`select name from migration_checksums order by name`).toHaveLength(3);
    expect(await schemaVersion(sql)).toBe('0003_new');
  });
});
