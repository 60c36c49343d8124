import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@postrider/db';
import { expiredCertificate, mailCertificate } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { noteWorker } from '../delivery/index.ts';
import { createHold, releaseHold } from '../holds/index.ts';
import type { Context } from '../operation/context.ts';
import { invoke } from '../operation/operation.ts';
import { createEncryption } from '../process/encryption.ts';
import { measureQueues, queueNames } from '../queues/index.ts';
import { growthOf, maintainStorage } from '../storage/index.ts';
import { createWebhook } from '../webhooks/index.ts';
import { judgeOldestTransaction, judgeSettings, judgeTransactionIds } from './database-checks.ts';
import { examineMachine } from './examine-machine.ts';
import { inTime } from './finding.ts';
import { judgeDisk } from './machine-checks.ts';
import { oldestTransaction } from './store.ts';

const ADDRESS = '192.0.2.10';
const world = await openWorld({
  DELIVERY: 'mx',
  RETURN_PATH_DOMAIN: 'bounces.sender.test',
  ADMIN_EMAIL: 'grace@operator.test',
  DATA_DIR: tmpdir(),
});
const { services, dns } = world;

async function finding(name: string, changes: Partial<Context> = {}) {
  const ctx = { ...world.as(world.workspace_id), ...changes };
  const { checks } = await invoke(ctx, examineMachine, {});
  return checks.find((check) => check.name === name);
}

const healthy = (name: string, changes: Partial<Context> = {}) =>
  expect(finding(name, changes)).resolves.toMatchObject({ name, status: 'ok', fix: null });

it('helo: a name without an address fails, and passes with the record suggested in the fix', async () => {
  dns.remove('mail.sender.test');
  expect(await finding('helo')).toMatchObject({
    status: 'failing',
    fix: "Publish an A record for mail.sender.test with this machine's sending address.",
  });

  dns.set('mail.sender.test', 'A', [ADDRESS]);

  await healthy('helo');
});

it('ptr: an address that resolves to an unexpected name fails, and passes once it resolves to HELO_NAME', async () => {
  dns.set('mail.sender.test', 'A', [ADDRESS]);
  dns.set('10.2.0.192.in-addr.arpa', 'PTR', ['host-10.hoster.test']);
  expect(await finding('ptr')).toMatchObject({
    status: 'failing',
    detail: '192.0.2.10 has the PTR record host-10.hoster.test.',
    fix: 'Ask the owner of the address, usually your hosting provider, to set its PTR record to mail.sender.test.',
  });

  dns.set('10.2.0.192.in-addr.arpa', 'PTR', ['mail.sender.test']);

  await healthy('ptr');
});

it('spf: the record suggested in the fix passes, as does an include that lists the address', async () => {
  dns.set('mail.sender.test', 'A', [ADDRESS]);
  const missing = await finding('spf');
  expect(missing).toMatchObject({ status: 'failing', detail: 'bounces.sender.test has no SPF record.' });
  dns.set('bounces.sender.test', 'TXT', ['v=spf1 ip4:198.51.100.0/24 -all']);
  expect(await finding('spf')).toMatchObject({ status: 'failing', fix: 'Add ip4:192.0.2.10 before its all term.' });

  dns.set('bounces.sender.test', 'TXT', [missing?.fix?.replace(/^.*: (?=v=spf1)/, '') ?? '']);
  await healthy('spf');
  dns.set('bounces.sender.test', 'TXT', ['v=spf1 include:_spf.sender.test ~all']);
  dns.set('_spf.sender.test', 'TXT', ['v=spf1 ip4:192.0.2.0/24 ?all']);
  await healthy('spf');
});

it('blocklists: a listing fails until removed, and a response that rejects the resolver is ignored', async () => {
  dns.set('mail.sender.test', 'A', [ADDRESS]);
  dns.set('10.2.0.192.zen.spamhaus.org', 'A', ['127.0.0.2']);
  expect(await finding('blocklists')).toMatchObject({
    status: 'failing',
    detail: 'Listed: 192.0.2.10 at zen.spamhaus.org.',
  });

  dns.set('10.2.0.192.zen.spamhaus.org', 'A', ['127.255.255.254']);
  expect(await finding('blocklists')).toMatchObject({
    status: 'warning',
    fix: 'Set DNS_SERVERS to your own resolver, because these lists block public ones.',
  });

  dns.remove('10.2.0.192.zen.spamhaus.org');
  await healthy('blocklists');
});

it('port 25: an unreachable mail server fails, and a server that sends a greeting passes', async () => {
  dns.set('operator.test', 'MX', [{ priority: 10, exchange: 'mx.operator.test' }]);
  dns.set('mx.operator.test', 'A', ['127.0.0.250']);
  expect(await finding('port_25')).toMatchObject({
    status: 'failing',
    fix: expect.stringContaining('open outbound port 25'),
  });

  dns.set('mx.operator.test', 'A', ['127.0.0.1']);

  await healthy('port_25');
});

it('port 25: the check is skipped if DELIVERY=capture, because no email leaves the instance', async () => {
  const { config } = services;
  const captured = await finding('port_25', { config: { ...config, DELIVERY: [{ kind: 'capture' }] } });

  expect(captured).toMatchObject({ status: 'skipped', detail: 'DELIVERY=capture sends no email out.' });
});

it('secret key: an unexpected key fails, and passes with the old key in SECRET_KEY_PREVIOUS', async () => {
  await invoke(world.as(world.workspace_id), createWebhook, { url: 'https://hooks.example.com/' }).catch(
    () => undefined,
  );
  const other = 'e'.repeat(64);

  const result = await finding('secret_key', { encryption: createEncryption(other) });
  expect(result).toMatchObject({ status: 'failing', fix: expect.stringMatching(/^Set SECRET_KEY_PREVIOUS/) });

  await healthy('secret_key', { encryption: createEncryption(other, services.secret_key) });
});

it('clock: a process clock ahead of the database fails, and a matching clock passes', async () => {
  const ahead = { now: () => world.clock.now() + 10_000 };
  expect(await finding('clock', { clock: ahead })).toMatchObject({
    status: 'failing',
    detail: expect.stringMatching(/differ by (?:9|10)\.\d s/),
  });

  await healthy('clock');
});

it('workers: the check fails without a running worker, and passes once a worker starts', async () => {
  const { sql } = services;
  expect(await finding('workers')).toMatchObject({ status: 'failing', fix: 'Start a process with `worker` in ROLES.' });

  await noteWorker(sql, { worker: crypto.randomUUID(), stopped: false, ended_per_minute: 0 }, 10_000);

  await healthy('workers');
});

it('queue age: email that has waited too long fails, and passes once a worker sends it', async () => {
  dns.set('patient.test', 'MX', [{ priority: 10, exchange: 'mx.patient.test' }]);
  dns.set('mx.patient.test', 'A', ['127.0.0.1']);
  await world.domain('sender.test');
  const to = 'ada@patient.test';
  await invoke(world.as(world.workspace_id), sendMessage, { from: 'a@sender.test', to, subject: 'Hi', text: 'Hi' });
  await world.clock.advance(15 * 60_000);
  const measure = () => measureQueues(services.sql, queueNames, 0);
  await measure();
  expect(await finding('queue_age')).toMatchObject({
    status: 'failing',
    detail: 'Due email has been waiting for 15 min.',
    fix: expect.stringContaining('start another worker'),
  });

  await world.drain();
  await measure();

  await healthy('queue_age');
});

it('queue age: a held queue causes a warning, and passes after the release suggested in the fix', async () => {
  const ctx = world.as(world.workspace_id);
  const hold = await invoke(ctx, createHold, { scope: 'queue', value: 'delivery.attempt', reason: 'Repair' });
  expect(await finding('queue_age')).toMatchObject({
    status: 'warning',
    fix: `Release it: \`npx postrider queues release ${hold.scope} ${hold.value}\`.`,
  });

  await invoke(ctx, releaseHold, { hold_id: hold.id });

  await healthy('queue_age');
});

it('certificate: an expired certificate fails, and a renewed certificate passes', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'postrider-doctor-'));
  const TLS_CERT_FILE = join(directory, 'chain.pem');
  const config = { ...services.config, TLS_CERT_FILE };
  await writeFile(TLS_CERT_FILE, expiredCertificate.cert);
  expect(await finding('certificate', { config })).toMatchObject({
    status: 'failing',
    detail: expect.stringMatching(/^The certificate expired \d+ days ago\.$/),
  });

  await writeFile(TLS_CERT_FILE, mailCertificate.cert);

  await healthy('certificate', { config });
  await rm(directory, { recursive: true });
});

it('migrations: a pending migration fails, and passes once applied', async () => {
  const { sql } = services;
  const [row] = await sql<{ name: string; run_on: Date }[]>`
    delete from migrations where name = (select max(name) from migrations) returning name, run_on`;
  expect(await finding('migrations')).toMatchObject({ status: 'failing', fix: 'Run `npx postrider migrate`.' });

  await sql`insert into migrations (name, run_on) values (${row?.name ?? ''}, ${row?.run_on ?? new Date(0)})`;

  await healthy('migrations');
});

it('oldest transaction: a transaction open for hours fails until ended by the statement in the fix', async () => {
  const client = connect(world.database_url, { max: 1, application_name: 'postrider-test-open' });
  const start = Promise.withResolvers<void>();
  const termination = expect(
    client.begin(async (tx) => {
      // Our own connections are terminated after a few seconds idle in a transaction.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      start.resolve();
      await new Promise(() => undefined);
    }),
  ).rejects.toThrow();
  await start.promise;
  const transaction = await oldestTransaction(services.sql);
  const open = { pid: transaction?.pid ?? 0, name: transaction?.name ?? '' };
  const failed = judgeOldestTransaction({ ...open, seconds: 2 * 3600 });
  expect(failed).toMatchObject({ status: 'failing', detail: expect.stringContaining('postrider-test-open') });
  expect(judgeOldestTransaction({ ...open, seconds: 301 })).toMatchObject({ status: 'warning', fix: failed.fix });
  expect(judgeOldestTransaction({ ...open, seconds: 299 })).toMatchObject({ status: 'ok', fix: null });

  await services.sql.unsafe(/select .*;/.exec(failed.fix ?? '')?.[0] ?? '');

  await expect.poll(() => oldestTransaction(services.sql)).not.toMatchObject({ pid: open.pid });
  await termination;
  await healthy('oldest_transaction');
  await client.end({ timeout: 1 });
});

it('oldest transaction: a new transaction is found by the real clock, not the test clock', async () => {
  const client = await services.sql.reserve();
  await client`begin`;
  const [own_backend] = await client<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await world.clock.advance(2 * 3_600_000);
  await expect.poll(() => oldestTransaction(services.sql)).toMatchObject({ pid: own_backend?.pid });
  await healthy('oldest_transaction');

  await client`rollback`;
  client.release();
});

it('default partitions: leftover rows cause a warning, and the job suggested in the fix moves them', async () => {
  await world.clock.advance(130 * 86_400_000);
  await world.domain('late.test');
  await invoke(world.as(world.workspace_id), sendMessage, {
    from: 'shop@late.test',
    to: 'ada@example.com',
    subject: 'Late',
    text: 'Late',
  });
  expect(await finding('default_partitions')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('messages (1)'),
  });

  await maintainStorage(services);

  await healthy('default_partitions');
});

it('settings: an outdated server and an unexpected encoding fail', () => {
  const server = { version: 180_000, encoding: 'UTF8', settings: [] };

  expect(judgeSettings({ ...server, version: 140_000 })).toMatchObject({ status: 'failing' });
  expect(judgeSettings({ ...server, encoding: 'SQL_ASCII' })).toMatchObject({ status: 'failing' });
});

it('transaction ids: an age near wraparound fails, and passes once the database is frozen', () => {
  const aged = (age: number) => judgeTransactionIds({ age, freeze_at: 2e8, database: 'postrider' });

  expect(aged(1.9e9)).toMatchObject({ status: 'failing', fix: expect.stringContaining('freeze') });
  expect(aged(5e8)).toMatchObject({ status: 'warning' });
  expect(aged(1e6)).toMatchObject({ status: 'ok', fix: null });
});

it('disk: the result depends on both the days left and the free bytes', () => {
  const disk = { free_bytes: 40e9, total_bytes: 100e9 };

  expect(judgeDisk(disk, 6)).toMatchObject({
    status: 'failing',
    detail: '40.0 GB free, enough for 6 d at the current rate.',
  });
  expect(judgeDisk(disk, 20)).toMatchObject({ status: 'warning' });
  expect(judgeDisk(disk, 100)).toMatchObject({ status: 'ok', fix: null });
  expect(judgeDisk(disk, null)).toMatchObject({ status: 'ok', detail: '40.0 GB free.' });
  expect(judgeDisk({ free_bytes: 5e8, total_bytes: 1e9 }, null)).toMatchObject({ status: 'failing' });
});

it('disk: a disk that will fill in five days fails, and passes with the suggested shorter retention', async () => {
  const { sql, config } = services;
  const empty = await finding('disk');
  const { disk, bytes_per_message } = await growthOf(sql, config);
  const a_day = Math.round((disk?.free_bytes ?? 0) / bytes_per_message / 5);
  await sql`
    insert into stat_hours (
      workspace_id, dimension, at, key, accepted, delivered, bounced, deferred, failed, complained, suppressed, canceled
    )
    select no_id(), 'none', clock_now() - make_interval(hours => n), '', ${a_day}::int, 0, 0, 0, 0, 0, 0, 0
    from generate_series(1, 7) n`;
  expect(await finding('disk')).toMatchObject({
    status: 'failing',
    detail: expect.stringContaining('enough for 5 d at the current rate'),
    fix: expect.stringContaining('Shorter retention deletes old months'),
  });

  const check = await finding('disk', { config: { ...config, RETENTION_MESSAGES: 86_400 } });

  expect({ status: check?.status, fix: check?.fix }).toEqual({ status: empty?.status, fix: empty?.fix });
  await sql`delete from stat_hours`;
});

it('a check takes at most 5 s, even with unresponsive name servers and a locked table', async () => {
  const names = ['mail.sender.test', 'operator.test', 'bounces.sender.test'];
  for (const name of names) dns.fail(name, 'timeout');
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holding = services.sql.begin(async (tx) => {
    // Our own connections are terminated after a few seconds idle in a transaction.
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`lock table webhooks in access exclusive mode`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;

  const started_at = performance.now();
  const examine = async () => (await invoke(world.as(world.workspace_id), examineMachine, {})).checks;
  const checks = await examine();
  const took = performance.now() - started_at;
  // A busy machine may need more than 5 s for a check that waits on nothing.
  const migrations = async () => (await examine()).find(({ name }) => name === 'migrations');
  await expect.poll(migrations).toMatchObject({ status: 'ok' });
  release.resolve();
  await holding;

  // Twice the promised time, to allow for busy machines.
  expect(took).toBeLessThan(10_000);
  expect(checks).toHaveLength(19);
  expect(checks.find(({ name }) => name === 'secret_key')).toMatchObject({ detail: 'No response within 5 s.' });
  expect(checks.filter(({ name }) => ['helo', 'port_25'].includes(name)).map(({ status }) => status)).not.toContain(
    'ok',
  );
  for (const name of names) dns.fail(name, null);
});

it('a check that hangs or crashes is reported as a problem', async () => {
  const slow = await inTime(() => new Promise(() => undefined), 10);
  const broken = await inTime(() => {
    throw new Error('no such file');
  });

  expect(slow).toMatchObject({ status: 'warning', detail: 'No response within 0.01 s.' });
  expect(broken).toMatchObject({ status: 'failing', detail: 'The check itself failed: no such file.' });
});
