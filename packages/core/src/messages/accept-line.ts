import type { Sql } from '@postrider/db';
import type { KeyUses } from '../api-keys/key-uses.ts';
import type { Scope } from '../api-keys/scopes.ts';
import type { SenderFacts } from '../api-keys/store.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Actor, Credential } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Jobs } from '../jobs.ts';
import type { Parsed } from '../operation.ts';
import type { RateWindow } from '../usage/index.ts';
import { commitSubmissions } from './accept.ts';
import { admit } from './admit.ts';
import type { SendInput } from './schema.ts';

// Two commits under way keep the disk busy while the next batch is judged; more would only split the batches.
const COMMITS_AT_ONCE = 2;
const MOST_MESSAGES = 64;

export interface Acknowledgement {
  readonly id: string;
  readonly status: 'queued';
  readonly created_at: string;
}
export type SendResult = Acknowledgement | AppError;

/** One request with one message or, from a batch, several; each message is judged by itself. */
export interface Submission {
  readonly actor: Actor | Credential;
  readonly scope: Scope;
  readonly request_id: string;
  readonly messages: readonly Parsed<SendInput>[];
  /** The request is its one message: a refusal of it refuses the request and burns no idempotency key. */
  readonly alone: boolean;
  readonly resend_of: string | null;
  readonly idempotency: Idempotency | null;
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
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly config: Config;
  readonly key_uses: KeyUses;
}

interface Waiting {
  readonly submission: Submission;
  /** Set once the request has been counted, so that waiting for a twin counts nothing twice. */
  admitted: { readonly sender: SenderFacts; readonly window: RateWindow | null } | null;
  answer(answer: SubmissionAnswer, window: RateWindow | null): void;
  reject(error: unknown): void;
}

/**
 * Requests that arrive while commits are under way wait together and share the next one. No timer is
 * involved: a lone request goes at once, and under load the batch is what came in during a commit.
 */
export function createAcceptLine(parts: AcceptParts): AcceptLine {
  const waiting: Waiting[] = [];
  /** Idempotency keys in a commit of this process: a twin waits here and not on a row lock inside a batch. */
  const underWay = new Map<string, Promise<void>>();
  let busy = 0;
  let gathering = false;

  const join = (entry: Waiting) => {
    waiting.push(entry);
    gather();
  };

  const gather = () => {
    if (gathering || busy >= COMMITS_AT_ONCE || waiting.length === 0) return;
    gathering = true;
    // Everything that arrived in this turn of the event loop joins.
    setImmediate(() => {
      gathering = false;
      while (busy < COMMITS_AT_ONCE && waiting.length > 0) void serve(takeBatch(waiting));
    });
  };

  const serve = async (batch: readonly Waiting[]) => {
    busy += 1;
    const held: string[] = [];
    const ended = Promise.withResolvers<void>();
    try {
      const unique: Waiting[] = [];
      for (const entry of await admitAll(parts, batch)) {
        const name = twinName(entry);
        const first = name !== null && underWay.get(name);
        if (first) void first.then(() => join(entry));
        else {
          unique.push(entry);
          if (name !== null) held.push(name);
          if (name !== null) underWay.set(name, ended.promise);
        }
      }
      if (unique.length > 0) await commitOrHalve(unique);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      for (const name of held) underWay.delete(name);
      ended.resolve();
      busy -= 1;
      gather();
    }
  };

  /** A message that makes a statement fail is found by halving the batch, never by failing its neighbours. */
  const commitOrHalve = async (entries: readonly Waiting[]): Promise<void> => {
    try {
      const answers = await commitSubmissions(parts, entries.map(admittedOf));
      entries.forEach((entry, index) => {
        const answer = answers[index];
        if (!answer) entry.reject(new Error('a submission was committed without an answer'));
        else if (answer === 'twin_committed') join(entry);
        else entry.answer(answer, admittedOf(entry).window);
      });
    } catch (error) {
      if (!wasRolledBack(error) || entries.length === 1) {
        for (const entry of entries) entry.reject(publicError(error, entry.submission));
        return;
      }
      const middle = entries.length >> 1;
      await commitOrHalve(entries.slice(0, middle));
      await commitOrHalve(entries.slice(middle));
    }
  };

  return {
    submit(submission) {
      return new Promise((resolve, reject) => {
        join({ submission, admitted: null, reject, answer: (answer, window) => resolve({ ...answer, window }) });
      });
    },
  };
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let messages = 0;
  let count = 0;
  for (const { submission } of waiting) {
    messages += submission.messages.length;
    if (count > 0 && messages > MOST_MESSAGES) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** Answers whoever is refused before the commit, and returns the others. */
async function admitAll(parts: AcceptParts, batch: readonly Waiting[]): Promise<Waiting[]> {
  const fresh = batch.filter((entry) => entry.admitted === null);
  const verdicts = await admit(
    parts,
    fresh.map((entry) => entry.submission),
  );
  fresh.forEach((entry, index) => {
    const verdict = verdicts[index];
    if (verdict?.kind === 'admitted') entry.admitted = { sender: verdict.sender, window: verdict.window };
    else if (verdict) entry.answer({ kind: 'refused', error: verdict.error }, verdict.window);
  });
  return batch.filter((entry) => entry.admitted !== null);
}

function admittedOf(entry: Waiting): Admitted & { readonly window: RateWindow | null } {
  if (!entry.admitted) throw new Error('a submission reached the commit without admission');
  return { ...entry.submission, ...entry.admitted };
}

function twinName(entry: Waiting): string | null {
  const { idempotency } = entry.submission;
  return idempotency && JSON.stringify([entry.admitted?.sender.workspace_id, idempotency.operation, idempotency.key]);
}

/** The server answered with an error, so nothing of the batch was committed. A lost connection proves nothing. */
function wasRolledBack(error: unknown): boolean {
  return error instanceof Error && error.name === 'PostgresError';
}

function publicError(error: unknown, submission: Submission): unknown {
  const waitedTooLong = error instanceof Error && 'code' in error && error.code === '55P03';
  if (!waitedTooLong || !submission.idempotency) return error;
  return new AppError(
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still under way; retry in a moment.',
  );
}
