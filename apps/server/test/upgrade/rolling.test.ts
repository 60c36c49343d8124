import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, migrate } from '@postrider/db';
import { startSmtpSink } from '@postrider/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { type Answer, freePort, killLeftOvers, type ServerProcess, startServer } from '../server-process.ts';
import { ADMIN_SECRET, loadFixture, ROOT_SECRET, upgrade } from './fixture.ts';

const SENDERS = 6;
const REAL = fileURLToPath(new URL('../../../../packages/db/migrations', import.meta.url));
const LATER = fileURLToPath(new URL('migrations', import.meta.url));

const fixture = await loadFixture();
await upgrade(fixture);
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

async function start(): Promise<ServerProcess> {
  return startServer({
    DATABASE_URL: fixture.database.url,
    SECRET_KEY: ROOT_SECRET,
    BOOTSTRAP_API_KEY: ADMIN_SECRET,
    DELIVERY: `smtp://${smtp.host}:${smtp.port}`,
    PORT: await freePort(),
    CAPTURE_PORT: await freePort(),
    INBOUND_PORT: await freePort(),
  });
}

/** Sends one after the other until it is told to stop. */
function keepSending(servers: () => readonly ServerProcess[]) {
  const answers: Answer[] = [];
  let stopped = false;
  const send = async (number: number) => {
    for (let count = 0; !stopped; count++) {
      const server = servers()[count % servers().length];
      const body = { from: 'hello@acme.test', to: `to${number}-${count}@example.com`, subject: 'Hello', text: 'Hi' };
      if (server) answers.push(await server.call('POST', '/v1/email/send', { body }));
    }
  };
  const senders = Array.from({ length: SENDERS }, (_, number) => send(number));
  return {
    answers,
    /** Resolves once so many more are answered. */
    async further(count: number) {
      const wanted = answers.length + count;
      await expect.poll(() => answers.length).toBeGreaterThanOrEqual(wanted);
    },
    async stop() {
      stopped = true;
      await Promise.all(senders);
    },
  };
}

describe('an upgrade while mail is accepted and sent', () => {
  it('case O4: refuses nothing, and the process from before goes on beside one from after', async () => {
    const before = await start();
    const servers = [before];
    const traffic = keepSending(() => servers);
    await traffic.further(20);
    await cp(REAL, folder, { recursive: true });
    await cp(LATER, folder, { recursive: true });

    const ran = await migrate(fixture.database.url, undefined, folder);
    await traffic.further(20);
    servers.push(await start());
    await traffic.further(40);
    await traffic.stop();

    expect(ran).toEqual(['9001_a_column', '9002_an_index']);
    expect(await migrate(fixture.database.url, undefined, folder)).toEqual([]);
    expect(new Set(traffic.answers.map(({ status }) => status))).toEqual(new Set([202]));
    const sent = traffic.answers.map(({ body }) => `<${body.id}@acme.test>`);
    const copies = () => smtp.mails.map((mail) => String(mail.message_id)).filter((id) => sent.includes(id));
    await expect.poll(() => new Set(copies()).size).toBe(sent.length);
    expect(copies()).toHaveLength(sent.length);
    const indexes =
      await sql`select from pg_index where indexrelid::regclass::text like '%messages_mood' and indisvalid`;
    const tables = await sql`select from pg_inherits where inhparent = 'messages'::regclass`;
    expect(indexes).toHaveLength(tables.length + 1);
    expect((await fetch(`${before.url}/readyz`)).status).toBe(200);
    expect(before.logged().filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
