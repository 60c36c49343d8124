import { type Sql, sqlState } from '@postrider/db';
import type { SenderFacts } from '../api-keys/index.ts';
import { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { bodyBudgetUsed, FairLine, largeCommitBounds, ShareRejected } from '../shares/index.ts';
import {
  type BatchFacts,
  commitSubmissions,
  idempotencyKeyOf,
  loadFacts,
  type Outcome,
  type WorkspaceSubmission,
  withWorkspace,
} from './accept.ts';
import { type AdmissionCache, createAdmissionCache } from './admission-cache.ts';
import { admit, credentialName } from './admit.ts';
import { type BatchConnection, connectionToFollow, isIdle } from './batch-connections.ts';
import { type BatchingPolicy, createBatchingPolicy, MAX_WAIT_MS } from './batching-policy.ts';
import { type AcceptedFast, acceptFast, type Draft, draftFast } from './fast-path.ts';
import { messageBytes } from './schema.ts';
import { claimName } from './store.ts';
import type { AcceptParts, AdmittedSubmission, Submission, SubmissionResponse, SubmitBatcher } from './submission.ts';

const MAX_MESSAGES = 64;
/** A larger body takes longer to store than the rest of a commit. */
const LARGE_BYTES = 192 * 1024;
const MAX_SENDERS = 10_000;
const LOCK_TIMEOUT = '55P03';
// How long a sender stays on the slow path after its batch failed at its limit.
const LIMITED_MS = 1000;

interface Waiting {
  readonly submission: Submission;
  /** Set once the request has been counted, so that waiting for a concurrent duplicate does not count it again. */
  admitted: { readonly sender: SenderFacts; readonly window: RateWindow | null } | null;
  /** False once the entry has failed on the fast path; it then stays on the slow path. */
  fast: boolean;
  failed_fast: boolean;
  answer(response: SubmissionResponse, window: RateWindow | null): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly entries: readonly Waiting[];
  /** One per entry on the fast path; null on the slow path. */
  readonly drafts: readonly Draft[] | null;
}

/**
 * Creates the submit batcher. Requests that arrive during a commit share the next one. A lone request is committed
 * immediately; under load, a batch is whatever arrived during one commit.
 */
export function createSubmitBatcher(parts: AcceptParts): SubmitBatcher {
  return new Batcher(parts);
}

class Batcher implements SubmitBatcher {
  readonly #parts: AcceptParts;
  readonly #connections: readonly BatchConnection[];
  readonly #policy: BatchingPolicy;
  readonly #cache = createAdmissionCache();
  /** Large submissions wait here, so that small ones never wait for an oversized commit. */
  readonly #large: FairLine;
  /** In order of arrival. */
  readonly #waiting: Waiting[] = [];
  /**
   * Idempotency keys being committed by this process: a duplicate waits here instead of on a row lock inside a batch.
   */
  readonly #keysUnderWay = new Map<string, Promise<void>>();
  /** By key hash. A key never changes workspace, so facts can be read before the key is checked. */
  readonly #senders = new Map<string, Pick<SenderFacts, 'workspace_id' | 'mode'>>();
  /** Whether batches begin at the end of this turn of the event loop. */
  #gathering = false;
  /** Runs while the policy keeps requests waiting for a commit in flight. */
  #waitTimer: NodeJS.Timeout | null = null;

  constructor(parts: AcceptParts) {
    this.#parts = parts;
    this.#connections = parts.accept_connections.map(
      (sql): BatchConnection => ({ sql, under_way: 0, fast: false, begun_ms: 0 }),
    );
    this.#policy = createBatchingPolicy(parts.accept_connections.length);
    this.#large = new FairLine('large_commits', largeCommitBounds, parts.metrics);
  }

  /** Resolves with the response once the submission is committed or rejected. */
  async submit(submission: Submission): Promise<SubmissionResponse & { readonly window: RateWindow | null }> {
    const bytes = bytesOf(submission);
    if (bytes <= LARGE_BYTES) return this.#submit(submission);
    const leave = await this.#large.enter(this.#ownerOf(submission), bytes).catch((error) => {
      throw error instanceof ShareRejected ? bodyBudgetUsed() : error;
    });
    return this.#submit(submission).finally(leave);
  }

  #submit(submission: Submission): Promise<SubmissionResponse & { readonly window: RateWindow | null }> {
    return new Promise((resolve, reject) => {
      this.#collect({
        submission,
        admitted: null,
        fast: true,
        failed_fast: false,
        reject,
        answer: (response, window) => resolve({ ...response, window }),
      });
    });
  }

  /** Adds an entry, and begins a batch mid-turn if the policy finds it urgent. */
  #collect(entry: Waiting): void {
    this.#waiting.push(entry);
    const idle = this.#connections.find(isIdle);
    if (idle && this.#policy.urgent(this.#waiting.length, performance.now())) this.#begin(idle);
    this.#gather();
  }

  /** Begins batches at the end of this turn if the policy finds it worthwhile; otherwise sets the timer. */
  #gather(): void {
    if (this.#gathering || this.#waiting.length === 0 || !this.#connections.some(isIdle)) return;
    if (!this.#policy.worthwhile(this.#waiting.length, performance.now())) {
      this.#waitTimer ??= setTimeout(this.#onWaitTimer, MAX_WAIT_MS);
      return;
    }
    this.#gathering = true;
    // Requests that arrive later in this turn of the event loop join the batch.
    setImmediate(this.#beginAll);
  }

  readonly #onWaitTimer = (): void => {
    this.#waitTimer = null;
    this.#gather();
  };

  /** Begins batches while there are idle connections and the policy finds it worthwhile. */
  readonly #beginAll = (): void => {
    this.#gathering = false;
    while (this.#waiting.length > 0 && this.#policy.worthwhile(this.#waiting.length, performance.now())) {
      const idle = this.#connections.find(isIdle);
      if (!idle) break;
      this.#begin(idle);
    }
    // Beginning these batches cleared the timer; the remaining entries need a new one, in case the commits hang.
    this.#gather();
  };

  /** Takes a batch and serves it behind an in-flight batch if it may follow one, otherwise on the idle connection. */
  #begin(idle: BatchConnection): void {
    const batch = this.#takeBatch();
    const carried = { size: batch.entries.length, fast: batch.drafts !== null };
    void this.#serve(connectionToFollow(this.#connections, carried, performance.now()) ?? idle, batch);
  }

  /** Removes the entries on the same path as the first one, up to the size of a commit. */
  #takeBatch(): Batch {
    const entries: Waiting[] = [];
    const drafts: Draft[] = [];
    const deferred: Waiting[] = [];
    let messages = 0;
    let examined = 0;
    for (const entry of this.#waiting) {
      if (entries.length > 0 && messages + entry.submission.messages.length > MAX_MESSAGES) break;
      examined += 1;
      const draft = entry.fast ? this.#draft(entry) : null;
      entry.fast = draft !== null;
      if (entries.length > 0 && entry.fast !== drafts.length > 0) {
        deferred.push(entry);
        continue;
      }
      messages += entry.submission.messages.length;
      entries.push(entry);
      if (draft) drafts.push(draft);
    }
    this.#waiting.splice(0, examined, ...deferred);
    return { entries, drafts: drafts.length > 0 ? drafts : null };
  }

  /** Returns the draft for the fast path, or null for an entry that needs the slow path. */
  #draft({ submission, admitted }: Waiting): Draft | null {
    return admitted === null ? draftFast(this.#parts, this.#cache, submission) : null;
  }

  /** Commits a batch on the fast path, or on the slow path if that fails, and responds to its entries. */
  async #serve(connection: BatchConnection, { entries, drafts }: Batch): Promise<void> {
    const { sql } = connection;
    connection.under_way += 1;
    connection.fast = drafts !== null;
    const begun_ms = performance.now();
    connection.begun_ms = begun_ms;
    this.#policy.begun(entries.length, begun_ms);
    if (this.#waitTimer) clearTimeout(this.#waitTimer);
    this.#waitTimer = null;
    const { vitals } = this.#parts;
    const failed_before = vitals.accept_failed_at;
    let responses: AcceptedFast[] | null = null;
    try {
      const unconfirmed = sql.unconfirmed();
      responses = drafts === null ? null : await this.#commitFast(sql, entries, drafts);
      if (responses !== null) requireConfirmed(sql, unconfirmed);
      if (responses === null) {
        connection.fast = false;
        await this.#serveSlow(sql, entries);
      }
      if (vitals.accept_failed_at === failed_before) vitals.accept_failed_at = null;
    } catch (error) {
      vitals.accept_failed_at = performance.now();
      for (const entry of entries) entry.reject(error);
    } finally {
      connection.under_way -= 1;
      this.#policy.ended(begun_ms, performance.now());
      this.#gather();
    }
    if (responses === null) return;
    // A commit that is about to begin goes first, so that the database stays busy while these responses are written.
    if (this.#gathering) setImmediate(answerAll, entries, responses);
    else answerAll(entries, responses);
  }

  /**
   * Commits on the fast path: one round trip, using cached facts. Returns null if the facts no longer hold; nothing was
   * counted or stored then.
   */
  async #commitFast(sql: Sql, entries: readonly Waiting[], drafts: readonly Draft[]): Promise<AcceptedFast[] | null> {
    try {
      return await acceptFast(this.#parts, sql, this.#cache.epoch, drafts);
    } catch (error) {
      if (!isRetriedSlowly(error)) throw error;
      for (const entry of entries) entry.failed_fast = true;
      return null;
    }
  }

  /**
   * Serves a batch on the slow path: two round trips, the first to admit against current facts, the second to judge and
   * commit.
   */
  async #serveSlow(sql: Sql, batch: readonly Waiting[]): Promise<void> {
    const keys: string[] = [];
    const commit = Promise.withResolvers<void>();
    try {
      const admitting = admitAll(this.#parts, this.#cache, sql, batch);
      // Issued before the admission returns, so that both share one round trip.
      const prefetched = this.#prefetchFacts(sql, batch);
      const admitted = await admitting;
      const unique: Waiting[] = [];
      for (const entry of admitted) {
        this.#rememberSender(entry);
        const name = idempotencyName(entry);
        const first = name !== null && this.#keysUnderWay.get(name);
        if (first) void first.then(() => this.#collect(entry));
        else {
          unique.push(entry);
          if (name !== null) keys.push(name);
          if (name !== null) this.#keysUnderWay.set(name, commit.promise);
        }
      }
      if (unique.length > 0) await this.#commitOrSplit(sql, unique, prefetched);
      else await prefetched?.catch(() => undefined);
    } finally {
      for (const name of keys) this.#keysUnderWay.delete(name);
      commit.resolve();
    }
  }

  /**
   * Prefetches facts for the whole batch if every workspace is known; otherwise returns null, and they are read after
   * the admission.
   */
  #prefetchFacts(sql: Sql, batch: readonly Waiting[]): Promise<BatchFacts> | null {
    const located: WorkspaceSubmission[] = [];
    for (const { submission } of batch) {
      const { actor } = submission;
      const sender =
        actor.kind === 'credential'
          ? this.#senders.get(actor.secret_hash.toString('base64'))
          : { workspace_id: actor.workspace_id, mode: actor.kind === 'key' ? actor.mode : ('live' as const) };
      if (sender === undefined) return null;
      located.push({ ...sender, submission });
    }
    const facts = loadFacts(sql, located);
    // Awaited later; until then a failure must not count as unhandled.
    facts.catch(() => undefined);
    return facts;
  }

  /** Returns the sender's workspace, or the hash of its key if the workspace is not known yet. */
  #ownerOf({ actor }: Submission): string {
    if (actor.kind !== 'credential') return actor.workspace_id;
    const key = actor.secret_hash.toString('base64');
    return this.#senders.get(key)?.workspace_id ?? key;
  }

  #rememberSender({ submission: { actor }, admitted }: Waiting): void {
    if (actor.kind !== 'credential' || !admitted) return;
    if (this.#senders.size >= MAX_SENDERS) this.#senders.clear();
    const { workspace_id, mode } = admitted.sender;
    this.#senders.set(actor.secret_hash.toString('base64'), { workspace_id, mode });
  }

  /** Commits the entries. A message that makes the statement fail is isolated by splitting the batch. */
  async #commitOrSplit(sql: Sql, entries: readonly Waiting[], prefetched: Promise<BatchFacts> | null): Promise<void> {
    const submissions = entries.map(admittedOf);
    try {
      const facts = await (prefetched ?? loadFacts(sql, submissions.map(withWorkspace)));
      this.#cache.learnDomains(facts.facts.epoch, facts.facts.domains);
      this.#cache.learnSuppressed(facts.facts.suppressed);
      const unconfirmed = sql.unconfirmed();
      const outcomes = await commitSubmissions(this.#parts, sql, submissions, facts);
      requireConfirmed(sql, unconfirmed);
      for (const [index, entry] of entries.entries()) this.#settle(entry, outcomes[index]);
    } catch (error) {
      if (isDeadlock(error) && prefetched !== null) {
        await this.#commitOrSplit(sql, entries, null);
        return;
      }
      const parts = isRefused(error) && (entries.length > 1 || prefetched !== null) ? halvesOf(entries) : [];
      const retryable = sqlState(error) === LOCK_TIMEOUT && prefetched !== null ? entries.filter(isWithoutKey) : [];
      if (retryable.length > 0 && retryable.length < entries.length) parts.push(retryable);
      const retried = new Set(parts.flat());
      if (retried.size === 0 && !isRefused(error)) this.#parts.vitals.accept_failed_at = performance.now();
      for (const entry of entries) if (!retried.has(entry)) entry.reject(publicError(error, entry.submission));
      for (const part of parts) await this.#commitOrSplit(sql, part, null);
    }
  }

  /** Settles an entry of the slow path, or collects it again if a duplicate was committed first. */
  #settle(entry: Waiting, outcome: Outcome | undefined): void {
    if (!outcome) entry.reject(new Error('a submission was committed without an answer'));
    else if (outcome === 'judge_again') this.#collect(entry);
    else {
      if (entry.failed_fast && refusesAny(outcome)) this.#cache.learnLimited(callerKey(entry), LIMITED_MS);
      entry.answer(outcome, admittedOf(entry).window);
    }
  }
}

/** Throws if a commit may not be on any standby: a failover would lose it, so the response must not be 202. */
function requireConfirmed(sql: Sql, before: number): void {
  if (sql.unconfirmed() !== before) throw new Error('mail was committed and may be on no standby');
}

function answerAll(entries: readonly Waiting[], responses: readonly AcceptedFast[]): void {
  entries.forEach((entry, index) => {
    const response = responses[index];
    if (response) entry.answer({ kind: 'judged', results: response.results }, response.window);
    else entry.reject(new Error('a draft was stored without an answer'));
  });
}

/** Splits a failed batch, to isolate the message at fault. */
function halvesOf(entries: readonly Waiting[]): (readonly Waiting[])[] {
  const middle = entries.length >> 1;
  return [entries.slice(0, middle), entries.slice(middle)].filter((part) => part.length > 0);
}

/** Returns whether an entry has no idempotency key. A lock timeout is usually on the row of an idempotency key. */
function isWithoutKey({ submission }: Waiting): boolean {
  return submission.idempotency === null;
}

/** Responds to the entries that are rejected before the commit, and returns the others. */
async function admitAll(
  parts: AcceptParts,
  cache: AdmissionCache,
  sql: Sql,
  batch: readonly Waiting[],
): Promise<Waiting[]> {
  const fresh = batch.filter((entry) => entry.admitted === null);
  const verdicts = await admit(
    parts,
    cache,
    sql,
    fresh.map((entry) => entry.submission),
  );
  fresh.forEach((entry, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind === 'admitted') entry.admitted = { sender: verdict.sender, window: verdict.window };
    else if (verdict) {
      const { error, window } = verdict;
      if (entry.failed_fast) cache.learnLimited(callerKey(entry), 1000 * (window?.retry_after_seconds ?? 1));
      entry.answer({ kind: 'refused', error }, window);
    }
  });
  return batch.filter((entry) => entry.admitted !== null);
}

function admittedOf(entry: Waiting): AdmittedSubmission & { readonly window: RateWindow | null } {
  if (!entry.admitted) throw new Error('a submission reached the commit without admission');
  return { ...entry.submission, ...entry.admitted };
}

function bytesOf({ messages }: Submission): number {
  return messages.reduce((sum, message) => sum + (message.ok ? messageBytes(message.value) : 0), 0);
}

function callerKey({ submission: { actor } }: Waiting): string {
  return actor.kind === 'credential' ? credentialName(actor) : '';
}

function refusesAny(response: Exclude<Outcome, 'judge_again'>): boolean {
  return response.kind === 'judged' ? response.results.some((result) => result instanceof AppError) : true;
}

function idempotencyName(entry: Waiting): string | null {
  const key = entry.admitted && idempotencyKeyOf(withWorkspace({ ...entry.submission, sender: entry.admitted.sender }));
  return key ? claimName(key) : null;
}

/**
 * Returns whether the data is at fault (SQLSTATE classes 22 and 23), so that parts of the batch may succeed without it.
 */
function isRefused(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

function isDeadlock(error: unknown): boolean {
  return sqlState(error) === '40P01';
}

/**
 * Returns whether the slow path may succeed: the fast path stored nothing because of its own check (class PR), bad data
 * or a deadlock. After any other database failure the slow path would fail too, only later, so all entries fail
 * immediately.
 */
function isRetriedSlowly(error: unknown): boolean {
  return isRefused(error) || isDeadlock(error) || sqlState(error)?.startsWith('PR') === true;
}

function publicError(error: unknown, submission: Submission): unknown {
  const waitedTooLong = sqlState(error) === LOCK_TIMEOUT;
  if (!waitedTooLong || !submission.idempotency) return error;
  return new AppError(
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still in progress. Retry in a moment.',
  );
}
