import { randomUUID } from 'node:crypto';
import { retryingDeadlock, type Sql, type Tx, transactionTime } from '@postrider/db';
import type { Mailer, SendOutcome } from '@postrider/mail';
import type { Job } from '@postrider/queue';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { noSpan, type Span } from '../process/tracing.ts';
import { type DeliveryState, openStates, transitions } from '../states/index.ts';
import { addSuppressions, type NewSuppression } from '../suppressions/index.ts';
import { bounceOf } from './bounce.ts';
import type { Classification, RefusalCategory } from './classify.ts';
import { CannotSign, type Content, ContentGone, ContentUnread, openContents } from './content.ts';
import { addDeliveryJobs } from './jobs-store.ts';
import { type Attempted, meterAttempts } from './meter.ts';
import { isMissingDomain, judgeOutcome, lastResponse, OUTCOME_UNKNOWN, refusalOf, type Verdict } from './outcome.ts';
import type { RecipientKey } from './recipient-key.ts';
import { envelopeOf } from './render.ts';
import {
  claimAndLoad,
  type DeliveryRow,
  fitsTogether,
  givenUpAmong,
  type History,
  historiesOf,
  insertAttempts,
  type LoadedRow,
  loadDeliveries,
  loadUnclaimed,
  lockMessages,
  type Move,
  type Moved,
  markContent,
  rememberJobs,
  settleTaken,
  type Taken,
  transition,
  type Unclaimed,
} from './store.ts';

// A delivery takes two transactions with the network in between and none open meanwhile: claim (commit) → send → settle
// (commit). The lease of the claim fences the settle: a worker that comes back after its lease expired changes nothing.

export type DeliveryJob = Job<RecipientKey>;
export type Mailers = Readonly<Record<KeyMode, Mailer>>;

export interface Claimed {
  readonly job: DeliveryJob;
  readonly lease: string;
  readonly attempt_count: number;
  readonly delivery: DeliveryRow;
  readonly content: Content;
}

export interface Settled {
  readonly claimed: Claimed;
  readonly outcome: SendOutcome;
  /** What stopped it before any server was tried, if anything. */
  readonly kept_by?: RefusalCategory | null;
  readonly duration_ms: number;
  /** Nothing was sent and nothing is counted: it is due again, for any worker. */
  readonly handed_back: boolean;
  /** How long it stays behind when it was handed back, so that a fault that lasts is no busy loop. */
  readonly again_in_seconds?: number;
}

/** So many attempts must have found no such domain until mail for it bounces. */
const MISSING_ATTEMPTS = 3;
/** Seconds until mail whose content could not be read is tried again. */
const UNREAD_SECONDS = 5;

/** First transaction: claims what is due and free; a second one settles the jobs of the rest. */
export async function claimDeliveries(services: Services, fetched: readonly DeliveryJob[]): Promise<Claimed[]> {
  const leases = new Map(fetched.map((job) => [job.data.recipient_id, { job, lease: randomUUID() }]));
  const jobs = [...leases.values()].map(({ job }) => job);
  const moves = jobs.map(
    (job): Move => ({ ...job.data, new_lease: leases.get(job.data.recipient_id)?.lease ?? randomUUID() }),
  );
  // A duplicate job for the same recipient has nothing left to do.
  const doubles = fetched.filter((job) => leases.get(job.data.recipient_id)?.job !== job);
  if (doubles.length > 0) {
    await services.sql.begin((tx) => services.jobs.complete(tx, 'delivery.attempt', doubles));
  }
  const claimed = await claimAndLoad(services.sql, moves);
  const lost = without(jobs, claimed);
  const others = lost.length > 0 ? await claimOthers(services, lost, moves, claimed.length > 0) : [];
  const rows = [...claimed, ...others];
  const contents = await openContents(services, rows);
  return rows.flatMap((row) => {
    const held = leases.get(row.recipient_id);
    const content = contents.get(row.message_id);
    if (!held || !content) return [];
    return [{ ...held, delivery: row, content, attempt_count: row.attempt_count }];
  });
}

/** What could not be claimed at once. A fault here leaves the mail that has been claimed before as it is. */
async function claimOthers(
  services: Services,
  lost: readonly DeliveryJob[],
  moves: readonly Move[],
  some_claimed: boolean,
): Promise<LoadedRow[]> {
  try {
    // A transaction of its own: it locks messages, which come before recipients in lock order.
    return await services.sql.begin(async (tx) => {
      const others = await settleUnclaimed(services, tx, lost, moves);
      return others.length > 0 ? await loadDeliveries(tx, others) : [];
    });
  } catch (error) {
    if (!some_claimed) throw error;
    services.log.error({ err: error, count: lost.length }, 'deliveries could not be claimed');
    return [];
  }
}

/**
 * Settles a job whose recipient was not claimed. Scheduled mail that is due is released and claimed; a lost claim is
 * taken over; a live lease or a later due time gets a job for that time unless there is one; a suppressed address ends
 * there; mail that a lost worker may have sent and that must not be sent twice ends as unknown; closed recipients need
 * no job.
 */
async function settleUnclaimed(
  services: Services,
  tx: Tx,
  lost: readonly DeliveryJob[],
  moves: readonly Move[],
): Promise<Moved[]> {
  const keys = lost.map((job) => job.data);
  await lockMessages(tx, keys);
  const rows = await loadUnclaimed(tx, keys);
  const scheduled = rows.filter((row) => row.state === 'scheduled' && row.due);
  const now_ms = services.clock.now();
  const released = await transition(
    tx,
    'release',
    scheduled.map((row) => ({ ...keyOf(row), event_id: newId('event', now_ms) })),
  );
  const names = new Set(released.map((row) => row.recipient_id));
  const begun = await transition(
    tx,
    'claim',
    moves.filter((move) => names.has(move.recipient_id)),
  );
  const taken = await takeOver(
    tx,
    rows.filter((row) => row.abandoned && !row.interrupted),
    moves,
    now_ms,
  );
  const claimed = [...begun, ...taken];
  const ended = await endInterrupted(
    tx,
    rows.filter((row) => row.interrupted),
    now_ms,
  );
  // The address was suppressed while the mail waited, or before the mail released here was due.
  const suppressed = await transition(
    tx,
    'suppress',
    rows.flatMap((row) =>
      row.due && row.suppression_id !== null && !row.interrupted
        ? [{ ...keyOf(row), event_id: newId('event', now_ms), event_facts: { suppression_id: row.suppression_id } }]
        : [],
    ),
  );
  const abandoned = new Set(rows.filter((row) => row.abandoned).map((row) => row.recipient_id));
  await recordLost(
    tx,
    suppressed.filter((row) => abandoned.has(row.recipient_id)),
    now_ms,
  );
  const moved = new Set([...claimed, ...suppressed, ...ended].map((row) => row.recipient_id));
  const settled = without(lost, claimed);
  const jobOf = new Map(lost.map((job) => [job.data.recipient_id, job.id]));
  const waiting = rows.flatMap((row) => {
    if (!isOpen(row.state) || moved.has(row.recipient_id)) return [];
    // A job other than the one on the row was superseded: it would only duplicate the live one.
    if (row.job_id !== jobOf.get(row.recipient_id)) return [];
    return [{ ...keyOf(row), job_id: randomUUID(), start_after: laterOf(row.due_at, row.lease_until) }];
  });
  await rememberJobs(tx, waiting);
  await addDeliveryJobs(tx, services.jobs, waiting);
  await services.jobs.complete(tx, 'delivery.attempt', settled);
  return claimed;
}

/** Takes over the claims of a lost worker, and records its attempts. */
async function takeOver(tx: Tx, rows: readonly Unclaimed[], moves: readonly Move[], now_ms: number): Promise<Moved[]> {
  const names = new Set(rows.map((row) => row.recipient_id));
  const taken = await transition(
    tx,
    'take_over',
    moves.filter((move) => names.has(move.recipient_id)),
  );
  await recordLost(
    tx,
    taken.map((row) => ({ ...row, attempt_count: row.attempt_count - 1 })),
    now_ms,
  );
  return taken;
}

/** How far a lost worker got is unknown, so all of it may have arrived. */
async function recordLost(tx: Tx, rows: readonly Moved[], now_ms: number): Promise<void> {
  const outcome: SendOutcome = { ...nothingSent('the sending worker was lost'), kind: 'unknown' };
  await insertAttempts(
    tx,
    rows.map((row) => ({
      ...keyOf(row),
      ...outcomeFields(outcome),
      stage: 'worker_lost',
      id: newId('attempt', now_ms),
      number: row.attempt_count,
      category: null,
      duration_ms: 0,
    })),
  );
}

const INTERRUPTED = 'the sending worker ended before recording a reply';

/** A lost worker may have sent these, and they must not be sent twice. */
async function endInterrupted(tx: Tx, rows: readonly Unclaimed[], now_ms: number): Promise<Moved[]> {
  const ended = await transition(
    tx,
    'lose',
    rows.map((row) => ({
      ...keyOf(row),
      event_id: newId('event', now_ms),
      event_facts: { attempt: row.attempt_count, response: INTERRUPTED },
      last_response: INTERRUPTED,
      reason: OUTCOME_UNKNOWN,
    })),
  );
  const outcome: SendOutcome = { ...nothingSent(INTERRUPTED), kind: 'unknown', stage: 'data' };
  await insertAttempts(
    tx,
    ended.map((row) => ({
      ...keyOf(row),
      ...outcomeFields(outcome),
      id: newId('attempt', now_ms),
      number: row.attempt_count,
      category: null,
      duration_ms: 0,
    })),
  );
  return ended;
}

/** For the caller of an attempt, who learns how far it is. */
export interface AttemptWatch {
  /** It has a connection. */
  begun?(): void;
  /** Its content is next, and waits until this is true; nothing is sent where it is false. */
  content?(): boolean | Promise<boolean>;
}

/**
 * Between the transactions: composes and sends. Never throws; an error here is a deferral, or is handed back where the
 * database did not give what is to be sent.
 */
export async function attemptDelivery(
  services: Services,
  mailers: Mailers,
  claimed: Claimed,
  signal: AbortSignal,
  watch: AttemptWatch = {},
): Promise<Settled> {
  const started = performance.now();
  const span = spanOf(services, claimed);
  const talked = await talk(services, mailers, claimed, signal, watch);
  const { kind, stage } = talked.outcome;
  span.end({ failed: kind !== 'accepted', facts: { outcome: kind, stage, number: claimed.attempt_count } });
  return { claimed, handed_back: false, kept_by: null, ...talked, duration_ms: performance.now() - started };
}

/** An attempt belongs to the trace of its request; that of scheduled mail comes long after, in a trace of its own. */
function spanOf({ tracing }: Services, { delivery: { trace_parent, scheduled_at } }: Claimed): Span {
  if (trace_parent === null) return noSpan;
  return tracing.begin('attempt', scheduled_at === null ? { parent: trace_parent } : { link: trace_parent });
}

/** For a session past the final dot that is stopped before the reply. */
export function unansweredDelivery(claimed: Claimed, duration_ms: number): Settled {
  const error = 'the worker stopped before the server replied to the message';
  const outcome: SendOutcome = { ...nothingSent(error), kind: 'unknown', stage: 'after_dot' };
  return { claimed, outcome, duration_ms, handed_back: false };
}

/** For claimed and untried mail: another worker sends it, or the same one later. */
export function unsentDelivery(claimed: Claimed): Settled {
  return { claimed, outcome: nothingSent('not tried'), duration_ms: 0, handed_back: true };
}

/** The result without the reply, if the database cannot store that. */
export function withoutWords(result: Settled): Settled {
  const { kind, stage, phases_ms } = result.outcome;
  const outcome = { ...nothingSent('the reply of the server could not be stored'), kind, stage, phases_ms };
  return { ...result, outcome };
}

async function talk(
  services: Services,
  mailers: Mailers,
  { delivery, content, lease }: Claimed,
  signal: AbortSignal,
  { begun, content: mayBegin }: AttemptWatch,
): Promise<Pick<Settled, 'outcome'> & Partial<Settled>> {
  const before_content = () => {
    const allowed = mayBegin?.() ?? true;
    if (delivery.unknown_policy !== 'stop') return allowed;
    // For mail that must not arrive twice, record that it may have arrived before sending the content.
    return Promise.resolve(allowed).then((may) => may && markContent(services.sql, delivery, lease));
  };
  try {
    const envelope = { ...envelopeOf(services, delivery), before_content, ...(begun && { begun }) };
    return { outcome: await mailers[delivery.mode].send(envelope, content.raw, signal) };
  } catch (error) {
    if (error instanceof ContentGone) return { outcome: { ...nothingSent(error.message), kind: 'rejected' } };
    if (error instanceof ContentUnread) {
      services.log.error({ err: error, recipient_id: delivery.recipient_id }, 'mail was handed back');
      return { outcome: nothingSent(error.message), handed_back: true, again_in_seconds: UNREAD_SECONDS };
    }
    services.log.error(
      { err: error, recipient_id: delivery.recipient_id },
      'an attempt failed before reaching a server',
    );
    if (error instanceof CannotSign) return { outcome: nothingSent(error.message), kept_by: 'signing' };
    return { outcome: nothingSent('internal error while preparing the message'), kept_by: 'other' };
  }
}

function nothingSent(error: string): SendOutcome {
  return {
    kind: 'deferred',
    reply: null,
    error,
    target: '',
    address: null,
    tls: null,
    tls_policy: null,
    phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
    stage: 'connect',
    transcript: '',
  };
}

/** Second transaction, for a batch of attempts: states, attempts, events, next jobs, finished jobs. */
export async function settleDeliveries(services: Services, results: readonly Settled[]): Promise<void> {
  const history = await historyOf(services, results);
  const judged = results.map((result) => judgeSettled(services, result, history));
  const now_ms = services.clock.now();
  const taken: { readonly result: Settled; readonly row: Taken }[] = [];
  const others: Judged[] = [];
  for (const one of judged) {
    const row = takenAlone(services, one, now_ms);
    if (row) taken.push({ result: one.result, row });
    else others.push(one);
  }
  const rows = taken.map(({ row }) => row);
  const settleAlone = async (sql: Sql | Tx) =>
    warnOfFenced(services, rows.length - (await settleTaken(sql, services.jobs, rows)).size);
  if (others.length === 0) await retryingDeadlock(() => settleAlone(services.sql));
  else {
    await retryingDeadlock(() =>
      services.sql.begin(async (tx) => {
        if (rows.length > 0) {
          await lockMessages(
            tx,
            results.map((result) => keyOf(result.claimed.delivery)),
          );
          await settleAlone(tx);
        }
        await settleOthers(services, tx, others, now_ms);
      }),
    );
  }
  // They are recorded: a figure that is lost must not have them recorded again.
  await meterAttempts(services, judged.flatMap(attemptedOf), now_ms).catch((error) =>
    services.log.error({ err: error }, 'attempts could not be metered'),
  );
  // Deferred mail is due later; a wake would find nothing.
  if (results.some(({ handed_back }) => handed_back)) services.jobs.wake('delivery.attempt');
}

/** For the metrics; none for mail that was handed back. */
function attemptedOf({ result, verdict, refusal }: Judged): Attempted[] {
  const { handed_back, claimed, outcome, duration_ms } = result;
  if (handed_back) return [];
  const { delivery, attempt_count: number } = claimed;
  const { to } = transitions[verdict.transition];
  return [{ delivery, number, outcome, category: refusal?.category ?? null, to, duration_ms }];
}

/** Fast path: accepted, single recipient. Null for anything else. */
function takenAlone(services: Services, { result, verdict, refusal }: Judged, now_ms: number): Taken | null {
  const { claimed, outcome } = result;
  if (verdict.transition !== 'accept' || verdict.reason || refusal || claimed.delivery.recipient_count > 1) return null;
  const row: Taken = {
    job: claimed.job,
    lease: claimed.lease,
    event_id: newId('event', now_ms),
    event_facts: { attempt: claimed.attempt_count, response: lastResponse(outcome) },
    last_response: lastResponse(outcome),
    attempt: attemptRow(services, { result, verdict, refusal }, newId('attempt', now_ms)),
  };
  return fitsTogether(row) ? row : null;
}

function warnOfFenced(services: Services, count: number): void {
  if (count > 0) services.log.warn({ count }, 'dropped late results whose lease was lost');
}

async function settleOthers(services: Services, tx: Tx, judged: readonly Judged[], now_ms: number): Promise<void> {
  const next: (RecipientKey & { job_id: string; start_after: Date })[] = [];
  const byTransition = Map.groupBy(judged, ({ verdict }) => verdict.transition);
  const again = byTransition.has('defer') || byTransition.has('hand_back');
  const [now] = await Promise.all([
    again ? transactionTime(tx) : new Date(now_ms),
    byTransition.size > 1 &&
      lockMessages(
        tx,
        judged.map(({ result }) => keyOf(result.claimed.delivery)),
      ),
  ]);
  for (const [name, group] of byTransition) {
    const moves = group.map(({ result, verdict, refusal }): Move => {
      const key = keyOf(result.claimed.delivery);
      const delay_seconds = verdict.transition === 'defer' ? verdict.delay_seconds : (result.again_in_seconds ?? 0);
      const due_at = new Date(now.getTime() + delay_seconds * 1000);
      const is_open = verdict.transition === 'defer' || verdict.transition === 'hand_back';
      const job_id = is_open ? randomUUID() : undefined;
      if (job_id) next.push({ ...key, job_id, start_after: due_at });
      return {
        ...key,
        lease: result.claimed.lease,
        event_id: newId('event', now_ms),
        event_facts: {
          attempt: result.claimed.attempt_count,
          response: lastResponse(result.outcome),
          ...(refusal && { category: refusal.category }),
          ...(refusal && verdict.transition === 'reject' && { bounce: bounceOf(refusal, result.outcome) }),
        },
        ...(job_id && { job_id, due_at }),
        ...(!result.handed_back && { last_response: lastResponse(result.outcome) }),
        ...(verdict.reason && { reason: verdict.reason }),
      };
    });
    const won = new Set((await transition(tx, name, moves)).map((row) => row.recipient_id));
    if (name === 'defer') await endGivenUp(tx, moves, won, now_ms);
    const fenced = group.filter(({ result }) => !won.has(result.claimed.delivery.recipient_id));
    warnOfFenced(services, fenced.length);
    const counted = group.filter(({ result }) => won.has(result.claimed.delivery.recipient_id) && !result.handed_back);
    await insertAttempts(
      tx,
      counted.map((one) => attemptRow(services, one, newId('attempt', now_ms))),
    );
    for (const { result } of fenced) remove(next, result.claimed.delivery.recipient_id);
    await addSuppressions(tx, badAddresses(group, moves, won, now_ms));
  }
  await addDeliveryJobs(tx, services.jobs, next);
  await services.jobs.complete(
    tx,
    'delivery.attempt',
    judged.map(({ result }) => result.claimed.job),
  );
}

/** Ends deferred recipients that were given up during their attempt. Their new jobs find them closed. */
async function endGivenUp(tx: Tx, moves: readonly Move[], won: ReadonlySet<string>, now_ms: number): Promise<void> {
  const deferred = moves.filter(({ recipient_id }) => won.has(recipient_id));
  const ended = await givenUpAmong(tx, deferred);
  await transition(
    tx,
    'give_up',
    ended.map((key) => ({
      ...key,
      event_id: newId('event', now_ms),
      event_facts: { reason: 'given_up' },
      reason: 'given_up',
    })),
  );
}

interface Judged {
  readonly result: Settled;
  readonly verdict: Verdict;
  /** The meaning of a refusal. */
  readonly refusal: Classification | null;
}

/** What earlier attempts of the mail for which that decides have come to. */
async function historyOf(
  { sql, config }: Services,
  results: readonly Settled[],
): Promise<ReadonlyMap<string, History>> {
  const asked = results.filter(({ handed_back, outcome, claimed: { attempt_count } }) => {
    if (handed_back || outcome.kind === 'accepted' || attempt_count < 2) return false;
    return outcome.kind === 'unknown' || isMissingDomain(outcome) || attempt_count > config.RETRY_SCHEDULE.length;
  });
  if (asked.length === 0) return new Map();
  const keys = asked.map(({ claimed }) => keyOf(claimed.delivery));
  return historiesOf(sql, keys, config.LIMITS.no_domain_for);
}

function judgeSettled(services: Services, result: Settled, history: ReadonlyMap<string, History>): Judged {
  if (result.handed_back) return { result, verdict: { transition: 'hand_back', reason: null }, refusal: null };
  const { attempt_count, delivery } = result.claimed;
  const before = history.get(delivery.recipient_id);
  return {
    result,
    refusal: refusalOf(result.outcome, result.kept_by),
    verdict: judgeOutcome(result.outcome, {
      attempt_count,
      unknown_before: before?.unknown_count ?? 0,
      domain_is_missing: (before?.missing_count ?? 0) + 1 >= MISSING_ATTEMPTS && before?.missing_long === true,
      schedule: services.config.RETRY_SCHEDULE,
      unknown_policy: delivery.unknown_policy,
    }),
  };
}

/** Suppressions for refusals that are about the address. */
function badAddresses(
  group: readonly Judged[],
  moves: readonly Move[],
  won: ReadonlySet<string>,
  now_ms: number,
): NewSuppression[] {
  return group.flatMap(({ result, verdict }, index) => {
    const { workspace_id, recipient_id, email } = result.claimed.delivery;
    if (verdict.transition !== 'reject' || !verdict.suppress || !won.has(recipient_id)) return [];
    return [
      {
        workspace_id,
        id: newId('suppression', now_ms),
        event_id: newId('event', now_ms),
        email,
        source: 'bounce',
        reason: lastResponse(result.outcome),
        source_event_id: moves[index]?.event_id ?? null,
        expires_at: null,
      },
    ];
  });
}

function attemptRow(
  { config }: Pick<Services, 'config'>,
  { result: { claimed, outcome, duration_ms }, refusal }: Judged,
  id: string,
) {
  // The dialogue of a success at the first try tells nothing that the reply does not, and is a fifth of what a mail keeps.
  const told = config.TRANSCRIPTS === 'all' || outcome.kind !== 'accepted' || claimed.attempt_count > 1;
  return {
    ...keyOf(claimed.delivery),
    ...outcomeFields(outcome),
    id,
    number: claimed.attempt_count,
    category: refusal?.category ?? null,
    transcript: told && outcome.transcript !== '' ? outcome.transcript : null,
    duration_ms,
  };
}

function outcomeFields(outcome: SendOutcome) {
  return {
    outcome: outcome.kind,
    stage: outcome.stage,
    target: outcome.target,
    address: outcome.address,
    tls_policy: outcome.tls_policy,
    tls: outcome.tls && JSON.stringify(outcome.tls),
    reply_code: outcome.reply?.code ?? null,
    reply_enhanced: outcome.reply?.enhanced ?? null,
    reply_text: outcome.reply?.text ?? null,
    error: outcome.error,
    phases_ms: JSON.stringify(outcome.phases_ms),
    transcript: null,
  };
}

function keyOf({ workspace_id, message_id, recipient_id }: RecipientKey): RecipientKey {
  return { workspace_id, message_id, recipient_id };
}

function without(jobs: readonly DeliveryJob[], moved: readonly RecipientKey[]): DeliveryJob[] {
  const names = new Set(moved.map((row) => row.recipient_id));
  return jobs.filter((job) => !names.has(job.data.recipient_id));
}

function remove(list: RecipientKey[], recipient_id: string): void {
  const index = list.findIndex((entry) => entry.recipient_id === recipient_id);
  if (index >= 0) list.splice(index, 1);
}

function isOpen(state: DeliveryState): boolean {
  return openStates.some((open) => open === state);
}

function laterOf(left: Date, right: Date | null): Date {
  return right && right > left ? right : left;
}
