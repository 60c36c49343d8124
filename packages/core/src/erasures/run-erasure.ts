import { domainToUnicode } from 'node:url';
import type { Tx } from '@postrider/db';
import { eraseFromJobs } from '@postrider/queue';
import { transition } from '../delivery/index.ts';
import { newId } from '../fields/ids.ts';
import { lockMailOf } from '../messages/index.ts';
import type { Services } from '../operation/context.ts';
import type { JobData } from '../process/jobs.ts';
import { postpone, takeTurns } from '../shares/index.ts';
import { ERASED_ADDRESS, erasedAddresses, hashSuppression } from '../suppressions/index.ts';
import {
  type ErasureTarget,
  eraseAnswers,
  eraseElsewhere,
  eraseRecipients,
  lockFree,
  nextRecipients,
  type RecipientMatch,
  scans,
} from './erase-store.ts';
import { type ErasedCounts, type ErasedKind, NOTHING_ERASED } from './erasure-entry.ts';
import { beginErasure, endErasure, isOpen, noteProgress } from './store.ts';

const RECIPIENTS_AT_ONCE = 100;
const ROWS_AT_ONCE = 2000;
const BUSY_MS = 1000;
const ERASED = 'erased';

/** In execution order. */
const steps = ['recipients', 'messages', 'events', 'webhook_deliveries', 'captures', 'requests', 'rest'] as const;
type Step = (typeof steps)[number];

/** Where the next slice starts. */
interface Place {
  readonly step: Step;
  readonly position: string;
}

/** One slice of an erasure: its counts are stored together with its changes. */
interface Run {
  readonly services: Services;
  readonly id: string;
  readonly target: ErasureTarget;
  counts: ErasedCounts;
}

/**
 * Erases addresses, one slice at a time and round-robin across workspaces, until the erasure of the job is complete.
 */
export async function runErasure(services: Services, job: JobData<'erasure.run'>): Promise<void> {
  const { sql, jobs } = services;
  const finished = await takeTurns(services, {
    line: 'erasures',
    own: job.erasure_id,
    isOver: async () => !(await isOpen(sql, job.erasure_id)),
    work: (tx, { key }) => workSlice(services, tx, key),
  });
  if (!finished) await sql.begin((tx) => jobs.send(tx, 'erasure.run', [{ data: job }]));
}

async function workSlice(services: Services, tx: Tx, id: string): Promise<void> {
  const row = await beginErasure(tx, id);
  if (!row) return;
  const { workspace_id } = row;
  const email = row.email.toLowerCase();
  const run: Run = {
    services,
    id,
    target: { workspace_id, email, pattern: patternOf(email) },
    // The cast is safe because counts of this type were written with JSON.stringify.
    counts: { ...NOTHING_ERASED, ...(JSON.parse(row.counts) as Partial<ErasedCounts>) },
  };
  const step = steps.find((name) => name === row.step) ?? 'recipients';
  const next = await sliceOf(run, tx, { step, position: row.position ?? '' });
  await noteProgress(tx, {
    id,
    step: next?.step ?? null,
    position: next?.position ?? null,
    counts: JSON.stringify(run.counts),
  });
  if (!next) await endErasure(tx, id);
}

/** Processes one slice and returns where the next one starts; returns null at the end. */
async function sliceOf(run: Run, tx: Tx, { step, position }: Place): Promise<Place | null> {
  if (step === 'recipients') return nextMailSlice(run, tx, position);
  if (step === 'rest') {
    await eraseRest(run, tx);
    return null;
  }
  const slice = await scans[step](tx, run.target, position, ROWS_AT_ONCE);
  count(run, { [step]: slice.changed });
  return slice.position === null ? after(step) : { step, position: slice.position };
}

const after = (step: Step): Place => ({ step: steps[steps.indexOf(step) + 1] ?? 'rest', position: '' });

async function eraseRest(run: Run, tx: Tx): Promise<void> {
  const { workspace_id, email, pattern } = run.target;
  const [hashed = ''] = await erasedAddresses({ encryption: run.services.encryption, sql: tx }, [email]);
  const suppressed = await hashSuppression(tx, workspace_id, email, hashed);
  const idempotency_keys = await eraseAnswers(tx, run.target);
  const other_rows = (await eraseElsewhere(tx, run.target)) + (await eraseFromJobs(tx, pattern, ERASED_ADDRESS));
  count(run, { suppressions: suppressed ? 1 : 0, idempotency_keys, other_rows });
}

function count(run: Run, extra: Partial<Record<ErasedKind, number>>): void {
  const sum = { ...run.counts };
  // The cast is safe because the object has only keys of this type.
  for (const [kind, value] of Object.entries(extra) as [ErasedKind, number][]) sum[kind] += value;
  run.counts = sum;
}

/** Processes a slice of the messages to the address, with their recipients, attempts and content. */
async function nextMailSlice(run: Run, tx: Tx, position: string): Promise<Place> {
  const rows = await nextRecipients(tx, run.target, position, RECIPIENTS_AT_ONCE);
  const last = rows.at(-1);
  if (last) {
    await eraseSlice(run, tx, rows);
    return { step: 'recipients', position: last.message_id };
  }
  // A message may contain the address twice, on both sides of a slice boundary; another pass finds it.
  const [rest] = await nextRecipients(tx, run.target, '', 1);
  if (!rest) return after('recipients');
  if (rest.leased) await postpone(tx, 'erasures', run.id, BUSY_MS);
  return { step: 'recipients', position: '' };
}

/** Erases some recipients, except those a worker is sending to. */
async function eraseSlice(run: Run, tx: Tx, recipients: readonly RecipientMatch[]): Promise<void> {
  const { workspace_id } = run.target;
  await lockMailOf(tx, workspace_id, [...new Set(recipients.map(({ message_id }) => message_id))]);
  const free = await lockFree(tx, run.target, recipients);
  if (free.length === 0) return;
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
  count(run, { ...(await eraseRecipients(tx, run.target, free)), canceled: canceled.length });
}

/**
 * Matches the address as a whole: not as the end of a longer address, nor as the beginning of an address in a longer
 * domain. A JSON escape, such as a line break, ends with a letter or a digit and may precede the address.
 */
function patternOf(email: string): string {
  const at = email.lastIndexOf('@');
  const unicode = `${email.slice(0, at)}@${domainToUnicode(email.slice(at + 1))}`;
  const spellings = [...new Set([email, unicode])].map((text) => text.replace(/[^\p{L}\p{N}]/gu, '\\$&'));
  const begins = `(?:(?<![\\w.!#$%&'*+/=?^\`{|}~-])|(?<=\\\\(?:[bfnrt]|u[0-9a-f]{4})))`;
  return `${begins}(?:${spellings.join('|')})(?![\\w-]|\\.\\w)`;
}
