import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { catalogue } from '@postrider/core';
import { connect, migrate } from '@postrider/db';
import { installQueue } from '@postrider/queue';
import { installTestClock, loadDatabase, type TestDatabase } from '@postrider/testing';

/** The fixture's SECRET_KEY. */
export const ROOT_SECRET = 'f'.repeat(64);
/** A key of the fixture's first workspace, with every scope. */
export const ADMIN_SECRET = `pr_live_${'0123456789abcdef'.repeat(4)}`;
export const OPERATOR = { email: 'operator@acme.test', password: 'a password of the fixture' };

export interface Fixture {
  readonly database: TestDatabase;
  /** When the process was killed. */
  readonly at: Date;
}

/** Restores the database that make-fixture.ts dumped at the baseline. */
export async function loadFixture(): Promise<Fixture> {
  const packed = readFileSync(new URL('baseline.sql.br', import.meta.url));
  const database = await loadDatabase(brotliDecompressSync(packed).toString());
  const sql = connect(database.url, { max: 1, application_name: 'postrider-test-load' });
  const [row] = await sql<{ at: Date }[]>`select max(noted_at) as at from delivery_workers`;
  await sql.end();
  if (!row) throw new Error('the fixture has no worker');
  return { database, at: row.at };
}

/** Migrates the fixture to the newest schema, as npx postrider migrate does, and lets tests set its clock. */
export async function upgrade({ database }: Fixture): Promise<readonly string[]> {
  const names = await migrate(database.url);
  await installQueue(database.url, catalogue);
  const sql = connect(database.url, { max: 1, application_name: 'postrider-test-load' });
  await installTestClock(sql);
  await sql.end();
  return names;
}
