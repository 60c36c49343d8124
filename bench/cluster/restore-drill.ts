import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runAll } from '@postrider/core';
import { freePort } from '@postrider/testing/free-port';
import postgres from 'postgres';
import { atMost, check } from '../faults/check.ts';
import { Database } from '../faults/database.ts';
import { type ArrivalEntry, type Ledgers, newLedgers } from '../faults/ledgers.ts';
import { runCommand } from '../faults/processes.ts';
import { wallTime } from '../faults/wall-time.ts';
import { type BackedUp, startBackedUp, type Until } from './backed-up.ts';
import { Clients } from './clients.ts';
import type { Drill, DrillTools } from './drill.ts';
import { type Installation, openInstallation } from './installation.ts';
import { need } from './needs.ts';
import { drain, printChecks } from './outcome.ts';
import { postgresUser } from './patroni.ts';

const PER_SECOND = 50;
const PHASE_MS = 5000;
/** With 40 connections, a server this slow leaves some messages open. */
const SLOW_MS = 3000;
const HELD_MS = 5000;
/** archive_timeout in deploy/pgbackrest/postgresql.conf, plus the time a push takes. */
const MAX_LOST_SECONDS = 32;

/** A database is backed up under load, lost, and restored to several points; messages sent twice are counted. */
export const restoreDrill: Drill = {
  about:
    'pgBackRest: full and incremental backups under load, the machine lost, restored with and without restore-check',
  async run(tools) {
    need('postgres', 'pgbackrest');
    const { folder, say: print } = tools;
    const { uid, gid } = postgresUser();
    chownSync(folder, uid, gid);
    const stops: (() => Promise<void>)[] = [];
    try {
      const backed_up = await startBackedUp(folder);
      stops.unshift(() => backed_up.stop());
      const ledgers = newLedgers();
      const { url } = backed_up.primary;
      const installation = await openInstallation(ledgers, { database_url: url, direct_url: url, folder });
      stops.unshift(() => installation.stop());
      const loss = await loadAndLose(tools, { backed_up, installation, ledgers, url });
      const log = join(folder, 'sent.log');
      writeFileSync(log, loss.sent.map(({ message_id, recipient }) => `${message_id} <${recipient}> taken\n`).join(''));
      const ground = { backed_up, installation, ledgers, loss, log };

      const full = await readRestored(tools, ground, 'the full backup', { backup: loss.full });
      const incremental = await readRestored(tools, ground, 'the incremental backup', { backup: loss.incremental });
      const end = await readRestored(tools, ground, 'all that was archived', 'end');
      const without = await restoreAndSend(tools, ground, false);
      const with_check = await restoreAndSend(tools, ground, true);

      const acceptedBy = (at: number) =>
        ledgers.sent.filter((one) => one.accepted_at !== null && one.accepted_at < at).flatMap(({ ids }) => [...ids]);
      const lost = (restored: ReadonlySet<string>, at: number) => acceptedBy(at).filter((id) => !restored.has(id));
      const not_archived = lost(end, Number.POSITIVE_INFINITY).length;
      print(
        `${not_archived} of ${acceptedBy(Number.POSITIVE_INFINITY).length} messages were not archived yet when the machine was lost`,
      );
      return printChecks('restore', [
        check('accepted before the full backup but not in it', lost(full, loss.full_at)),
        check('accepted before the incremental backup but not in it', lost(incremental, loss.incremental_at)),
        check('accepted before the point in time but not restored', lost(without.restored, loss.point_at)),
        atMost('not archived when the machine was lost', not_archived, MAX_LOST_SECONDS * PER_SECOND),
        check(
          'without restore-check nothing is sent twice, so the drill shows nothing',
          without.twice > 0 ? [] : ['none'],
        ),
        atMost('sent twice with restore-check', with_check.twice, 0),
        atMost('sent while the hold was on', with_check.held_sent, 0),
        check(
          'known as sent, and not ended by restore-check',
          with_check.closed === without.twice
            ? []
            : [`${with_check.closed} ended, ${without.twice} were sent twice without`],
        ),
        check('open after release and drain', [...without.open, ...with_check.open]),
        check('later email that was not restored and that restore-check does not list', with_check.unnamed),
      ]);
    } finally {
      await runAll('the drill', stops);
    }
  },
};

interface Loss {
  readonly full: string;
  readonly full_at: number;
  readonly incremental: string;
  readonly incremental_at: number;
  /** The point in time to restore to. */
  readonly point: string;
  readonly point_at: number;
  /** The messages that the mail server had accepted when the machine was lost. */
  readonly sent: readonly ArrivalEntry[];
}

interface Ground {
  readonly backed_up: BackedUp;
  readonly installation: Installation;
  readonly ledgers: Ledgers;
  readonly loss: Loss;
  readonly log: string;
}

/**
 * Takes backups under load, picks a point in time at which messages are open, and loses everything some seconds later.
 */
async function loadAndLose(
  { say: print }: DrillTools,
  {
    backed_up,
    installation,
    ledgers,
    url,
  }: Pick<Ground, 'backed_up' | 'installation' | 'ledgers'> & { readonly url: string },
): Promise<Loss> {
  const database = new Database(url);
  await database.liftRateLimits();
  await database.stop();
  const api_port = await freePort();
  const slots = [installation.open('api', 'rest', api_port), installation.open('worker', 'worker', await freePort())];
  for (const slot of slots) await slot.untilReady();
  const { secret } = installation;
  const clients = new Clients(ledgers, { port: api_port, secret, per_second: PER_SECOND, keyed: 0 });
  print(`${PER_SECOND} messages per second`);
  await pause(PHASE_MS);
  const timed = async (type: 'full' | 'incr') => {
    const at = wallTime();
    const label = await backed_up.backup(type);
    print(`${type === 'full' ? 'a full' : 'an incremental'} backup in ${((wallTime() - at) / 1000).toFixed(1)} s`);
    return { at, label };
  };
  const full = await timed('full');
  await pause(PHASE_MS);
  const incremental = await timed('incr');
  installation.mail.reply_ms = SLOW_MS;
  await pause(PHASE_MS);
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const [row] = await sql<{ now: string }[]>`select clock_timestamp()::text as now`;
  const point_at = wallTime();
  installation.mail.reply_ms = 0;
  await pause(PHASE_MS);
  // Messages that were open at that point have been sent and archived. The next few seconds are not archived.
  await sql`select pg_switch_wal()`;
  await pause(PHASE_MS);
  await sql.end({ timeout: 1 });
  await backed_up.primary.lose();
  print('kill -9 database');
  await clients.stop();
  await Promise.all(slots.map((slot) => slot.stop()));
  return {
    full: full.label,
    full_at: full.at,
    incremental: incremental.label,
    incremental_at: incremental.at,
    point: row?.now ?? '',
    // A response may arrive a moment after its commit.
    point_at: point_at - 100,
    sent: ledgers.seen.filter(({ outcome }) => outcome === 'accepted'),
  };
}

/** Returns the IDs of the messages that were restored. */
async function readRestored(
  { say: print }: DrillTools,
  { backed_up }: Ground,
  goal: string,
  until: Until,
): Promise<Set<string>> {
  const began = wallTime();
  const server = await backed_up.restore(until);
  const database = new Database(server.url);
  const { messages } = await database.read('none');
  await database.stop();
  await server.lose();
  print(`${goal}: ${messages.size} messages, restored in ${((wallTime() - began) / 1000).toFixed(1)} s`);
  return new Set(messages.keys());
}

interface Sending {
  readonly restored: ReadonlySet<string>;
  /** The number of messages that were sent before the machine was lost, and again after the restore. */
  readonly twice: number;
  readonly held_sent: number;
  readonly closed: number;
  readonly open: readonly string[];
  readonly unnamed: readonly string[];
}

interface RestoreReport {
  readonly closed: number;
  readonly known_sent: { readonly count: number };
  readonly missing: { readonly listed: readonly string[] };
  readonly missing_closed: { readonly listed: readonly string[] };
}

/** Restores to the point in time and starts a worker on it, with or without running restore-check first. */
async function restoreAndSend({ say: print }: DrillTools, ground: Ground, checks: boolean): Promise<Sending> {
  const { backed_up, installation, ledgers, loss, log } = ground;
  const server = await backed_up.restore({ time: loss.point });
  const env = { ...installation.env, DATABASE_URL: server.url };
  const database = new Database(server.url);
  const restored = new Set((await database.read('none')).messages.keys());
  const open_before = await database.openRecipients();
  const report = checks
    ? (JSON.parse(await runCommand(['restore-check', '--sent', log, '--close', '--json'], env)) as RestoreReport)
    : null;
  const from = ledgers.seen.length;
  const slot = installation.open(checks ? 'worker-with' : 'worker-without', 'worker', await freePort(), {
    DATABASE_URL: server.url,
  });
  await slot.untilReady();
  let held_sent = 0;
  if (checks) {
    await pause(HELD_MS);
    held_sent = ledgers.seen.length - from;
    await runCommand(['queues', 'release', '--local', 'instance', 'all'], env);
  }
  await drain(database);
  await slot.stop();
  const { recipients } = await database.read('none');
  await database.stop();
  await server.lose();
  const before = new Set(loss.sent.map(({ message_id }) => idOf(message_id)));
  const second = ledgers.seen.slice(from).filter(({ outcome }) => outcome === 'accepted');
  const duplicates = second.filter(({ message_id }) => before.has(idOf(message_id))).length;
  const since = [...before].filter((id) => !restored.has(id));
  print(
    `${checks ? 'with' : 'without'} restore-check: ${open_before} open at the point in time, ${second.length} sent, ${duplicates} of them a second time; ${since.length} sent since are not restored`,
  );
  return {
    restored,
    twice: duplicates,
    held_sent,
    closed: report?.closed ?? 0,
    open: recipients.filter(({ state }) => state !== 'delivered').map((one) => `${one.message_id} ${one.state}`),
    // What the log knows was sent, so it is named as missing and sent.
    unnamed:
      report === null
        ? []
        : [
            ...since.filter((id) => !report.missing_closed.listed.includes(id)),
            ...since.filter((id) => report.missing.listed.includes(id)),
          ],
  };
}

function idOf(message_id: string): string {
  return message_id.split('@')[0] ?? '';
}
