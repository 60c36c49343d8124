import { z } from 'zod';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { usedTransports } from '../transports/index.ts';
import { checkRelayFeedback } from './check-feedback.ts';
import { type Checkup, checkupOf, checkupSchema } from './checkup.ts';
import {
  checkClock,
  checkDefaultRows,
  checkMigrations,
  checkOldestTransaction,
  checkQueueAge,
  checkSecrets,
  checkSettings,
  checkTransactionIds,
  checkVacuum,
  checkWorkers,
  DELIVERY_JOB,
} from './database-checks.ts';
import { type Finding, inTime } from './finding.ts';
import { checkCertificate, checkDisk } from './machine-checks.ts';
import {
  addressesOf,
  checkBlocklists,
  checkHelo,
  checkPort25,
  checkPtr,
  checkSpf,
  notDirect,
} from './sending-checks.ts';
import { standing } from './store.ts';
import { checkRelays } from './test-relay.ts';

/**
 * Examines the machine and the outside services that it depends on. Nothing is changed or sent, and no check takes over
 * 5 s.
 */
export const examineMachine = operation({
  name: 'machine.examine',
  scope: 'operator',
  summary: 'Check whether this machine, its database and its network can send email, with fixes',
  input: z.object({}),
  output: checkupSchema,
  async run(ctx): Promise<Checkup> {
    const checks = await Promise.all(
      Object.entries(checksOf(ctx)).map(async ([name, check]) => ({ name, ...(await inTime(check)) })),
    );
    return checkupOf(ctx, checks);
  },
});

function checksOf(ctx: ActorContext): Record<string, () => Finding | Promise<Finding>> {
  const { sql, config, clock } = ctx;
  const asked_ms = clock.now();
  const stand = standing(sql, DELIVERY_JOB).then((row) => ({ row, answered_ms: clock.now() }));
  // Awaited by several checks; if none of them gets that far, a failure must not count as unhandled.
  stand.catch(() => undefined);
  const transports = usedTransports(ctx);
  const other = transports.then((used) => notDirect(config, used));
  other.catch(() => undefined);
  const addresses = other.then((finding) => (finding === null ? addressesOf(ctx) : []));
  addresses.catch(() => undefined);
  return {
    migrations: () => checkMigrations(sql),
    settings: () => checkSettings(sql),
    secret_key: () => checkSecrets(ctx),
    oldest_transaction: () => checkOldestTransaction(sql),
    transaction_ids: () => checkTransactionIds(sql),
    vacuum: () => checkVacuum(sql),
    default_partitions: () => checkDefaultRows(sql),
    clock: async () => checkClock((await stand).row, asked_ms, (await stand).answered_ms),
    workers: async () => checkWorkers((await stand).row),
    queue_age: async () => checkQueueAge((await stand).row),
    disk: () => checkDisk(sql, config),
    certificate: () => checkCertificate(config, clock.now()),
    relays: async () => checkRelays(ctx, await transports),
    relay_feedback: async () => checkRelayFeedback(ctx, await transports),
    port_25: async () => (await other) ?? checkPort25(ctx),
    helo: async () => (await other) ?? checkHelo(ctx, await addresses),
    ptr: async () => (await other) ?? checkPtr(ctx, await addresses),
    spf: async () => (await other) ?? checkSpf(ctx, await addresses),
    blocklists: async () => (await other) ?? checkBlocklists(ctx, await addresses),
  };
}
