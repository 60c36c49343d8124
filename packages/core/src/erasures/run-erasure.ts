import { setTimeout as pause } from 'node:timers/promises';
import { domainToUnicode } from 'node:url';
import { retryingDeadlock, type Tx } from '@postrider/db';
import { eraseFromJobs } from '@postrider/queue';
import { transition } from '../delivery/index.ts';
import { newId } from '../fields/ids.ts';
import { lockMailOf } from '../messages/index.ts';
import type { Services } from '../operation/context.ts';
import type { JobData } from '../process/jobs.ts';
import { ERASED_ADDRESS, erasedAddresses, hashSuppression } from '../suppressions/index.ts';
import {
  eraseAnswers,
  eraseElsewhere,
  eraseRecipients,
  type FoundRecipient,
  lockFree,
  nextRecipients,
  scans,
  type Wanted,
} from './erase-store.ts';
import { type ErasedCounts, type ErasedKind, NOTHING_ERASED } from './erasure-entry.ts';
import { beginErasure, endErasure, noteCounts } from './store.ts';

const RECIPIENTS_AT_ONCE = 100;
const ROWS_AT_ONCE = 2000;
const TRIES = 60;
const PAUSE_MS = 1000;
const ERASED = 'erased';

/** A run of an erasure: what it has counted is stored with what it has changed. */
interface Run {
  readonly services: Services;
  readonly id: string;
  readonly wanted: Wanted;
  counts: ErasedCounts;
}

/**
 * Erases an address, a slice at a time. A repeated job finds what is left: its own traces hold the address no more. What
 * other processes cache of it is dropped with the epoch that its end begins.
 */
export async function runErasure(services: Services, { erasure_id }: JobData<'erasure.run'>): Promise<void> {
  const row = await beginErasure(services.sql, erasure_id);
  if (!row) return;
  const { workspace_id } = row;
  const email = row.email.toLowerCase();
  const run: Run = {
    services,
    id: row.id,
    wanted: { workspace_id, email, pattern: patternOf(email) },
    // Written by JSON.stringify of counts of this type.
    counts: { ...NOTHING_ERASED, ...(JSON.parse(row.counts) as Partial<ErasedCounts>) },
  };
  await eraseFromMail(run);
  for (const kind of ['messages', 'events', 'webhook_deliveries', 'captures', 'requests'] as const) {
    let position: string | null = '';
    while (position !== null) {
      const slice: Awaited<ReturnType<(typeof scans)[typeof kind]>> = await scans[kind](
        services.sql,
        run.wanted,
        position,
        ROWS_AT_ONCE,
      );
      if (slice.changed > 0) await count(run, services.sql, { [kind]: slice.changed });
      position = slice.position;
    }
  }
  const [hashed = ''] = await erasedAddresses(services, [email]);
  await services.sql.begin(async (tx) => {
    const suppressed = await hashSuppression(tx, workspace_id, email, hashed);
    const idempotency_keys = await eraseAnswers(tx, run.wanted);
    const other_rows =
      (await eraseElsewhere(tx, run.wanted)) + (await eraseFromJobs(tx, run.wanted.pattern, ERASED_ADDRESS));
    await count(run, tx, { suppressions: suppressed ? 1 : 0, idempotency_keys, other_rows });
    await endErasure(tx, run.id);
  });
}

async function count(run: Run, tx: Tx | Services['sql'], more: Partial<Record<ErasedKind, number>>): Promise<void> {
  const sum = { ...run.counts };
  // The keys of an object of this type.
  for (const [kind, value] of Object.entries(more) as [ErasedKind, number][]) sum[kind] += value;
  await noteCounts(tx, run.id, JSON.stringify(sum));
  run.counts = sum;
}

/** The mail to the address, with its recipients, attempts and content. Mail that is being sent is waited for. */
async function eraseFromMail(run: Run): Promise<void> {
  const { sql } = run.services;
  for (let attempt = 1; ; attempt++) {
    let busy = 0;
    let after = '';
    for (;;) {
      const found = await nextRecipients(sql, run.wanted, after, RECIPIENTS_AT_ONCE);
      const last = found.at(-1);
      if (!last) break;
      busy += await retryingDeadlock(() => sql.begin((tx) => eraseSlice(run, tx, found)));
      // One message may have the address twice, on both sides of the edge of a slice; the next pass finds the other.
      after = last.message_id;
    }
    const [left] = await nextRecipients(sql, run.wanted, '', 1);
    if (!left) return;
    if (attempt === TRIES) throw new Error('mail to the address is still being sent; the next run of the job goes on');
    await pause(busy > 0 ? PAUSE_MS : 0);
  }
}

/** Erases some recipients; how many are in the hands of workers and were left. */
async function eraseSlice(run: Run, tx: Tx, found: readonly FoundRecipient[]): Promise<number> {
  const { workspace_id } = run.wanted;
  await lockMailOf(tx, workspace_id, [...new Set(found.map(({ message_id }) => message_id))]);
  const free = await lockFree(tx, run.wanted, found);
  if (free.length === 0) return found.length;
  const now_ms = run.services.clock.now();
  const canceled = await transition(
    tx,
    'cancel',
    free.map(({ message_id, recipient_id }) => ({
      workspace_id,
      message_id,
      recipient_id,
      event_id: newId('event', now_ms),
      reason: ERASED,
    })),
  );
  await count(run, tx, { ...(await eraseRecipients(tx, run.wanted, free)), canceled: canceled.length });
  return found.length - free.length;
}

/**
 * The address as a whole: not the end of a longer one, nor the beginning of one in a longer domain. An escape of JSON,
 * such as that of a line break, ends with a letter or a digit and may stand before it.
 */
function patternOf(email: string): string {
  const at = email.lastIndexOf('@');
  const unicode = `${email.slice(0, at)}@${domainToUnicode(email.slice(at + 1))}`;
  const spellings = [...new Set([email, unicode])].map((text) => text.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  const begins = `(?:(?<![\\w.!#$%&'*+/=?^\`{|}~-])|(?<=\\\\(?:[bfnrt]|u[0-9a-f]{4})))`;
  return `${begins}(?:${spellings.join('|')})(?![\\w-]|\\.\\w)`;
}
