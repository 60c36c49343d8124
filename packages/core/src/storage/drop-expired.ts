import { setTimeout as pause } from 'node:timers/promises';
import { sqlState } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { oldestKept, type RetentionKind } from '../operation/retention.ts';
import { runAll } from '../process/run-all.ts';
import {
  type AgedTable,
  agedTables,
  type Drop,
  deleteStrays,
  dropPast,
  pastPartitions,
  readStrayPages,
} from './retention-store.ts';

const PAGES_AT_ONCE = 100;
const TRIES = 20;
const PAUSE_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/** Frees the disk space of expired data: whole partitions, and rows of default partitions. */
export async function dropExpired(services: Services): Promise<void> {
  await runAll(
    'retention',
    // Keys of the object above, so each of them is a table.
    (Object.keys(agedTables) as AgedTable[]).map((parent) => () => dropPastOf(services, parent, agedTables[parent])),
  );
}

async function dropPastOf(services: Services, parent: AgedTable, kind: RetentionKind): Promise<void> {
  const { sql, log } = services;
  const before = oldestKept(services, kind, idKinds[parent]);
  if (before === '') return;
  for (const partition of await pastPartitions(sql, parent, before)) {
    const { outcome, amount } = await betweenStatements(() => dropPast(sql, parent, partition, before));
    log[levels[outcome]]({ partition, amount }, words[outcome]);
  }
  const pages = await readStrayPages(sql, parent);
  for (let from = 0; from < pages; from += PAGES_AT_ONCE)
    await deleteStrays(sql, parent, before, { from, to: from + PAGES_AT_ONCE });
}

const levels = { dropped: 'info', current: 'debug', mails: 'warn', bytes: 'warn' } as const satisfies Record<
  Drop['outcome'],
  string
>;

const words: Record<Drop['outcome'], string> = {
  dropped: 'dropped expired data; amount is the rows that moved',
  current: 'kept an expired partition: it only contains data that is still needed; amount is its rows',
  mails: 'kept an expired partition: too many of its emails are open to move them together',
  bytes: 'kept an expired partition: its open email has too many bytes to move together',
};

const idKinds = {
  transcripts: 'attempt',
  attempts: 'attempt',
  events: 'event',
  captures: 'capture',
  messages: 'message',
  bodies: 'message',
  message_tags: 'message',
  recipients: 'message',
} as const satisfies Record<AgedTable, string>;

/**
 * Runs work that needs exclusive access to a table. Gives up after 100 ms, because every statement that arrives in the
 * meantime has to wait, and tries again once the waiting statements have run.
 */
export async function betweenStatements<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE || attempt === TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}
