import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from '@postrider/db';
import { startEmbedded } from '@postrider/db/embedded';
import { createDatabase, type SmtpSink, startSmtpSink } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drillBlocks } from '../../../../scripts/doc-blocks.ts';
import { statesOf } from '../journey.ts';
import { killLeftOvers, type ServerProcess, startServer } from '../server-process.ts';

const COMMAND_LINE = fileURLToPath(new URL('../../../../packages/cli/src/main.ts', import.meta.url));
const [COMMAND = ''] = drillBlocks('docs/database.md', 'test:journeys');
/** The version of the embedded Postgres. `npm run test:pg15` moves ten times as much, into another one. */
const EMBEDDED = 18;
const BATCH = 100;
const SCHEDULED = 20;
const DUE_MS = 20_000;
const PATIENCE = { timeout: 120_000, interval: 200 };

let count: number;
let data_dir: string;
let database: Awaited<ReturnType<typeof createDatabase>>;
let smtp: SmtpSink;
let env: Record<string, string>;
beforeAll(async () => {
  data_dir = await mkdtemp(join(tmpdir(), 'postrider-move-'));
  // Postgres may run as a different user.
  await chmod(data_dir, 0o755);
  database = await createDatabase();
  const sql = connect(database.url, { max: 1, application_name: 'move-journey' });
  const [row] = await sql<{ version: number }[]>`select current_setting('server_version_num')::int / 10000 as version`;
  count = row?.version === EMBEDDED ? 1000 : 10_000;
  await sql.end();
  smtp = await startSmtpSink();
  smtp.script(({ to }) => {
    if (to.startsWith('bounced')) return { kind: 'reply', code: 550, text: '5.1.1 No such user' };
    return to.startsWith('deferred') ? { kind: 'reply', code: 451, text: '4.3.0 Try again' } : { kind: 'accept' };
  });
  const secret = `pr_live_${randomBytes(32).toString('hex')}`;
  env = { DATA_DIR: data_dir, BOOTSTRAP_API_KEY: secret, DELIVERY: `smtp://${smtp.host}:${smtp.port}` };
});
afterAll(async () => {
  await killLeftOvers();
  await smtp.stop();
  await database.drop();
  await rm(data_dir, { recursive: true, force: true });
});

async function onEmbedded<T>(work: (sql: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ data_dir });
  const sql = connect(embedded.url, { max: 1, application_name: 'move-journey' });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 2 });
    await embedded.stop();
  }
}

async function sendMany(server: ServerProcess, names: readonly string[], fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < names.length; start += BATCH) {
    const messages = names.slice(start, start + BATCH).map((name) => ({
      from: 'hello@good.test',
      to: `${name}@example.com`,
      subject: name,
      text: 'Hi',
      tags: ['moved'],
      ...fields,
    }));
    const { status, body, text } = await server.call('POST', '/v1/email/batch', { body: { messages } });
    expect(status, text).toBe(202);
    ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
  }
  return ids;
}

const names = (kind: string, length: number) => Array.from({ length }, (_, number) => `${kind}${number}`);

function move(): Promise<{ stdout: string }> {
  const words = COMMAND.trim()
    .replace(/^npx postrider /, '')
    .replace(/postgres:\S+/, database.url)
    .split(' ');
  const args = [COMMAND_LINE, ...words, '--json'];
  return promisify(execFile)(process.execPath, args, { env: { DATA_DIR: data_dir }, maxBuffer: 2 ** 24 });
}

describe('a move into another Postgres', () => {
  it('is refused while the service runs, copies every table, and sends what is scheduled once', async () => {
    const first = await startServer(env);
    await onEmbedded(async (sql) => {
      await sql`update plans set send_per_minute = 1000000, default_per_minute = 1000000, monthly_limit = null`;
    });
    const added = await first.call('POST', '/v1/domains', { body: { name: 'good.test' } });
    expect(added.status, added.text).toBe(201);
    await onEmbedded(async (sql) => {
      await sql`update domains set status = 'verified', verified_at = now() where name = 'good.test'`;
    });
    await sendMany(first, names('bounced', count / 10));
    await sendMany(first, names('deferred', count / 10));
    const canceled = await sendMany(first, names('canceled', SCHEDULED), {
      scheduled_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    for (const id of canceled) await first.call('POST', `/v1/email/${id}/cancel`);
    await sendMany(first, names('delivered', count - count / 5 - 2 * SCHEDULED));
    await expect
      .poll(() => onEmbedded(statesOf), PATIENCE)
      .toMatchObject({ delivered: count - count / 5 - 2 * SCHEDULED });
    const scheduled_at = new Date(Date.now() + DUE_MS).toISOString();
    await sendMany(first, names('scheduled', SCHEDULED), { scheduled_at });

    await expect(move()).rejects.toThrow(/Stop every process/);
    await first.end();
    const before = await onEmbedded(statesOf);
    const { stdout } = await move();

    const { tables } = JSON.parse(stdout) as { tables: { name: string; rows: number }[] };
    expect(tables.find(({ name }) => name === 'public.messages')?.rows).toBe(count);
    const sql = connect(database.url, { max: 1, application_name: 'move-journey' });
    expect(before).toMatchObject({
      scheduled: SCHEDULED,
      canceled: SCHEDULED,
      deferred: count / 10,
      bounced: count / 10,
    });
    expect(await statesOf(sql)).toEqual(before);
    await expect(move()).rejects.toThrow(/already has data/);

    const secret_key = (await readFile(join(data_dir, 'secret-key'), 'utf8')).trim();
    const second = await startServer({ ...env, DATABASE_URL: database.url, SECRET_KEY: secret_key });
    const arrivals = () => smtp.messages.filter(({ envelope_to }) => envelope_to[0]?.startsWith('scheduled'));
    await expect.poll(() => arrivals().length, PATIENCE).toBe(SCHEDULED);
    const sent = await second.call('POST', '/v1/email/send', {
      body: { from: 'hello@good.test', to: 'new@example.com', subject: 'New', text: 'Hi' },
    });
    expect(sent.status, sent.text).toBe(202);
    await smtp.waitFor(({ envelope_to }) => envelope_to.includes('new@example.com'));
    expect(new Set(arrivals().map(({ message_id }) => message_id)).size).toBe(SCHEDULED);
    expect(arrivals()).toHaveLength(SCHEDULED);
    await second.end();
    await sql.end({ timeout: 2 });
  }, 600_000);
});
