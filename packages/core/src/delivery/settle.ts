import { randomUUID } from 'node:crypto';
import { retryingDeadlock, type Sql, type Tx, transactionTime } from '@postrider/db';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import { keyOf, type RecipientKey, transitions } from '../states/index.ts';
import { addSuppressions, type NewSuppression } from '../suppressions/index.ts';
import { DEFAULT_TRANSPORT } from '../transports/index.ts';
import type { SettledDelivery } from './attempt.ts';
import {
  deleteLostAttempts,
  type History,
  historiesOf,
  insertAttempts,
  insertReceipts,
  outcomeFields,
  type RelayReceipt,
} from './attempts-store.ts';
import { bounceOf } from './bounce.ts';
import type { Classification } from './classify.ts';
import { addDeliveryJobs } from './jobs-store.ts';
import { isCaptured } from './mailers.ts';
import { type AttemptRecord, meterAttempts } from './meter.ts';
import { judgeOutcome, lastResponse, refusalOf, type Verdict } from './outcome.ts';
import {
  type DeliveredRecipient,
  fitsTogether,
  givenUpAmong,
  lockMessages,
  type Move,
  settleDelivered,
  transition,
  untriedSince,
} from './store.ts';

/** Number of attempts that must find that the domain does not exist before a message bounces. */
const MISSING_ATTEMPTS = 3;
/** The reason for a recipient that an operator or an integrator gave up on. */
export const GIVEN_UP = 'given_up';

/** Records a batch of attempts in the second transaction: states, attempts, events, next jobs, finished jobs. */
export async function settleDeliveries(services: Services, results: readonly SettledDelivery[]): Promise<void> {
  const history = await historyOf(services, results);
  const results_judged = results.map((result) => judgeSettled(services, result, history));
  const now_ms = services.clock.now();
  const single: { readonly one: JudgedResult; readonly row: DeliveredRecipient }[] = [];
  const others: JudgedResult[] = [];
  for (const one of results_judged) {
    const row = deliveredAlone(services, one, now_ms);
    if (row) single.push({ one, row });
    else others.push(one);
  }
  const rows = single.map(({ row }) => row);
  const settleAlone = async (sql: Sql | Tx): Promise<JudgedResult[]> => {
    const won = await settleDelivered(sql, services.jobs, rows);
    await insertReceipts(
      sql,
      single.flatMap(({ one }) => receiptOf(one.result, won)),
    );
    return single.flatMap(({ one }) => (won.has(one.result.claimed.delivery.recipient_id) ? [] : [one]));
  };
  const fenced = await retryingDeadlock(() => {
    const has_receipts = results.some(({ relay_id }) => relay_id != null);
    if (others.length === 0 && !has_receipts) return settleAlone(services.sql);
    return services.sql.begin(async (tx) => {
      if (rows.length === 0) return settleOthers(services, tx, others, now_ms);
      await lockMessages(
        tx,
        results.map((result) => keyOf(result.claimed.delivery)),
      );
      return [...(await settleAlone(tx)), ...(await settleOthers(services, tx, others, now_ms))];
    });
  });
  if (fenced.length > 0) await settleFenced(services, fenced, now_ms);
  // The results are recorded: a failure to count them must not cause them to be recorded again.
  await meterAttempts(services, results_judged.flatMap(attemptedOf), now_ms).catch((error) =>
    services.log.error({ err: error }, 'failed to record attempt metrics'),
  );
  // Deferred recipients are due later, so a wake would find nothing.
  if (results.some(({ handed_back }) => handed_back)) services.jobs.wakeAll('delivery.attempt');
}

/** Returns the receipt that the relay gave a recipient; empty if it gave none, or the result does not count. */
function receiptOf(
  { claimed, relay_id = null, transport_id = null }: SettledDelivery,
  won: ReadonlySet<string>,
): RelayReceipt[] {
  const { message_id, recipient_id } = claimed.delivery;
  if (relay_id === null || transport_id === null || !won.has(recipient_id)) return [];
  return [{ transport_id, relay_id, message_id, recipient_id }];
}

/** Returns the attempts for the metrics; empty for recipients that were handed back. */
function attemptedOf({ result, verdict, refusal }: JudgedResult): AttemptRecord[] {
  const { handed_back, claimed, outcome, duration_ms, transport_label: transport = DEFAULT_TRANSPORT } = result;
  if (handed_back) return [];
  const { delivery, attempt_count: number } = claimed;
  const { to } = transitions[verdict.transition];
  return [{ delivery, number, outcome, category: refusal?.category ?? null, to, duration_ms, transport }];
}

/** Returns the facts of an attempt's event. Statistics read the first two by their position. */
function attemptFacts({ claimed, outcome, transport_id }: SettledDelivery): Record<string, unknown> {
  return {
    attempt: claimed.attempt_count,
    ...(transport_id && { transport_id }),
    response: lastResponse(outcome),
  };
}

/** Returns the facts of a delivered event, which also say whether the email was only captured, or accepted by a relay. */
function deliveredFacts({ config }: Pick<Services, 'config'>, result: SettledDelivery): Record<string, unknown> {
  const is_captured = isCaptured(config, result.claimed.delivery.mode);
  return { ...attemptFacts(result), ...(is_captured && { captured: true }), ...(result.relayed && { relayed: true }) };
}

/** Returns the recipient for the fast path if a message with a single recipient was accepted; null otherwise. */
function deliveredAlone(
  services: Services,
  { result, verdict, refusal }: JudgedResult,
  now_ms: number,
): DeliveredRecipient | null {
  const { claimed, outcome } = result;
  if (verdict.transition !== 'deliver' || verdict.reason || refusal || claimed.delivery.recipient_count > 1)
    return null;
  const row: DeliveredRecipient = {
    job: claimed.job,
    lease: claimed.lease,
    event_id: newId('event', now_ms),
    event_facts: deliveredFacts(services, result),
    last_response: lastResponse(outcome),
    attempt: attemptRow(services, { result, verdict, refusal }, newId('attempt', now_ms)),
  };
  return fitsTogether(row) ? row : null;
}

/**
 * Records results under a lease that was lost. A message that was delivered, and that no other worker has tried since,
 * counts as delivered; other results change nothing.
 */
async function settleFenced(services: Services, fenced: readonly JudgedResult[], now_ms: number): Promise<void> {
  const accepted = fenced.filter(({ result }) => result.outcome.kind === 'accepted');
  const confirmed = accepted.length > 0 ? await confirmLate(services, accepted, now_ms) : 0;
  if (confirmed > 0)
    services.log.warn({ count: confirmed }, 'recorded late results of email that no other worker had sent');
  const dropped = fenced.length - confirmed;
  if (dropped > 0) services.log.warn({ count: dropped }, 'dropped late results whose lease had expired');
}

async function confirmLate(services: Services, accepted: readonly JudgedResult[], now_ms: number): Promise<number> {
  const attempts = accepted.map(({ result: { claimed } }) => ({
    ...keyOf(claimed.delivery),
    number: claimed.attempt_count,
  }));
  return retryingDeadlock(() =>
    services.sql.begin(async (tx) => {
      await lockMessages(tx, attempts);
      const untried = new Set((await untriedSince(tx, attempts)).map(({ recipient_id }) => recipient_id));
      const confirmed = accepted.filter(({ result }) => untried.has(result.claimed.delivery.recipient_id));
      if (confirmed.length === 0) return 0;
      const rows = confirmed.map((one) => attemptRow(services, one, newId('attempt', now_ms)));
      await transition(
        tx,
        'confirm',
        confirmed.map(({ result }) => ({
          ...keyOf(result.claimed.delivery),
          event_id: newId('event', now_ms),
          event_facts: deliveredFacts(services, result),
          last_response: lastResponse(result.outcome),
        })),
      );
      await deleteLostAttempts(tx, rows);
      await insertAttempts(tx, rows);
      await insertReceipts(
        tx,
        confirmed.flatMap(({ result }) => receiptOf(result, untried)),
      );
      return confirmed.length;
    }),
  );
}

/** Settles the results that cannot take the fast path, and returns those whose lease was lost. */
async function settleOthers(
  services: Services,
  tx: Tx,
  decisions: readonly JudgedResult[],
  now_ms: number,
): Promise<JudgedResult[]> {
  const lost: JudgedResult[] = [];
  const next: (RecipientKey & { job_id: string; start_after: Date })[] = [];
  const byTransition = Map.groupBy(decisions, ({ verdict }) => verdict.transition);
  const rescheduled = byTransition.has('defer') || byTransition.has('hand_back');
  const [now] = await Promise.all([
    rescheduled ? transactionTime(tx) : new Date(now_ms),
    byTransition.size > 1 &&
      lockMessages(
        tx,
        decisions.map(({ result }) => keyOf(result.claimed.delivery)),
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
          ...(name === 'deliver' ? deliveredFacts(services, result) : attemptFacts(result)),
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
    lost.push(...fenced);
    const effective = group.filter(
      ({ result }) => won.has(result.claimed.delivery.recipient_id) && !result.handed_back,
    );
    await insertAttempts(
      tx,
      effective.map((one) => attemptRow(services, one, newId('attempt', now_ms))),
    );
    await insertReceipts(
      tx,
      effective.flatMap(({ result }) => receiptOf(result, won)),
    );
    for (const { result } of fenced) remove(next, result.claimed.delivery.recipient_id);
    await addSuppressions(tx, badAddresses(group, moves, won, now_ms));
  }
  await addDeliveryJobs(tx, services.jobs, next);
  await services.jobs.complete(
    tx,
    'delivery.attempt',
    decisions.map(({ result }) => result.claimed.job),
  );
  return lost;
}

/** Ends deferred recipients that were given up during their attempt. Their new jobs will find them closed. */
async function endGivenUp(tx: Tx, moves: readonly Move[], won: ReadonlySet<string>, now_ms: number): Promise<void> {
  const deferred = moves.filter(({ recipient_id }) => won.has(recipient_id));
  const given_up = await givenUpAmong(tx, deferred);
  await transition(
    tx,
    'give_up',
    given_up.map((key) => ({
      ...key,
      event_id: newId('event', now_ms),
      event_facts: { reason: GIVEN_UP },
      reason: GIVEN_UP,
    })),
  );
}

interface JudgedResult {
  readonly result: SettledDelivery;
  readonly verdict: Verdict;
  /** The meaning of a rejection. */
  readonly refusal: Classification | null;
}

/** Returns the earlier attempts of the recipients whose verdict depends on them. */
async function historyOf(
  { sql, config }: Services,
  results: readonly SettledDelivery[],
): Promise<ReadonlyMap<string, History>> {
  const unsettled = results.filter(
    ({ handed_back, outcome, claimed: { attempt_count } }) =>
      !handed_back && outcome.kind !== 'accepted' && attempt_count >= 2,
  );
  if (unsettled.length === 0) return new Map();
  const keys = unsettled.map(({ claimed }) => keyOf(claimed.delivery));
  return historiesOf(sql, keys, config.LIMITS.no_domain_for);
}

function judgeSettled(
  services: Services,
  result: SettledDelivery,
  history: ReadonlyMap<string, History>,
): JudgedResult {
  if (result.handed_back) return { result, verdict: { transition: 'hand_back', reason: null }, refusal: null };
  const { attempt_count, delivery } = result.claimed;
  const before = history.get(delivery.recipient_id);
  return {
    result,
    refusal: refusalOf(result.outcome, result.kept_by),
    verdict: judgeOutcome(result.outcome, {
      attempt_count,
      unknown_before: before?.unknown_count ?? 0,
      lost_before: before?.lost_count ?? 0,
      domain_is_missing: (before?.missing_count ?? 0) + 1 >= MISSING_ATTEMPTS && before?.missing_long === true,
      schedule: services.config.RETRY_SCHEDULE,
      unknown_policy: delivery.unknown_policy,
    }),
  };
}

/** Returns suppressions for rejections that are about the address. */
function badAddresses(
  group: readonly JudgedResult[],
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
  { result: { claimed, outcome, duration_ms, transport_id = null }, refusal }: JudgedResult,
  id: string,
) {
  // The transcript of a successful first attempt adds nothing to the reply, and takes up a fifth of a message's
  // storage.
  const keeps_transcript = config.TRANSCRIPTS === 'all' || outcome.kind !== 'accepted' || claimed.attempt_count > 1;
  return {
    ...keyOf(claimed.delivery),
    ...outcomeFields(outcome),
    id,
    number: claimed.attempt_count,
    category: refusal?.category ?? null,
    transcript: keeps_transcript && outcome.transcript !== '' ? outcome.transcript : null,
    duration_ms,
    transport_id,
  };
}

function remove(list: RecipientKey[], recipient_id: string): void {
  const index = list.findIndex((entry) => entry.recipient_id === recipient_id);
  if (index >= 0) list.splice(index, 1);
}
