import { z } from 'zod';
import { isoTime } from '../fields/clock.ts';
import { objectName, timeField } from '../fields/wire.ts';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
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
import { type CheckupStatus, checkupStatuses, type Finding, inTime } from './finding.ts';
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

const checkupSchema = z
  .object({
    object: objectName('checkup'),
    status: z.enum(checkupStatuses).meta({ description: 'The worst status among all checks.' }),
    checked_at: timeField,
    checks: z
      .array(
        z.object({
          name: z.string().meta({ examples: ['port_25'] }),
          status: z.enum(checkupStatuses),
          detail: z.string(),
          fix: z.string().nullable().meta({ description: 'How to fix it.' }),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'Checkup' });
export type Checkup = z.output<typeof checkupSchema>;

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
    const results = await Promise.all(
      Object.entries(checksOf(ctx)).map(async ([name, check]) => ({ name, ...(await inTime(check)) })),
    );
    const worst = Math.max(...results.map(({ status }) => checkupStatuses.indexOf(status)));
    const status: CheckupStatus = checkupStatuses[worst] === 'skipped' ? 'ok' : (checkupStatuses[worst] ?? 'ok');
    return { object: 'checkup', status, checked_at: isoTime(new Date(ctx.clock.now())), checks: results };
  },
});

function checksOf(ctx: ActorContext): Record<string, () => Finding | Promise<Finding>> {
  const { sql, config, clock } = ctx;
  const asked_ms = clock.now();
  const stand = standing(sql, DELIVERY_JOB).then((row) => ({ row, answered_ms: clock.now() }));
  // Awaited by several checks; if none of them gets that far, a failure must not count as unhandled.
  stand.catch(() => undefined);
  const other = notDirect(config);
  const addresses = other === null ? addressesOf(ctx) : Promise.resolve([]);
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
    port_25: () => other ?? checkPort25(ctx),
    helo: async () => other ?? checkHelo(ctx, await addresses),
    ptr: async () => other ?? checkPtr(ctx, await addresses),
    spf: async () => other ?? checkSpf(ctx, await addresses),
    blocklists: async () => other ?? checkBlocklists(ctx, await addresses),
  };
}
