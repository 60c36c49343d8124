import { createHash } from 'node:crypto';
import { cleanRemoteText } from '@postrider/net';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { hashSecret } from '../operation/secrets.ts';
import { rootSignature } from '../process/root-signature.ts';
import { openSecrets } from './feedback-secrets.ts';
import { type FeedbackRow, feedbackByToken, noteRejection, pendingCount, storeReports } from './feedback-store.ts';
import type { FeedbackPost, FeedbackProvider, FeedbackReport } from './provider.ts';
import { createProviderDocuments, type ProviderDocuments } from './provider-documents.ts';
import { feedbackProviders, type ProviderName } from './providers.ts';

/** SendGrid posts up to 768 kB, Brevo up to 500 events. */
export const MAX_FEEDBACK_BYTES = 1024 * 1024;
/** Pending events per transport. Its relay has to retry what is over it. */
const MAX_PENDING = 10_000;
/** Both per transport and process. What is over them costs one read of the database. */
const MAX_POSTS_PER_SECOND = 50;
const MAX_READING = 8;
const FULL_SECONDS = 60;
const FAST_SECONDS = 2;
const SECOND_MS = 1000;
const MAX_TEXT = 1000;
const PLAIN_ID = /^[\x20-\x7e]{1,200}$/;

export interface ReceivedFeedback {
  readonly transport_id: string;
  readonly events: number;
  readonly unread: number;
}

/** Takes the posts of relays in this process. */
export interface FeedbackIntake {
  /**
   * Stores the events of a post before the relay gets its response. The post is read once its transport is known. Throws
   * if it has no valid proof, or if its transport has had its share.
   */
  receive(token: string, read: () => Promise<FeedbackPost>): Promise<ReceivedFeedback>;
}

export interface IntakeOptions {
  /** The port of providers' HTTPS servers. Default: 443. */
  readonly https_port?: number;
}

export function createFeedbackIntake(services: Services, { https_port }: IntakeOptions = {}): FeedbackIntake {
  const documents = createProviderDocuments(services, https_port);
  const share = createShare(services);
  /** Requests whose body is being read or stored. */
  const reading = new Map<string, number>();
  const isBusy = (transport_id: string) => (reading.get(transport_id) ?? 0) >= MAX_READING;
  const tooMany = () => full(services, 'The relay of this transport sends too many requests.', FAST_SECONDS);
  return {
    async receive(token, read) {
      const token_hash = hashSecret(token);
      const recent_id = share.transportOf(token_hash);
      if (recent_id !== null && (!share.take(recent_id) || isBusy(recent_id))) throw tooMany();
      const row = await feedbackByToken(services.sql, token_hash);
      if (!row) {
        services.metrics.count('feedback_posts_total', ['unknown']);
        throw unproven('No transport has this URL.');
      }
      const { transport_id } = row;
      share.note(token_hash, transport_id);
      if ((recent_id === null && !share.take(transport_id)) || isBusy(transport_id)) throw tooMany();
      const running = reading.get(transport_id) ?? 0;
      reading.set(transport_id, running + 1);
      try {
        return await store(services, documents, row, await read());
      } finally {
        const others = (reading.get(transport_id) ?? 1) - 1;
        if (others > 0) reading.set(transport_id, others);
        else reading.delete(transport_id);
      }
    },
  };
}

/** Counts the requests of each transport in this second. */
function createShare({ clock }: Pick<Services, 'clock'>) {
  const counts = new Map<string, number>();
  /** The transports of the tokens that were valid in this second: a flood costs no reads of the database. */
  const transports = new Map<string, string>();
  let second = 0;
  const turn = () => {
    const now = Math.floor(clock.now() / SECOND_MS);
    if (now === second) return;
    second = now;
    counts.clear();
    transports.clear();
  };
  return {
    /** Returns whether a transport may post once more in this second. */
    take(transport_id: string): boolean {
      turn();
      const count = (counts.get(transport_id) ?? 0) + 1;
      counts.set(transport_id, count);
      return count <= MAX_POSTS_PER_SECOND;
    },
    transportOf(token_hash: Buffer): string | null {
      turn();
      return transports.get(token_hash.toString('hex')) ?? null;
    },
    note(token_hash: Buffer, transport_id: string): void {
      turn();
      transports.set(token_hash.toString('hex'), transport_id);
    },
  };
}

async function store(
  services: Services,
  documents: ProviderDocuments,
  row: FeedbackRow,
  post: FeedbackPost,
): Promise<ReceivedFeedback> {
  const { sql, metrics, log } = services;
  const { transport_id } = row;
  // The cast is safe because only names of the table are stored.
  const provider: FeedbackProvider = feedbackProviders[row.provider as ProviderName];
  const problem = await problemOf(services, documents, provider, row, post);
  if (problem !== null) throw await rejection(services, transport_id, problem);
  const confirmation = provider.confirmationOf?.(post) ?? null;
  if (confirmation !== null) {
    await documents.visit(confirmation);
    log.info({ transport_id, host: confirmation.host }, 'confirmed the subscription of a relay');
  }
  const warning = provider.warningOf?.(post) ?? null;
  if (warning !== null) log.warn({ transport_id }, warning);
  const { reports: entries, unread } = provider.read(post);
  const reports = entries.map(bounded).map((report) => ({
    ...report,
    digest: provider.signs_only_id ? digestOf(services, report) : null,
  }));
  const pending = await pendingCount(sql, transport_id, MAX_PENDING);
  if (pending + reports.length > MAX_PENDING)
    throw full(services, 'Too many events of this transport are pending.', FULL_SECONDS);
  const is_stored = await sql.begin((tx) => storeReports(tx, transport_id, reports));
  if (!is_stored) throw await rejection(services, transport_id, 'It was used for another event.');
  metrics.count('feedback_posts_total', ['accepted']);
  return { transport_id, events: reports.length, unread };
}

/** Returns why a post proves neither the current secret nor, during the overlap, the previous one. */
async function problemOf(
  services: Services,
  documents: ProviderDocuments,
  provider: FeedbackProvider,
  row: FeedbackRow,
  post: FeedbackPost,
): Promise<string | null> {
  const { secret, previous } = openSecrets(services, row);
  const now_ms = services.clock.now();
  const context = { now_ms, certificateAt: (url: URL) => documents.certificateAt(row.transport_id, url) };
  const problem = await provider.problemOf(post, secret, context);
  const is_overlap = previous !== undefined && (row.previous_until?.getTime() ?? 0) > now_ms;
  if (problem === null || !is_overlap) return problem;
  return (await provider.problemOf(post, previous, context)) === null ? null : problem;
}

/** The digest of what an event says. Its key keeps an erased address from being guessed. */
function digestOf({ secret_key }: Pick<Services, 'secret_key'>, { kind, facts }: FeedbackReport): string {
  return rootSignature(secret_key, 'feedback-digest', JSON.stringify([kind, facts])).toString('hex');
}

/** Limits what a relay may make us store. */
function bounded({ event_id, kind, facts }: FeedbackReport): FeedbackReport {
  const short = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.slice(0, MAX_TEXT) : value,
  ]);
  const id = PLAIN_ID.test(event_id) ? event_id : createHash('sha256').update(event_id).digest('hex');
  return { event_id: id, kind, facts: Object.fromEntries(short) };
}

function full({ metrics }: Pick<Services, 'metrics'>, message: string, retry_after_seconds: number): AppError {
  metrics.count('feedback_posts_total', ['full']);
  return new AppError('feedback_rate', message, { retry_after_seconds });
}

/** Counts and notes a post without a valid proof, and returns the error. */
async function rejection({ sql, metrics }: Services, transport_id: string, problem: string): Promise<AppError> {
  metrics.count('feedback_posts_total', ['rejected']);
  await noteRejection(sql, transport_id, cleanRemoteText(problem));
  return unproven(problem);
}

function unproven(problem: string): AppError {
  return new AppError('invalid_signature', `The signature is not valid: ${problem}`);
}
