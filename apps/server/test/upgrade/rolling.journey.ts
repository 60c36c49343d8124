import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogue } from '@postrider/core';
import { connect, migrate, schemaVersion } from '@postrider/db';
import { installQueue } from '@postrider/queue';
import { startSmtpSink } from '@postrider/testing';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { freePorts } from '../free-ports.ts';
import { killLeftOvers, type ServerProcess, startServer } from '../server-process.ts';
import { ADMIN_SECRET, loadFixture, ROOT_SECRET, upgrade } from './fixture.ts';

const SENDERS = 6;
const REAL = fileURLToPath(new URL('../../../../packages/db/migrations', import.meta.url));
const LATER = fileURLToPath(new URL('migrations', import.meta.url));
// npm run test:upgrade passes the baseline checkout; npm test has none, and rolls out two migrations of its own.
const old_release = inject('release_before');
// Number of responses before, between, and after the rollout steps.
const SPAN = old_release === null ? 20 : 300;

const fixture = await loadFixture();
if (old_release === null) await upgrade(fixture);
const smtp = await startSmtpSink();
const sql = connect(fixture.database.url, { max: 1, application_name: 'postrider-rolling' });
await sql`update plans set send_per_minute = 1000000`;
const folder = await mkdtemp(join(tmpdir(), 'postrider-rolling-'));
afterAll(async () => {
  await killLeftOvers();
  await smtp.stop();
  await sql.end();
  await fixture.database.drop();
  await rm(folder, { recursive: true, force: true });
});

async function start(checkout?: string): Promise<ServerProcess> {
  const env = {
    DATABASE_URL: fixture.database.url,
    SECRET_KEY: ROOT_SECRET,
    BOOTSTRAP_API_KEY: ADMIN_SECRET,
    DELIVERY: `smtp://${smtp.host}:${smtp.port}`,
    // The previous release may not be able to choose its own ports.
    ...(await freePorts()),
  };
  return startServer(env, checkout);
}

interface RollingResponse {
  readonly status: number;
  readonly id: string;
  readonly server: ServerProcess;
  readonly ms: number;
}

/** Sends messages one after another until stopped. */
function keepSending(servers: () => readonly ServerProcess[]) {
  const responses: RollingResponse[] = [];
  let stopped = false;
  const send = async (number: number) => {
    for (let count = 0; !stopped; count++) {
      const server = servers()[count % servers().length];
      const body = { from: 'hello@acme.test', to: `to${number}-${count}@example.com`, subject: 'Hello', text: 'Hi' };
      const started_at = performance.now();
      if (!server) continue;
      const response = await server.call('POST', '/v1/email/send', { body });
      responses.push({
        status: response.status,
        id: String(response.body.id),
        server,
        ms: performance.now() - started_at,
      });
    }
  };
  const senders = Array.from({ length: SENDERS }, (_, number) => send(number));
  return {
    answers: responses,
    /** Resolves after `count` more responses. */
    async further(count: number) {
      const target = responses.length + count;
      await expect.poll(() => responses.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(target);
    },
    async stop() {
      stopped = true;
      await Promise.all(senders);
    },
  };
}

async function pendingIn(database_url: string): Promise<string[]> {
  const version = (await schemaVersion(sql)) ?? '';
  const names = (await readdir(database_url)).map((file) => file.replace(/\.sql$/, ''));
  return names.filter((name) => name > version).sort();
}

/** Prints figures for a manual run; the regular test prints nothing. */
function report(responses: readonly RollingResponse[], ran: readonly string[], migrated_ms: number): void {
  if (old_release === null) return;
  const rejected_count = responses.filter(({ status }) => status !== 202).length;
  const slowest = Math.max(...responses.map(({ ms }) => ms));
  process.stdout.write(
    `${responses.length} requests, ${rejected_count} refused, the slowest ${slowest.toFixed(0)} ms; ` +
      `${ran.length} migrations in ${(migrated_ms / 1000).toFixed(1)} s\n`,
  );
}

describe('an upgrade while email is being accepted and sent', () => {
  it('causes no rejection while the earlier version runs alongside the later one', async () => {
    const before = await start(old_release ?? undefined);
    let servers = [before];
    const traffic = keepSending(() => servers);
    await traffic.further(SPAN);
    await cp(REAL, folder, { recursive: true });
    await cp(LATER, folder, { recursive: true });
    const pending = await pendingIn(folder);

    const began = performance.now();
    const ran = await migrate(fixture.database.url, undefined, folder);
    await installQueue(fixture.database.url, catalogue);
    const migrated_ms = performance.now() - began;
    await traffic.further(SPAN);
    const after = await start();
    servers = [before, after];
    const alone = traffic.answers.length;
    await traffic.further(2 * SPAN);
    const both_servers = traffic.answers.slice(alone).map(({ server }) => server);
    const ready = await Promise.all([before, after].map(({ call }) => call('GET', '/readyz', { key: null })));
    servers = [after];
    await traffic.further(SPAN);
    const errors = [before, after].flatMap(({ logged }) => logged().filter(({ level }) => Number(level) >= 50));
    const stopped = await before.end();
    await traffic.further(SPAN);
    await traffic.stop();

    report(traffic.answers, ran, migrated_ms);
    expect(ran).toEqual(pending);
    expect(ran.slice(-2)).toEqual(['9001_a_column', '9002_an_index']);
    expect(await migrate(fixture.database.url, undefined, folder)).toEqual([]);
    expect(new Set(traffic.answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(both_servers)).toEqual(new Set([before, after]));
    expect(ready.map(({ body }) => [body.status, body.schema])).toEqual(Array(2).fill(['ready', '9002_an_index']));
    expect(stopped).toEqual({ code: 0, signal: null });
    const sent = traffic.answers.map(({ id }) => `<${id}@acme.test>`);
    const copies = () => smtp.messages.map((mail) => String(mail.message_id)).filter((id) => sent.includes(id));
    await expect.poll(() => new Set(copies()).size, { timeout: 60_000 }).toBe(sent.length);
    expect(copies()).toHaveLength(sent.length);
    const indexes =
      await sql`select from pg_index where indexrelid::regclass::text like '%messages_mood' and indisvalid`;
    const tables = await sql`select from pg_inherits where inhparent = 'messages'::regclass`;
    expect(indexes).toHaveLength(tables.length + 1);
    expect(errors).toEqual([]);
  });
});
