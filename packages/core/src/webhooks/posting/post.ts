import { randomUUID } from 'node:crypto';
import type { Tx } from '@postrider/db';
import type { HttpGuard, HttpOutcome } from '@postrider/net';
import { type EventType, recordEvent } from '../../events/index.ts';
import { idTime, newId } from '../../fields/ids.ts';
import type { Services } from '../../operation/context.ts';
import { DecryptionError } from '../../process/encryption.ts';
import { noSpan } from '../../process/tracing.ts';
import { type EndedAttempt, keepAttempts } from '../deliveries/attempt-store.ts';
import { shownHeaders } from '../deliveries/delivery-posts.ts';
import {
  type ClaimedRow,
  type ClaimQuota,
  claimRows,
  type PostResult,
  recordResults,
} from '../deliveries/delivery-store.ts';
import { judgePost, type PostVerdict } from '../deliveries/outcome.ts';
import {
  disableWebhook,
  type Endpoint,
  loadEndpoints,
  markNoticed,
  recordHealth,
  type WebhookRow,
} from '../endpoints/store.ts';
import { type EndedLease, endLeaseRows } from './lease-store.ts';
import { bodyOf } from './payload.ts';
import { sendClose } from './send-close.ts';
import { createSigner, openSecret, type Signer } from './signing.ts';

// A webhook delivery takes two transactions with the network between them, like a message delivery: claim → post →
// settle. The claim's lease fences the settle. The row is authoritative; the job only wakes a worker.

/** A delivery under this worker's lease, with its request. */
export interface ClaimedPost {
  readonly row: ClaimedRow;
  readonly lease: string;
  readonly url: string;
  readonly signer: Signer;
  readonly body: Buffer;
  /** The trace of the message the event is about, if it was sampled. */
  readonly trace_parent: string | null;
}

export interface SettledPost {
  readonly row: ClaimedRow;
  readonly lease: string;
  /** null: it was not posted and can be claimed again immediately. */
  readonly outcome: HttpOutcome | null;
  readonly duration_ms?: number;
  readonly request_headers?: Readonly<Record<string, string>>;
  /** Our own failure: it does not count against the endpoint. */
  readonly ours?: true;
  /** A failure of a post that began before one that succeeded. It counts only with a 410 or a Retry-After. */
  readonly outdated?: true;
}

export interface ClaimedPosts {
  readonly posts: readonly ClaimedPost[];
  /** Deliveries that cannot be posted, to be settled with the others. */
  readonly rejected: readonly SettledPost[];
}

// A single failure is not an outage; five in a row are.
const PAUSE = { after: 5, first_seconds: 10, max_seconds: 300 };
const NOTICE_SECONDS = 86_400;
const DISABLE_SECONDS = 5 * 86_400;
const USER_AGENT = 'Postrider-Webhooks/1';

/**
 * Claims due deliveries of the leased endpoints, in the first transaction. Renders each event's body once per format.
 */
export async function claimPosts(services: Services, quotas: readonly ClaimQuota[]): Promise<ClaimedPosts> {
  const lease = randomUUID();
  const [{ rows, events }, endpoints] = await Promise.all([
    claimRows(services.sql, { quotas, lease, probe_after: PAUSE.after }),
    loadEndpoints(
      services.sql,
      quotas.map((quota) => quota.webhook_id),
    ),
  ]);
  if (rows.length === 0) return { posts: [], rejected: [] };
  const signers = new Map([...endpoints].map(([id, endpoint]) => [id, signerOf(services, endpoint)]));
  const bodies = new Map<string, Buffer>();
  const posts: ClaimedPost[] = [];
  const rejected: SettledPost[] = [];
  const bodyFor = ({ event_id }: ClaimedRow, endpoint: Endpoint | undefined): Buffer | undefined => {
    const owed = events.get(event_id);
    if (!owed || !endpoint) return undefined;
    const name = `${endpoint.format} ${event_id}`;
    const body = bodies.get(name) ?? bodyOf(owed, endpoint.format);
    bodies.set(name, body);
    return body;
  };
  for (const row of rows) {
    const endpoint = endpoints.get(row.webhook_id);
    const signer = signers.get(row.webhook_id);
    const body = row.sample === null ? bodyFor(row, endpoint) : Buffer.from(row.sample);
    // The endpoint was disabled after the claim began; the job enqueued by disabling it fails its pending deliveries.
    if (!endpoint) rejected.push({ row, lease, outcome: null });
    else if (!signer) rejected.push(unsendable(row, lease, 'the webhook secret could not be decrypted'));
    else if (!body) rejected.push(unsendable(row, lease, 'the event has expired'));
    else {
      const trace_parent = events.get(row.event_id)?.trace_parent ?? null;
      posts.push({ row, lease, url: endpoint.url, signer, body, trace_parent });
    }
  }
  return { posts, rejected };
}

function signerOf(services: Services, { id, secret, previous_secret, format }: Endpoint): Signer | null {
  const encrypted = previous_secret === null ? [secret] : [secret, previous_secret];
  try {
    return createSigner(
      encrypted.map((one) => openSecret(services.encryption, id, one)),
      format,
    );
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    services.log.error({ err: error, webhook_id: id }, 'failed to decrypt a webhook secret');
    return null;
  }
}

function unsendable(row: ClaimedRow, lease: string, error: string): SettledPost {
  return { row, lease, outcome: { kind: 'failed', error }, ours: true };
}

/**
 * Posts between the transactions. The id header is the same for all attempts; the timestamp is this attempt's. Never
 * throws.
 */
export async function sendPost(
  services: Pick<Services, 'clock' | 'tracing'>,
  http: HttpGuard,
  { row, lease, url, signer, body, trace_parent }: ClaimedPost,
  signal?: AbortSignal,
): Promise<SettledPost> {
  const headers = {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...signer(row.event_id, services.clock.now(), body),
  };
  const started = performance.now();
  const span = trace_parent === null ? noSpan : services.tracing.begin('webhook', { parent: trace_parent });
  const outcome = await http.post({ url, headers, body }, signal);
  const duration_ms = Math.round(performance.now() - started);
  const status = outcome.kind === 'answered' ? outcome.status : 0;
  span.end({ failed: status < 200 || status > 299, facts: { status, number: row.attempt_count } });
  return { row, lease, outcome: signal?.aborted ? null : outcome, duration_ms, request_headers: headers };
}

/**
 * Settles a batch of posts in the second transaction: records states, next attempts and endpoint health; ends leases
 * that are done, with their jobs; and enqueues the next jobs if deliveries are left.
 */
export async function settlePosts(
  services: Services,
  settled: readonly SettledPost[],
  leases: readonly EndedLease[] = [],
): Promise<void> {
  const now_ms = services.clock.now();
  const verdicts = settled.map((one) => ({ ...one, verdict: verdictOf(services, one, now_ms) }));
  const { closed, due } = await services.sql.begin(async (tx) => {
    const closed = await record(services, tx, verdicts);
    return { closed, due: leases.length > 0 && (await endLeaseRows(tx, services.jobs, leases)) };
  });
  meterPosts(services, verdicts, now_ms);
  if (closed) services.jobs.wakeAll('webhook.close');
  if (due) services.jobs.wakeAll('webhook.deliver');
}

const outcomeOf = { delivered: 'delivered', pending: 'retried', failed: 'failed' } as const;

function meterPosts({ metrics }: Services, verdicts: readonly JudgedPost[], now_ms: number): void {
  for (const { row, outcome, ours: is_own, verdict } of verdicts) {
    if (outcome === null || is_own) continue;
    metrics.count('webhook_attempts_total', [outcomeOf[verdict.state]]);
    // A test delivery has no event.
    if (verdict.state === 'delivered' && row.sample === null)
      metrics.observe('webhook_lag_seconds', [], Math.max(0, now_ms - idTime(row.event_id)) / 1000);
  }
}

/** Records results; returns whether an endpoint was disabled. */
async function record(services: Services, tx: Tx, verdicts: readonly JudgedPost[]): Promise<boolean> {
  if (verdicts.length === 0) return false;
  const won = await recordResults(tx, verdicts.map(resultOf));
  if (won.size < verdicts.length)
    services.log.warn({ count: verdicts.length - won.size }, 'dropped webhook results whose lease had expired');
  const posted = verdicts.filter(({ row, outcome }) => outcome !== null && won.has(row.id));
  const unsettled = posted.filter(({ row, verdict }) => verdict.state !== 'delivered' || row.attempt_count > 1);
  await keepAttempts(tx, unsettled.map(endedAttempt));
  return learn(services, tx, posted.filter(countsForEndpoint));
}

function countsForEndpoint({ ours: is_own, outdated, verdict }: JudgedPost): boolean {
  return !is_own && (!outdated || verdict.gone || verdict.wait_seconds > 0);
}

type JudgedPost = SettledPost & { readonly verdict: PostVerdict };

function verdictOf(services: Services, { row, outcome }: SettledPost, now_ms: number): PostVerdict {
  if (outcome === null) return { state: 'pending', delay_seconds: 0, wait_seconds: 0, gone: false };
  return judgePost(outcome, row.attempt_count, services.config.WEBHOOK_RETRY_SCHEDULE, now_ms, Math.random());
}

function resultOf({ row, lease, outcome, duration_ms, verdict }: JudgedPost): PostResult {
  const response = outcome?.kind === 'answered' ? outcome : null;
  return {
    workspace_id: row.workspace_id,
    id: row.id,
    lease,
    state: verdict.state,
    handed_back: outcome === null,
    delay_seconds: verdict.delay_seconds,
    duration_ms: duration_ms ?? null,
    response_status: response?.status ?? null,
    response_body: response?.text ?? null,
    error: outcome?.kind === 'failed' ? outcome.error : null,
  };
}

function endedAttempt({ row, outcome, duration_ms, request_headers }: JudgedPost): EndedAttempt {
  const response = outcome?.kind === 'answered' ? outcome : null;
  return {
    workspace_id: row.workspace_id,
    id: row.id,
    number: row.attempt_count,
    duration_ms: duration_ms ?? null,
    request_headers: request_headers ? JSON.stringify(request_headers) : null,
    response_status: response?.status ?? null,
    response_headers: response && JSON.stringify(shownHeaders(response.headers)),
    response_body: response?.text ?? null,
    error: outcome?.kind === 'failed' ? outcome.error : null,
  };
}

/** Records endpoint health; disables endpoints that are gone or have failed for days, after a notice. */
async function learn(services: Services, tx: Tx, posts: readonly JudgedPost[]): Promise<boolean> {
  const byEndpoint = Map.groupBy(posts, ({ row }) => row.webhook_id);
  const outcomes = [...byEndpoint].flatMap(([id, group]) => {
    const [first] = group;
    if (!first) return [];
    const is_gone = group.some(({ verdict }) => verdict.gone);
    return {
      id,
      workspace_id: first.row.workspace_id,
      succeeded: !is_gone && group.some(({ verdict }) => verdict.state === 'delivered'),
      failures: group.filter(({ verdict }) => verdict.state !== 'delivered').length,
      wait_seconds: Math.max(...group.map(({ verdict }) => verdict.wait_seconds)),
      gone: is_gone,
    };
  });
  if (outcomes.length === 0) return false;
  const gone_ids = new Set(outcomes.filter((one) => one.gone).map(({ id }) => id));
  let closed = false;
  for (const { workspace_id, id, failing_seconds, noticed } of await recordHealth(tx, outcomes, PAUSE)) {
    const reason = gone_ids.has(id) ? 'gone' : failing_seconds >= DISABLE_SECONDS ? 'failing' : null;
    if (reason) {
      const row = await disableWebhook(tx, workspace_id, id, reason);
      if (!row) continue;
      await announce(services, tx, 'webhook.disabled', row, reason);
      await sendClose(services, tx, id);
      closed = true;
    } else if (failing_seconds >= NOTICE_SECONDS && !noticed) {
      const row = await markNoticed(tx, workspace_id, id);
      if (row) await announce(services, tx, 'webhook.failing', row, 'failing');
    }
  }
  return closed;
}

async function announce(services: Services, tx: Tx, type: EventType, row: WebhookRow, reason: string): Promise<void> {
  const { id, url, status, failing_since, workspace_id } = row;
  services.log.warn({ webhook_id: id, reason }, type);
  await recordEvent(tx, {
    workspace_id,
    id: newId('event', services.clock.now()),
    type,
    facts: { webhook: { id, url, status, reason, failing_since } },
  });
}
