import { cleanRemoteText } from '@postrider/net';
import { type Reply, readReply } from '../outcome/reply.ts';
import type { Envelope, SendOutcome, SendStage } from '../outcome/send-outcome.ts';
import { type Abilities, type Log, transcriptOf } from './session.ts';

/** A message whose bytes are rendered. */
export interface Outgoing {
  readonly envelope: Envelope;
  readonly bytes: Buffer;
  readonly signal: AbortSignal;
}

/** The result of a transaction, and its consequences for the session. */
export interface Judgement {
  readonly kind: SendOutcome['kind'];
  readonly reply: Reply | null;
  readonly error: string | null;
  readonly stage: SendStage;
  /**
   * True if the session ended before the server replied to any command of this transaction, so the message may be sent
   * on another session.
   */
  readonly stale: boolean;
  /** True if client and server agree on the state of the session, so the session can serve another transaction. */
  readonly in_step: boolean;
}

export interface Transaction extends Judgement {
  readonly mail_ms: number;
  readonly data_ms: number;
  readonly transcript: string;
}

/** Like a stage, except that the transfer of the content is separate from the wait for 354. */
export type Position = 'mail' | 'rcpt' | 'data' | 'content' | 'after_dot';

/** A message in its transaction, or with its envelope pipelined. */
export interface Turn<M extends Outgoing> {
  readonly mail: M;
  /** True if the session was used before and may have been closed unnoticed. */
  readonly reused: boolean;
  /** True if the envelope was sent with the content of the previous message. */
  readonly was_pipelined: boolean;
  readonly log: Log;
  position: Position;
  started: number;
  content_started: number;
  reply_count: number;
  dot_flushed: boolean;
  /** The first rejection is reported only after all pipelined commands have been replied to. */
  refusal: Judgement | null;
}

const NOT_IN_A_PATH = /[\0-\x20<>\x7f]/;
const ENDS_REPLY = /^\d{3}(?!-)/;
export const ABORTED = 'The attempt was aborted.';

export function resultOf(
  { log, started, content_started }: Turn<Outgoing>,
  judgement: Judgement,
  now: number,
): Transaction {
  return {
    ...judgement,
    mail_ms: (content_started || now) - started,
    data_ms: content_started ? now - content_started : 0,
    transcript: transcriptOf(log),
  };
}

/**
 * Judges a transaction that ended without a deciding reply. Only a server that has the whole message can have accepted
 * it.
 */
export function lost(turn: Turn<Outgoing>, error: string): Judgement {
  return turn.refusal ? { ...turn.refusal, in_step: false } : isOutOfStep(turn, error);
}

/** Judges a transaction whose replies cannot be trusted. */
export function isOutOfStep({ position, dot_flushed }: Turn<Outgoing>, error: string): Judgement {
  const kind = position === 'after_dot' && dot_flushed ? 'unknown' : 'deferred';
  return { kind, reply: null, error, stage: stageOf(position), stale: false, in_step: false };
}

export function judgeReply(turn: Turn<Outgoing>, text: string): Judgement {
  const { position, reused, was_pipelined, reply_count } = turn;
  const reply = readReply(text);
  if (reply === null || (reply.code >= 300 && reply.code < 400)) {
    return lost(turn, `Not a valid reply: ${cleanRemoteText(text).slice(0, 100)}`);
  }
  const { code } = reply;
  if (code < 300) {
    // An acceptance before the end of DATA belongs to another command: the session is out of step.
    if (position !== 'after_dot') return lost(turn, 'The server replied before it had the message.');
    return { kind: 'accepted', reply, error: null, stage: 'after_dot', stale: false, in_step: true };
  }
  return {
    // 503 means that the session is out of step, not that the message is rejected.
    kind: code >= 500 && code !== 503 ? 'rejected' : 'deferred',
    reply,
    error: null,
    stage: stageOf(position),
    stale: reply_count <= 1 && ((code === 421 && reused) || (code === 503 && was_pipelined)),
    in_step: code !== 421 && code !== 503 && position !== 'content',
  };
}

/**
 * Returns whether the 354 for the next content arrives too early. The 354 is the third reply to that message, so if it
 * arrives earlier, a reply is missing.
 */
export function goesAheadEarly(rest: string): boolean {
  if (rest === '') return false;
  const replies = rest.split('\n').filter((line) => ENDS_REPLY.test(line));
  return replies.slice(0, 2).some((line) => line.startsWith('3'));
}

/** Returns the reason not to offer a message to this server, or null. */
export function problemOf({ envelope, bytes }: Outgoing, { max_size }: Abilities): Judgement | null {
  const { from, to } = envelope;
  const unsent = { kind: 'deferred', reply: null, error: null, stage: 'mail', stale: false, in_step: true } as const;
  // Addresses are parsed long before this point. The check only prevents the injection of another command or parameter.
  if (NOT_IN_A_PATH.test(from)) return { ...unsent, error: 'The sender is not a valid address.' };
  if (to === '' || NOT_IN_A_PATH.test(to)) return { ...unsent, error: 'The recipient is not a valid address.' };
  if (max_size === 0 || bytes.length <= max_size) return null;
  // The text is worded like a rejection by the server.
  const text = `Not sent: Message size larger than allowed ${max_size}`;
  return { ...unsent, kind: 'rejected', reply: { code: 552, enhanced: '5.3.4', text } };
}

function stageOf(position: Position): SendStage {
  return position === 'content' ? 'data' : position;
}
