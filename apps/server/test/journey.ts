import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEncryption } from '@postrider/core';
import { insertProvenDomain } from '@postrider/core/domains';
import { connect, type Sql } from '@postrider/db';
import {
  createDatabase,
  createTestClock,
  type SmtpSink,
  startSmtpSink,
  type TestClock,
  testPairs,
} from '@postrider/testing';
import { killLeftOvers, type ServerProcess, startServer } from './server-process.ts';

export interface Journey {
  readonly sql: Sql;
  /** The database's clock. The processes use their own clocks. */
  readonly clock: TestClock;
  readonly smtp: SmtpSink;
  /** The key with every scope. */
  readonly secret: string;
  /** The environment that every process of this journey starts with. */
  readonly env: Readonly<Record<string, string>>;
  start(env?: Readonly<Record<string, string>>): Promise<ServerProcess>;
  /** Adds a verified domain to the first workspace. */
  verify(name: string): Promise<void>;
  stop(): Promise<void>;
}

export const hello = { from: 'hello@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

/** Opens a database, a clock, and an SMTP sink that outlive every process of the journey. */
export async function openJourney(env: Readonly<Record<string, string>> = {}): Promise<Journey> {
  const database = await createDatabase();
  const sql = connect(database.url, { max: 4, application_name: 'postrider-journey' });
  const smtp = await startSmtpSink();
  const data_dir = await mkdtemp(join(tmpdir(), 'postrider-journey-'));
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  const shared = {
    DATABASE_URL: database.url,
    DATA_DIR: data_dir,
    SECRET_KEY: randomBytes(32).toString('hex'),
    BOOTSTRAP_API_KEY: secret,
    DELIVERY: `smtp://${smtp.host}:${smtp.port}`,
    ...env,
  };
  const verify = async (name: string): Promise<void> => {
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces order by id limit 1`;
    const domain = { workspace_id: workspace?.id ?? '', name, sandbox: false };
    const encryption = createEncryption(shared.SECRET_KEY);
    await sql.begin((tx) => insertProvenDomain(tx, encryption, domain, testPairs, Date.now()));
  };
  return {
    sql,
    clock: createTestClock(sql),
    smtp,
    secret,
    env: shared,
    async start(own = {}) {
      const server = await startServer({ ...shared, ...own });
      await verify('good.test');
      return server;
    },
    verify,
    async stop() {
      await killLeftOvers();
      await smtp.stop();
      await sql.end({ timeout: 2 });
      await database.drop();
      await rm(data_dir, { recursive: true, force: true });
    },
  };
}

/** Returns the number of recipients in each state. */
export async function statesOf(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ state: string; count: number }[]>`
    select state::text, count(*)::int as count from recipients group by state order by state`;
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

/** Returns the number of copies of each message in the sink, and the number of distinct bodies among them. */
export function copiesOf(smtp: SmtpSink): Map<string, { copies: number; bodies: number }> {
  const groups = Map.groupBy(smtp.messages, (mail) => `${mail.message_id} ${mail.envelope_to.join()}`);
  return new Map(
    [...groups].map(([name, messages]) => [
      name,
      { copies: messages.length, bodies: new Set(messages.map((mail) => mail.raw.toString('latin1'))).size },
    ]),
  );
}
