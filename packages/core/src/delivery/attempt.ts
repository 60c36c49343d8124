import type { Mailer, SendOutcome } from '@postrider/mail';
import type { Services } from '../operation/context.ts';
import type { KeyMode } from '../operation/secrets.ts';
import { noSpan, type Span } from '../process/tracing.ts';
import type { RefusalCategory } from './classify.ts';
import { CannotSign, type Content, ContentDeleted, ContentUnread } from './content.ts';
import type { DeliveryJob } from './jobs-store.ts';
import { nothingSent } from './outcome.ts';
import { type ContentForm, envelopeOf } from './render.ts';
import { type DeliveryRow, markContent } from './store.ts';

// A delivery takes two transactions, and no transaction is open while the message is sent: claim.ts (commit) → this
// file → settle.ts (commit). The lease of the claim fences the settle: a worker that comes back after its lease expired
// changes nothing.

export type Mailers = Readonly<Record<KeyMode, Mailer>>;

/** What sends an email, and how it wants it. */
export interface Sender {
  readonly mailer: Mailer;
  readonly form: ContentForm;
  readonly envelope_from: 'ours' | 'from_domain';
  /** Returns the unsigned header that names a recipient to the relay; undefined if the relay reports nothing. */
  readonly reference?: ((delivery: DeliveryRow) => string) | undefined;
  /** What captures the relay's own ID from the text of its 250; undefined if no report names it. */
  readonly relay_id?: RegExp | undefined;
  /** The relays among its servers, each as host:port. */
  readonly relays: 'all' | ReadonlySet<string>;
  /** Its name in metrics; undefined: the default transport's. */
  readonly label?: string;
}

export interface ClaimedDelivery {
  readonly job: DeliveryJob;
  readonly lease: string;
  readonly attempt_count: number;
  readonly delivery: DeliveryRow;
  readonly content: Content;
}

export interface SettledDelivery {
  readonly claimed: ClaimedDelivery;
  readonly outcome: SendOutcome;
  /** Why no server was tried; unset if one was. */
  readonly kept_by?: RefusalCategory | null;
  readonly duration_ms: number;
  /** Whether nothing was sent: no attempt is counted, and the message is due again for any worker. */
  readonly handed_back: boolean;
  /** Delay before a handed-back message is due again, so that a persistent fault does not cause a busy loop. */
  readonly again_in_seconds?: number;
  /** The transport that was tried last; absent or null: the default one. */
  readonly transport_id?: string | null;
  /** Whether a relay accepted it, which delivers it further. */
  readonly relayed?: boolean;
  /** The ID that the relay gave it, for the relay's reports. */
  readonly relay_id?: string | null;
  /** The name in metrics of that transport. */
  readonly transport_label?: string | undefined;
}

/** Seconds until a message whose content could not be read is retried. */
const UNREAD_SECONDS = 5;

/** Callbacks for the progress of an attempt. */
export interface AttemptWatch {
  /** Called once there is a connection. */
  begun?(): void;
  /** Called before the content is sent; sending waits for the result and is skipped if it is false. */
  content?(): boolean | Promise<boolean>;
  /** Called once the end of the content has been written, when the content is no longer needed. */
  written?(): void;
}

/**
 * Composes and sends a claimed message between the two transactions. Never rejects: an error here results in a
 * deferral, or in a hand-back if the database did not return the content.
 */
export async function attemptDelivery(
  services: Services,
  sender: Sender,
  claimed: ClaimedDelivery,
  signal: AbortSignal,
  watch: AttemptWatch = {},
): Promise<SettledDelivery> {
  const started = performance.now();
  const span = spanOf(services, claimed);
  const talked = await talk(services, sender, claimed, signal, watch);
  const { kind, stage } = talked.outcome;
  span.end({ failed: kind !== 'accepted', facts: { outcome: kind, stage, number: claimed.attempt_count } });
  return { claimed, handed_back: false, kept_by: null, ...talked, duration_ms: performance.now() - started };
}

/**
 * Starts the span of an attempt in the trace of its request. A scheduled message is sent long after its request, so it
 * gets its own trace, linked to that of the request.
 */
function spanOf({ tracing }: Services, { delivery: { trace_parent, scheduled_at } }: ClaimedDelivery): Span {
  if (trace_parent === null) return noSpan;
  return tracing.begin('attempt', scheduled_at === null ? { parent: trace_parent } : { link: trace_parent });
}

/** Returns the result for a session that is stopped after the end of DATA but before the reply. */
export function unansweredDelivery(claimed: ClaimedDelivery, duration_ms: number): SettledDelivery {
  const error = 'the worker stopped before the server replied to the message';
  const outcome: SendOutcome = { ...nothingSent(error), kind: 'unknown', stage: 'after_dot' };
  return { claimed, outcome, duration_ms, handed_back: false };
}

/** Returns the result for a claimed message that was not tried: any worker, including this one, may send it later. */
export function unsentDelivery(claimed: ClaimedDelivery): SettledDelivery {
  return { claimed, outcome: nothingSent('not tried'), duration_ms: 0, handed_back: true };
}

/** Returns the result without the reply, if the database cannot store the reply. */
export function withoutReply(result: SettledDelivery): SettledDelivery {
  const { kind, stage, phases_ms } = result.outcome;
  const outcome = { ...nothingSent('the reply of the server could not be stored'), kind, stage, phases_ms };
  return { ...result, outcome };
}

async function talk(
  services: Services,
  { mailer, form, envelope_from, reference, relays, relay_id }: Sender,
  { delivery, content, lease }: ClaimedDelivery,
  signal: AbortSignal,
  { begun: onBegin, content: mayBegin, written: onWritten }: AttemptWatch,
): Promise<Pick<SettledDelivery, 'outcome'> & Partial<SettledDelivery>> {
  const before_content = () => {
    const allowed = mayBegin?.() ?? true;
    if (delivery.unknown_policy !== 'stop') return allowed;
    // For a message that must not arrive twice, records before the content is sent that the message may have arrived.
    return Promise.resolve(allowed).then((may) => may && markContent(services.sql, delivery, lease));
  };
  try {
    const callbacks = { before_content, ...(onBegin && { begun: onBegin }), ...(onWritten && { written: onWritten }) };
    const envelope = { ...envelopeOf(services, delivery, envelope_from), ...callbacks };
    // Recipients share the signed bytes, so the header is put before them here.
    const raw = reference
      ? async () => Buffer.concat([Buffer.from(reference(delivery), 'latin1'), await content.raw(form)])
      : () => content.raw(form);
    const outcome = await mailer.send(envelope, raw, signal);
    if (outcome.kind !== 'accepted' || (relays !== 'all' && !relays.has(outcome.target))) return { outcome };
    return { outcome, relayed: true, relay_id: relay_id?.exec(outcome.reply?.text ?? '')?.[1] ?? null };
  } catch (error) {
    if (error instanceof ContentDeleted) return { outcome: { ...nothingSent(error.message), kind: 'rejected' } };
    if (error instanceof ContentUnread) {
      services.log.error({ err: error, recipient_id: delivery.recipient_id }, 'handed a delivery back to the queue');
      return { outcome: nothingSent(error.message), handed_back: true, again_in_seconds: UNREAD_SECONDS };
    }
    services.log.error(
      { err: error, recipient_id: delivery.recipient_id },
      'a delivery attempt failed before reaching a server',
    );
    if (error instanceof CannotSign) return { outcome: nothingSent(error.message), kept_by: 'signing' };
    return { outcome: nothingSent('internal error while preparing the message'), kept_by: 'other' };
  }
}
