import type { Envelope, Raw, SendOutcome } from '../outcome/send-outcome.ts';
import type { Dialogue } from './dialogue.ts';
import type { Transaction } from './judgement.ts';
import type { NotOpened, OpenedSession } from './open-session.ts';
import { targetOf } from './route.ts';
import type { Session } from './session.ts';

/** A message passed to send, and its progress through the pool. */
export interface PoolMail {
  readonly envelope: Envelope;
  readonly raw: Raw;
  readonly signal: AbortSignal;
  bytes: Buffer | null;
  is_rendering: boolean;
  /** Whether the message has one of the pool's slots, or shares the slot of the previous message. */
  has_slot: boolean;
  has_begun: boolean;
  dialogue: Dialogue<RenderedMail> | null;
  /** The session opened for the message. */
  opened: OpenedSession | null;
  readonly onAbort: () => void;
  readonly resolve: (outcome: SendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** A message whose bytes are rendered. */
export type RenderedMail = PoolMail & { readonly bytes: Buffer };

export function isRendered(mail: PoolMail): mail is RenderedMail {
  return mail.bytes !== null;
}

export async function bytesOf(raw: Raw): Promise<Buffer> {
  return typeof raw === 'function' ? raw() : raw;
}

export function outcomeOf(session: Session, result: Transaction, opened: OpenedSession | null): SendOutcome {
  return {
    kind: result.kind,
    reply: result.reply,
    error: result.error,
    target: targetOf(session.route),
    address: session.address,
    tls: session.tls,
    tls_policy: session.route.tls_policy,
    phases_ms: {
      connect: rounded(opened?.connect_ms ?? 0),
      tls: rounded(opened?.tls_ms ?? 0),
      mail: rounded(result.mail_ms),
      data: rounded(result.data_ms),
    },
    stage: result.stage,
    transcript: result.transcript,
  };
}

export function notConnected(failure: NotOpened): SendOutcome {
  return {
    kind: 'deferred',
    reply: failure.reply,
    error: failure.error,
    target: failure.route ? targetOf(failure.route) : '',
    address: failure.address,
    tls: null,
    // The policy is reported only if it is the reason that there is no session.
    tls_policy: failure.tls_failed ? (failure.route?.tls_policy ?? null) : null,
    phases_ms: { connect: rounded(failure.connect_ms), tls: 0, mail: 0, data: 0 },
    stage: 'connect',
    transcript: failure.transcript,
  };
}

/** Rounds to hundredths, because the clock has more digits than a reader needs. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
