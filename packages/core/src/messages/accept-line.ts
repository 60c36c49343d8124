import { type Sql, sqlState } from '@postrider/db';
import { z } from 'zod';
import type { KeyUses } from '../api-keys/key-uses.ts';
import type { Scope } from '../api-keys/scopes.ts';
import type { SenderFacts } from '../api-keys/store.ts';
import type { AuditDraft } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Actor, Credential } from '../context.ts';
import { AppError } from '../errors.ts';
import { idPrefixes } from '../ids.ts';
import type { Jobs } from '../jobs.ts';
import type { Parsed } from '../operation.ts';
import type { RateWindow } from '../usage/index.ts';
import { idField, timeField } from '../wire.ts';
import { type BatchFacts, commitSubmissions, loadFacts, type Outcome, type Placed, placedAs } from './accept.ts';
import { type AcceptedAtOnce, acceptAtOnce, type Draft, draftAtOnce } from './accept-at-once.ts';
import { admit, credentialName } from './admit.ts';
import { createCommitPace, LONGEST_HOLD_MS } from './commit-pace.ts';
import { isIdle, type Place, placeToFollow } from './line-places.ts';
import { createRememberedFacts, type RememberedFacts } from './remembered-facts.ts';
import type { SendInput } from './schema.ts';

const MOST_MESSAGES = 64;
const HOMES_KEPT = 10_000;
const LOCK_TIMEOUT = '55P03';
// How long a sender whose batch failed at its limit is judged by the tables.
const DOUBT_MS = 1000;

export const acknowledgementSchema = z
  .object({
    id: idField(idPrefixes.message),
    status: z.literal('queued').meta({ description: 'Also of a mail that is scheduled.' }),
    created_at: timeField,
  })
  .meta({ id: 'Acknowledgement' });
export type Acknowledgement = z.output<typeof acknowledgementSchema>;
export type SendResult = Acknowledgement | AppError;

/** One request with one message or, from a batch, several; each message is judged by itself. */
export interface Submission {
  readonly actor: Actor | Credential;
  readonly scope: Scope;
  readonly request_id: string;
  readonly messages: readonly Parsed<SendInput>[];
  /** The request is its one message: a refusal of it refuses the request and burns no idempotency key. */
  readonly alone: boolean;
  readonly resend: Resend | null;
  readonly idempotency: Idempotency | null;
}

/** Of which message a new one is a copy, and what the audit log is told of it in the commit that stores it. */
export interface Resend {
  readonly message_id: string;
  audit(resent_as: string): readonly AuditDraft[];
}

export interface Idempotency {
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** The answer as it will be given again. */
  remember(results: readonly SendResult[]): string;
}

export type SubmissionAnswer =
  | { readonly kind: 'judged'; readonly results: readonly SendResult[] }
  | { readonly kind: 'replayed'; readonly answer: string }
  | { readonly kind: 'refused'; readonly error: AppError };

/** A submission whose key, window, scope and body have been found good. */
export interface Admitted extends Submission {
  readonly sender: SenderFacts;
}

export interface AcceptLine {
  submit(submission: Submission): Promise<SubmissionAnswer & { readonly window: RateWindow | null }>;
}

export interface AcceptParts {
  readonly sql: Sql;
  /**
   * Connections of the line's own; as many commits are under way at once. Two keep the disk busy while the
   * next batch is judged, more would only split the batches.
   */
  readonly lanes: readonly Sql[];
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly config: Config;
  readonly key_uses: KeyUses;
}

interface Waiting {
  readonly submission: Submission;
  /** Set once the request has been counted, so that waiting for a twin counts nothing twice. */
  admitted: { readonly sender: SenderFacts; readonly window: RateWindow | null } | null;
  /** Whether it may still be stored at once; once it could not be, the tables decide. */
  at_once: boolean;
  failed_at_once: boolean;
  answer(answer: SubmissionAnswer, window: RateWindow | null): void;
  reject(error: unknown): void;
}

/**
 * Requests that arrive while commits are under way wait together and share the next one. A lone
 * request goes at once, and under load the batch is what came in during a commit.
 */
export function createAcceptLine(parts: AcceptParts): AcceptLine {
  const waiting: Waiting[] = [];
  const places = parts.lanes.map((lane): Place => ({ lane, under_way: 0, at_once: false, begun_ms: 0 }));
  const pace = createCommitPace(parts.lanes.length);
  /** Idempotency keys in a commit of this process: a twin waits here and not on a row lock inside a batch. */
  const underWay = new Map<string, Promise<void>>();
  /** Whose key it is never changes, so facts can be read before the key's validity is known. */
  const homes = new Map<string, string>();
  const remembered = createRememberedFacts();
  let gathering = false;
  let impatience: NodeJS.Timeout | null = null;

  const join = (entry: Waiting) => {
    waiting.push(entry);
    const idle = places.find(isIdle);
    if (idle && pace.urgent(waiting.length, performance.now())) begin(idle);
    gather();
  };

  const begin = (idle: Place) => {
    const batch = takeBatch(waiting, draft);
    const carried = { size: batch.entries.length, at_once: batch.drafts !== null };
    void serve(placeToFollow(places, carried, performance.now()) ?? idle, batch);
  };

  const gather = () => {
    if (gathering || waiting.length === 0 || !places.some(isIdle)) return;
    if (!pace.worthwhile(waiting.length, performance.now())) {
      impatience ??= setTimeout(() => {
        impatience = null;
        gather();
      }, LONGEST_HOLD_MS);
      return;
    }
    gathering = true;
    // Everything that arrived in this turn of the event loop joins.
    setImmediate(() => {
      gathering = false;
      while (waiting.length > 0 && pace.worthwhile(waiting.length, performance.now())) {
        const idle = places.find(isIdle);
        if (!idle) break;
        begin(idle);
      }
      // What began has cleared the timer. Whoever is left needs one, to pass should it hang.
      gather();
    });
  };

  const draft = ({ submission, admitted }: Waiting) =>
    admitted === null ? draftAtOnce(parts, remembered, submission) : null;

  const serve = async (place: Place, { entries, drafts }: Batch) => {
    const { lane } = place;
    place.under_way += 1;
    place.at_once = drafts !== null;
    const begun_ms = performance.now();
    place.begun_ms = begun_ms;
    pace.begun(entries.length, begun_ms);
    if (impatience) clearTimeout(impatience);
    impatience = null;
    let answers: AcceptedAtOnce[] | null = null;
    try {
      answers = drafts === null ? null : await storedAtOnce(lane, entries, drafts);
      if (answers === null) {
        place.at_once = false;
        await serveCarefully(lane, entries);
      }
    } catch (error) {
      for (const entry of entries) entry.reject(error);
    } finally {
      place.under_way -= 1;
      pace.ended(begun_ms, performance.now());
      gather();
    }
    // A commit that is about to begin does so before these answers are written, and the database is not idle meanwhile.
    if (answers === null) return;
    if (gathering) setImmediate(answerAll, entries, answers);
    else answerAll(entries, answers);
  };

  /** One round trip by what is remembered; null if that did not hold, and then nothing was counted or stored. */
  const storedAtOnce = async (
    lane: Sql,
    entries: readonly Waiting[],
    drafts: readonly Draft[],
  ): Promise<AcceptedAtOnce[] | null> => {
    try {
      return await acceptAtOnce(parts, lane, remembered.epoch, drafts);
    } catch (error) {
      if (!wasRolledBack(error)) throw error;
      for (const entry of entries) entry.failed_at_once = true;
      return null;
    }
  };

  /** Two round trips: admission with the facts as they stand, then the judgement and the commit. */
  const serveCarefully = async (lane: Sql, batch: readonly Waiting[]) => {
    const held: string[] = [];
    const ended = Promise.withResolvers<void>();
    try {
      const admitting = admitAll(parts, remembered, lane, batch);
      // Issued before the admission has answered, so that both travel in one round trip.
      const prefetched = prefetchFacts(lane, homes, batch);
      const admitted = await admitting;
      const unique: Waiting[] = [];
      for (const entry of admitted) {
        rememberHome(homes, entry);
        const name = twinName(entry);
        const first = name !== null && underWay.get(name);
        if (first) void first.then(() => join(entry));
        else {
          unique.push(entry);
          if (name !== null) held.push(name);
          if (name !== null) underWay.set(name, ended.promise);
        }
      }
      if (unique.length > 0) await commitOrHalve(lane, unique, prefetched);
      else await prefetched?.catch(() => undefined);
    } finally {
      for (const name of held) underWay.delete(name);
      ended.resolve();
    }
  };

  /** A message that makes a statement fail is found by halving the batch, never by failing its neighbours. */
  const commitOrHalve = async (
    lane: Sql,
    entries: readonly Waiting[],
    prefetched: Promise<BatchFacts> | null,
  ): Promise<void> => {
    const submissions = entries.map(admittedOf);
    try {
      const facts = await (prefetched ?? loadFacts(lane, submissions.map(placedAs)));
      remembered.learnDomains(facts.found.epoch, facts.found.domains);
      remembered.learnSuppressed(facts.found.suppressed);
      const answers = await commitSubmissions(parts, lane, submissions, facts);
      entries.forEach((entry, index) => {
        const answer = answers[index];
        if (!answer) entry.reject(new Error('a submission was committed without an answer'));
        else if (answer === 'judge_again') join(entry);
        else {
          if (entry.failed_at_once && refusesAny(answer)) remembered.doubt(nameOf(entry), DOUBT_MS);
          entry.answer(answer, admittedOf(entry).window);
        }
      });
    } catch (error) {
      if (!wasRolledBack(error) || (entries.length === 1 && prefetched === null)) {
        for (const entry of entries) entry.reject(publicError(error, entry.submission));
        return;
      }
      for (const part of partsOf(entries, error)) await commitOrHalve(lane, part, null);
    }
  };

  return {
    submit(submission) {
      return new Promise((resolve, reject) => {
        join({
          submission,
          admitted: null,
          at_once: true,
          failed_at_once: false,
          reject,
          answer: (answer, window) => resolve({ ...answer, window }),
        });
      });
    },
  };
}

function answerAll(entries: readonly Waiting[], answers: readonly AcceptedAtOnce[]): void {
  entries.forEach((entry, index) => {
    const answer = answers[index];
    if (answer) entry.answer({ kind: 'judged', results: answer.results }, answer.window);
    else entry.reject(new Error('a draft was stored without an answer'));
  });
}

/**
 * The parts to try again when a statement was refused: halves, as somebody's input may be at fault. After a
 * wait for a lock it can only be an idempotency key, so those without one go on together at once.
 */
function partsOf(entries: readonly Waiting[], error: unknown): (readonly Waiting[])[] {
  const middle = entries.length >> 1;
  const keyed = entries.filter((entry) => entry.submission.idempotency !== null);
  const others = entries.filter((entry) => entry.submission.idempotency === null);
  const parts =
    sqlState(error) === LOCK_TIMEOUT && keyed.length > 0 && others.length > 0
      ? [others, keyed]
      : [entries.slice(0, middle), entries.slice(middle)];
  return parts.filter((part) => part.length > 0);
}

/** Facts for the whole batch, where every workspace is known; else null, and they are read after the admission. */
function prefetchFacts(
  lane: Sql,
  homes: ReadonlyMap<string, string>,
  batch: readonly Waiting[],
): Promise<BatchFacts> | null {
  const placed: Placed[] = [];
  for (const { submission } of batch) {
    const { actor } = submission;
    const workspace_id =
      actor.kind === 'credential' ? homes.get(actor.secret_hash.toString('base64')) : actor.workspace_id;
    if (workspace_id === undefined) return null;
    placed.push({ workspace_id, submission });
  }
  const facts = loadFacts(lane, placed);
  // Awaited later; a failure must not count as unhandled until then.
  facts.catch(() => undefined);
  return facts;
}

function rememberHome(homes: Map<string, string>, { submission: { actor }, admitted }: Waiting): void {
  if (actor.kind !== 'credential' || !admitted) return;
  if (homes.size >= HOMES_KEPT) homes.clear();
  homes.set(actor.secret_hash.toString('base64'), admitted.sender.workspace_id);
}

interface Batch {
  readonly entries: readonly Waiting[];
  /** Of each entry, where all of them can be stored at once. */
  readonly drafts: readonly Draft[] | null;
}

/** Those that go the way of the first of them, at most as many as a commit carries, out of the line. */
function takeBatch(waiting: Waiting[], draft: (entry: Waiting) => Draft | null): Batch {
  const entries: Waiting[] = [];
  const drafts: Draft[] = [];
  const others: Waiting[] = [];
  let messages = 0;
  let looked_at = 0;
  for (const entry of waiting) {
    if (entries.length > 0 && messages + entry.submission.messages.length > MOST_MESSAGES) break;
    looked_at += 1;
    const drafted = entry.at_once ? draft(entry) : null;
    entry.at_once = drafted !== null;
    if (entries.length > 0 && entry.at_once !== drafts.length > 0) {
      others.push(entry);
      continue;
    }
    messages += entry.submission.messages.length;
    entries.push(entry);
    if (drafted) drafts.push(drafted);
  }
  waiting.splice(0, looked_at, ...others);
  return { entries, drafts: drafts.length > 0 ? drafts : null };
}

/** Answers whoever is refused before the commit, and returns the others. */
async function admitAll(
  parts: AcceptParts,
  remembered: RememberedFacts,
  lane: Sql,
  batch: readonly Waiting[],
): Promise<Waiting[]> {
  const fresh = batch.filter((entry) => entry.admitted === null);
  const verdicts = await admit(
    parts,
    remembered,
    lane,
    fresh.map((entry) => entry.submission),
  );
  fresh.forEach((entry, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind === 'admitted') entry.admitted = { sender: verdict.sender, window: verdict.window };
    else if (verdict) {
      const { error, window } = verdict;
      if (entry.failed_at_once) remembered.doubt(nameOf(entry), 1000 * (window?.retry_after_seconds ?? 1));
      entry.answer({ kind: 'refused', error }, window);
    }
  });
  return batch.filter((entry) => entry.admitted !== null);
}

function admittedOf(entry: Waiting): Admitted & { readonly window: RateWindow | null } {
  if (!entry.admitted) throw new Error('a submission reached the commit without admission');
  return { ...entry.submission, ...entry.admitted };
}

function nameOf({ submission: { actor } }: Waiting): string {
  return actor.kind === 'credential' ? credentialName(actor) : '';
}

function refusesAny(answer: Exclude<Outcome, 'judge_again'>): boolean {
  return answer.kind === 'judged' ? answer.results.some((result) => result instanceof AppError) : true;
}

function twinName(entry: Waiting): string | null {
  const { idempotency } = entry.submission;
  return idempotency && JSON.stringify([entry.admitted?.sender.workspace_id, idempotency.operation, idempotency.key]);
}

/**
 * The server refused the statement, so nothing of the batch was committed. A lost connection proves nothing,
 * and neither does a session that the server ended (class 57P): its commit may have come first.
 */
function wasRolledBack(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && !state.startsWith('57P');
}

function publicError(error: unknown, submission: Submission): unknown {
  const waitedTooLong = sqlState(error) === LOCK_TIMEOUT;
  if (!waitedTooLong || !submission.idempotency) return error;
  return new AppError(
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still under way; retry in a moment.',
  );
}
