import type { Sql } from '@postrider/db';
import { z } from 'zod';
import type { SenderFacts } from '../api-keys/index.ts';
import type { AuditDraft } from '../audit/index.ts';
import type { Clock } from '../fields/clock.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField, timeField } from '../fields/wire.ts';
import type { Actor, Credential } from '../operation/context.ts';
import type { AppError } from '../operation/errors.ts';
import type { Parsed } from '../operation/operation.ts';
import type { AddressCounter, KeyUses, RateWindow } from '../operation/ports.ts';
import type { Scope } from '../operation/scopes.ts';
import type { Vitals } from '../operation/vitals.ts';
import type { Config } from '../process/config.ts';
import type { Jobs } from '../process/jobs.ts';
import type { Metrics } from '../process/metrics.ts';
import type { SendInput } from './schema.ts';

export const acknowledgementSchema = z
  .object({
    id: idField(idPrefixes.message).meta({ description: 'The email ID.' }),
    status: z.literal('queued').meta({ description: 'Always queued, even for scheduled email.' }),
    created_at: timeField.meta({ description: 'When the email was accepted.' }),
  })
  .meta({ id: 'Acknowledgement' });
export type Acknowledgement = z.output<typeof acknowledgementSchema>;
export type SendResult = Acknowledgement | AppError;

/** One request with one message or, for a batch, several that are judged individually. */
export interface Submission {
  readonly actor: Actor | Credential;
  readonly scope: Scope;
  readonly request_id: string;
  /** Whether the API has already counted the request in the `send` window. */
  readonly counted: boolean;
  /** The traceparent of the commit; null if it is not sampled. */
  readonly trace: string | null;
  readonly messages: readonly Parsed<SendInput>[];
  /**
   * Returns the error for the whole request, given the errors of its messages (null for each message that passed). A
   * rejected request stores nothing and claims no idempotency key.
   */
  refusal(refusals: readonly (AppError | null)[]): AppError | null;
  readonly resend: Resend | null;
  /** Whether the content is unreadable in the workspace, because it has a link that signs its recipient in. */
  readonly sealed?: boolean;
  readonly idempotency: Idempotency | null;
}

/** The message that a new one copies, and the audit rows to store in the same commit. */
export interface Resend {
  readonly message_id: string;
  audit(resent_as: string): readonly AuditDraft[];
}

export interface Idempotency {
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** Returns whether the request behind a stored fingerprint meant the same. */
  isSame(stored: Buffer): boolean;
  /** Serializes the response for a replay. */
  remember(results: readonly SendResult[]): string;
}

export type SubmissionResponse =
  | { readonly kind: 'judged'; readonly results: readonly SendResult[] }
  | { readonly kind: 'replayed'; readonly answer: string }
  | { readonly kind: 'refused'; readonly error: AppError };

/** A submission whose key, window, scope and body have been checked. */
export interface AdmittedSubmission extends Submission {
  readonly sender: SenderFacts;
}

export interface SubmitBatcher {
  submit(submission: Submission): Promise<SubmissionResponse & { readonly window: RateWindow | null }>;
}

export interface AcceptParts {
  readonly sql: Sql;
  /**
   * Dedicated connections of the submit batcher, one per concurrent commit. Two keep the disk busy while the next batch
   * is judged; more would only split the batches.
   */
  readonly accept_connections: readonly Sql[];
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly config: Config;
  readonly key_uses: KeyUses;
  readonly address_counter: AddressCounter;
  readonly vitals: Vitals;
  readonly metrics: Metrics;
}
