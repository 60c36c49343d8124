import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Sql } from '@postrider/db';
import { receipt } from '../product/sample.ts';
import { vacuum } from '../product/vacuum.ts';

const CLIENTS = 16;
const BODY = JSON.stringify({
  html: receipt.html,
  text: receipt.text,
  headers: receipt.headers,
  reply_to: receipt.reply_to,
});

const SCHEMA = `
  create table message (
    id uuid primary key, workspace_id int not null, key_id int not null, status smallint not null default 0,
    created_at timestamptz not null default now(), scheduled_at timestamptz, from_addr text not null,
    to_addrs text[] not null, subject text not null, tags text[] not null default '{}', body jsonb not null
  );
  create index message_ws on message (workspace_id, created_at desc, id desc);
  create table job (
    id bigint generated always as identity primary key, queue smallint not null default 0, message_id uuid not null,
    run_at timestamptz not null default now(), attempts smallint not null default 0, locked_at timestamptz, payload jsonb
  );
  create index job_ready on job (queue, run_at, id) where locked_at is null;`;

const MESSAGE = `insert into message (id, workspace_id, key_id, from_addr, to_addrs, subject, tags, body) values
  (gen_random_uuid(), (random() * 999)::int + 1, 1, 'app@mail.example.com', '{ada@rcpt.test}', 'Your receipt', '{receipt,shop}', '${BODY}')`;
const JOB = 'insert into job (message_id) values (gen_random_uuid())';

export interface RawLimit {
  readonly method: string;
  /** Measures transactions per second: begin, insert a message, insert a job, commit. */
  measure(seconds: number): Promise<{ rate: number; latency_ms: number }>;
  stop(): Promise<void>;
}

/**
 * Prepares limit L1: the rate at which raw connections insert one message and one job per commit on the same disk and
 * server.
 */
export async function createRawLimit(url: string): Promise<RawLimit> {
  const sql = connect(url, { max: CLIENTS, application_name: 'bench-limit' });
  await sql.unsafe(SCHEMA);
  const pgbench = findPgbench();
  const folder = mkdtempSync(join(tmpdir(), 'postrider-limit-'));
  const script = join(folder, 'accept.sql');
  writeFileSync(script, `begin;\n${MESSAGE.replaceAll('\n', ' ')};\n${JOB};\ncommit;\n`);
  return {
    method: pgbench
      ? `pgbench -M prepared, ${CLIENTS} clients`
      : `the same statements, prepared, on ${CLIENTS} raw connections`,
    async measure(seconds) {
      await sql`truncate message, job`;
      await vacuum(sql);
      return pgbench ? runPgbench(pgbench, url, script, seconds) : runRaw(sql, seconds);
    },
    async stop() {
      rmSync(folder, { recursive: true, force: true });
      await sql.end();
    },
  };
}

function findPgbench(): string | null {
  for (const name of ['pgbench', '/usr/lib/postgresql/18/bin/pgbench', '/usr/lib/postgresql/15/bin/pgbench']) {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // Not here: try the next place, or fall back to raw connections.
    }
  }
  return null;
}

async function runPgbench(pgbench: string, url: string, script: string, seconds: number) {
  const args = [url, '-n', '-M', 'prepared', '-f', script, '-c', String(CLIENTS), '-j', '1', '-T', String(seconds)];
  const printed = execFileSync(pgbench, args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  return {
    rate: Number(/tps = ([\d.]+)/.exec(printed)?.[1]),
    latency_ms: Number(/latency average = ([\d.]+)/.exec(printed)?.[1]),
  };
}

async function runRaw(sql: Sql, seconds: number) {
  const started = performance.now();
  const end = started + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const connection = await sql.reserve();
      while (performance.now() < end) {
        await connection`begin`;
        await connection.unsafe(MESSAGE, [], { prepare: true });
        await connection.unsafe(JOB, [], { prepare: true });
        await connection`commit`;
        done += 1;
      }
      connection.release();
    }),
  );
  const elapsed = performance.now() - started;
  return { rate: (done / elapsed) * 1000, latency_ms: (elapsed * CLIENTS) / done };
}
