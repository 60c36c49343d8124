import type { SMTPError } from 'nodemailer/lib/smtp-connection';
import { cleanRemoteText, type Reply, readReply } from '../reply.ts';
import type { Envelope, SendOutcome, SendStage } from '../send-outcome.ts';
import {
  type Abilities,
  describe,
  discard,
  emptyLog,
  type Log,
  note,
  type OpenSession,
  SILENT,
  say,
  transcriptOf,
} from './session.ts';
import { type WireContent, wireContent } from './wire-content.ts';

export interface SmtpTimeouts {
  /** From the first packet to the end of greeting, EHLO, STARTTLS and login. */
  readonly connect_ms: number;
  /** For each reply of MAIL, RCPT, DATA and RSET. */
  readonly command_ms: number;
  /** For the transfer of the whole content, from the go-ahead to the dot. */
  readonly content_ms: number;
  /** For the reply to the dot. RFC 5321 section 4.5.3.2.6 allows a server ten minutes. */
  readonly after_dot_ms: number;
  /** Where the last dot took longer to be answered, the next mail is free to go where a session is free sooner. */
  readonly prompt_ms: number;
  /** A kept connection is closed after this long without work. */
  readonly idle_ms: number;
}

/** A mail that is made. */
export interface Outgoing {
  readonly envelope: Envelope;
  readonly bytes: Buffer;
  readonly signal: AbortSignal;
}

/** What one transaction came to, and what it means for its session. */
interface Judgement {
  readonly kind: SendOutcome['kind'];
  readonly reply: Reply | null;
  readonly error: string | null;
  readonly stage: SendStage;
  /** The session turned out to be over before anything of this transaction was answered, so that it may go elsewhere. */
  readonly stale: boolean;
  /** Client and server agree on where the session stands, so it can serve another transaction. */
  readonly in_step: boolean;
}

/** Like a stage, but with the transfer of the content told apart from the wait for 354. */
type Position = 'mail' | 'rcpt' | 'data' | 'content' | 'after_dot';

export interface Transaction extends Judgement {
  readonly mail_ms: number;
  readonly data_ms: number;
  readonly transcript: string;
}

/** Whom a dialogue works for. */
export interface Owner<M extends Outgoing> {
  /** A mail that waits, for its envelope to leave with the content of the one before it. */
  next(fits: (mail: M) => boolean): M | null;
  /** The turn has come of a mail whose envelope was sent ahead. */
  begun(mail: M): void;
  settled(mail: M, result: Transaction): void;
  /** The session is at rest. After a mail that was not accepted it wants a RSET. */
  free(accepted: boolean): void;
  /** The session is closed. A mail of which it has answered nothing may take another way. */
  gone(untouched: M | null): void;
  /** A mail whose turn did not come soon, so that it goes another way. */
  back(mail: M): void;
  /** The server was lost over an envelope that came with the content before it, or did not hear it. */
  unheard(): void;
}

/** The transactions of a session, one after the other. */
export interface Dialogue<M extends Outgoing> {
  readonly session: OpenSession;
  /** On a session at rest. */
  begin(mail: M): void;
  /** The signal of a mail that it has begun, or taken, has aborted. */
  abort(mail: M): void;
}

/** A mail in its transaction, or with its envelope sent ahead of it. */
interface Turn<M extends Outgoing> {
  readonly mail: M;
  /** The session has served before, and may have ended unnoticed. */
  readonly reused: boolean;
  /** Its envelope left with the content of the mail before it. */
  readonly rode: boolean;
  readonly log: Log;
  position: Position;
  started: number;
  content_started: number;
  reply_count: number;
  dot_flushed: boolean;
  /** Pipelined commands are all answered before the first refusal is reported. */
  refusal: Judgement | null;
}

const CHUNK_SIZE = 128 * 1024;
/** What the kernel takes in one piece from a connection that has nothing else to carry. */
const SMALL_SIZE = 16 * 1024;
const NOT_IN_A_PATH = /[\0-\x20<>\x7f]/;
const NOT_ASCII = /[^\0-\x7f]/;
const ENDS_REPLY = /^\d{3}(?!-)/;
const LAST_WORDS = /^[45]\d\d[ -]/;
export const ABORTED = 'The attempt was aborted.';

/**
 * MAIL, RCPT, DATA, content and dot, judged by how far they came and by what was answered. With PIPELINING, the
 * envelope of a mail that waits leaves in the write of the content before it (RFC 2920 section 3.1). Replies come in
 * the order of what was said, so that those up to the dot's are of the one mail, and those after it of the next.
 */
export function createDialogue<M extends Outgoing>(
  session: OpenSession,
  owner: Owner<M>,
  timeouts: SmtpTimeouts,
): Dialogue<M> {
  const { socket, replies, abilities, deadline } = session.line;
  const listener = { reply: onReply, end: onEnd, expire: onExpire };
  let turn: Turn<M> | null = null;
  let rider: Turn<M> | null = null;
  /** An envelope was sent ahead for a mail that will not come. */
  let forsaken = false;
  let is_prompt = false;

  function turnOf(mail: M, rode: boolean): Turn<M> {
    return {
      mail,
      reused: session.message_count++ > 0,
      rode,
      log: rode ? emptyLog() : session.log,
      position: 'mail',
      started: performance.now(),
      content_started: 0,
      reply_count: 0,
      dot_flushed: false,
      refusal: null,
    };
  }

  function begin(mail: M): void {
    const begun = turnOf(mail, false);
    turn = begun;
    session.listener = listener;
    const unsent = mail.signal.aborted ? lost(begun, ABORTED) : problemOf(mail, abilities);
    if (unsent) {
      finish(begun, unsent);
      return;
    }
    deadline.set(timeouts.command_ms);
    if (abilities.pipelining) socket.write(announced(begun));
    else say(session, mailCommand(mail, abilities));
  }

  /** The whole envelope, as it is written. */
  function announced({ mail, log }: Turn<M>): string {
    const mail_command = mailCommand(mail, abilities);
    const rcpt_command = rcptCommand(mail);
    note(log, 'C', mail_command);
    note(log, 'C', rcpt_command);
    note(log, 'C', 'DATA');
    return `${mail_command}\r\n${rcpt_command}\r\nDATA\r\n`;
  }

  /** The envelope of a mail that may leave now, ahead of its turn; nothing where none waits. */
  function takeRider(): string {
    if (!abilities.pipelining || !is_prompt || rider || forsaken) return '';
    const mail = owner.next((waiting) => problemOf(waiting, abilities) === null);
    if (!mail) return '';
    rider = turnOf(mail, true);
    if (riderWaits()) deadline.set(timeouts.prompt_ms);
    return announced(rider);
  }

  function onReply(text: string): void {
    if (!turn) return;
    const answered = turn;
    answered.reply_count++;
    const judgement = goOn(answered, text);
    if (judgement) finish(answered, judgement);
  }

  /** Says what comes next, or judges where nothing does. */
  function goOn(answered: Turn<M>, text: string): Judgement | null {
    switch (answered.position) {
      case 'mail':
      case 'rcpt': {
        if (!text.startsWith('2')) {
          answered.refusal ??= judgeReply(answered, text);
          const { reply, stale } = answered.refusal;
          if (!abilities.pipelining || !reply || reply.code === 421 || stale) return answered.refusal;
        }
        const is_mail = answered.position === 'mail';
        moveTo(answered, is_mail ? 'rcpt' : 'data', timeouts.command_ms);
        if (abilities.pipelining) return null;
        // An answer to what has not been said yet would pass for the answer to the next command.
        if (replies.rest() !== '') return lost(answered, 'The server answered more than it was asked.');
        say(session, is_mail ? rcptCommand(answered.mail) : 'DATA');
        return null;
      }
      case 'data': {
        // Then a refusal before it answered something else, too.
        if (text.startsWith('2')) {
          if (answered.rode) owner.unheard();
          return outOfStep(answered, 'The server did not answer DATA with 354.');
        }
        const { refusal } = answered;
        if (refusal) {
          // Where the server waits for content that it must not get, the end of the connection tells it so.
          return { ...refusal, in_step: refusal.in_step && !text.startsWith('3') && !text.startsWith('421') };
        }
        if (!text.startsWith('3')) return judgeReply(answered, text);
        if (replies.rest() !== '') return lost(answered, 'The server answered before it had the message.');
        const { before_content } = answered.mail.envelope;
        if (before_content) {
          moveTo(answered, 'content', timeouts.content_ms);
          void askBefore(answered, before_content);
        } else beginContent(answered);
        return null;
      }
      case 'content':
      case 'after_dot':
        if (rider && goesAheadEarly(replies.rest())) return outOfStep(answered, 'An answer is missing.');
        return judgeReply(answered, text);
    }
  }

  async function askBefore(asking: Turn<M>, before_content: () => Promise<boolean>): Promise<void> {
    const allowed = await before_content().catch(() => false);
    if (allowed) beginContent(asking);
    else finish(asking, lost(asking, 'Nothing was sent: the attempt could not be recorded beforehand.'));
  }

  function beginContent(sending: Turn<M>): void {
    sending.content_started = performance.now();
    sendContent(sending, wireContent(sending.mail.bytes), 0);
  }

  /** A mail of one chunk leaves in one write, its dot included; a long one goes on when the socket has room. */
  function sendContent(sending: Turn<M>, wire: WireContent, from: number): void {
    if (turn !== sending) return;
    const { content, ending } = wire;
    const end = from + CHUNK_SIZE;
    if (end < content.length) {
      if (from === 0) moveTo(sending, 'content', timeouts.content_ms);
      socket.write(content.subarray(from, end), (error) => {
        if (!error) sendContent(sending, wire, end);
      });
      return;
    }
    // Written, the dot may reach the server at any time; the server can have it once the kernel has.
    moveTo(sending, 'after_dot', timeouts.after_dot_ms);
    const rest = from === 0 ? content : content.subarray(from);
    const ahead = rest.length <= SMALL_SIZE ? takeRider() : '';
    socket.cork();
    socket.write(rest);
    if (ahead !== '') {
      // When this write fails, the kernel may have taken the dot and not the envelope behind it.
      sending.dot_flushed = true;
      socket.write(ending + ahead);
    } else {
      socket.write(ending, (error) => {
        if (error) return;
        sending.dot_flushed = true;
        const later = turn === sending ? takeRider() : '';
        if (later !== '') socket.write(later);
      });
    }
    socket.uncork();
  }

  /** Behind a dot that is answered late it would wait as long, while other sessions may be free. */
  function letRiderGo({ mail }: Turn<M>): void {
    rider = null;
    forsaken = true;
    deadline.set(timeouts.after_dot_ms - timeouts.prompt_ms);
    owner.back(mail);
  }

  function riderWaits(): boolean {
    return timeouts.prompt_ms < timeouts.after_dot_ms;
  }

  function moveTo(moving: Turn<M>, next: Position, allowed_ms: number): void {
    moving.position = next;
    deadline.set(allowed_ms);
  }

  function onExpire(): void {
    if (!turn) return;
    if (rider && turn.position === 'after_dot' && riderWaits()) {
      letRiderGo(rider);
      return;
    }
    const judgement = lost(turn, `No answer in time (${turn.position.replace('_', ' ')}).`);
    finish(turn, { ...judgement, stale: turn.rode && turn.reply_count === 0 });
  }

  function onEnd(error: SMTPError | null): void {
    if (!turn) return;
    // A session that ends may still carry its last words: a refusal cut off by the close.
    const rest = replies.rest().trim();
    if (LAST_WORDS.test(rest)) finish(turn, { ...judgeReply(turn, rest), in_step: false });
    else finish(turn, { ...lost(turn, describe(error)), stale: turn.reused && turn.reply_count === 0 });
  }

  function abort(mail: M): void {
    if (turn?.mail === mail) {
      // After the dot the server may already have taken the mail, so its answer is awaited.
      if (turn.position !== 'after_dot') finish(turn, lost(turn, ABORTED));
    } else if (rider?.mail === mail) {
      const gone = rider;
      rider = null;
      forsaken = true;
      owner.settled(mail, resultOf(gone, lost(gone, ABORTED), performance.now()));
    }
  }

  function finish(finished: Turn<M>, judgement: Judgement): void {
    if (turn !== finished) return;
    const follower = rider;
    turn = null;
    rider = null;
    const now = performance.now();
    const { kind, reply, stale } = judgement;
    if (kind === 'accepted') is_prompt = now - finished.content_started <= timeouts.prompt_ms;
    const goes_on = judgement.in_step && !forsaken && (follower !== null || replies.rest() === '');
    if (!goes_on) {
      session.listener = SILENT;
      discard(session);
      if ((follower && reply === null) || (stale && finished.rode && reply?.code !== 421)) owner.unheard();
    }
    if (!stale) owner.settled(finished.mail, resultOf(finished, judgement, now));
    if (!goes_on) owner.gone(stale ? finished.mail : (follower?.mail ?? null));
    else if (follower) {
      turn = follower;
      turn.started = now;
      session.log = turn.log;
      deadline.set(timeouts.command_ms);
      owner.begun(turn.mail);
    } else {
      deadline.clear();
      session.listener = SILENT;
      owner.free(kind === 'accepted');
    }
  }

  return { session, begin, abort };
}

function resultOf({ log, started, content_started }: Turn<Outgoing>, judgement: Judgement, now: number): Transaction {
  return {
    ...judgement,
    mail_ms: (content_started || now) - started,
    data_ms: content_started ? now - content_started : 0,
    transcript: transcriptOf(log),
  };
}

/** Over without an answer that decides. Only a server that has the whole mail can have accepted it. */
function lost(turn: Turn<Outgoing>, error: string): Judgement {
  return turn.refusal ? { ...turn.refusal, in_step: false } : outOfStep(turn, error);
}

/** Nothing that was answered can be believed. */
function outOfStep({ position, dot_flushed }: Turn<Outgoing>, error: string): Judgement {
  const kind = position === 'after_dot' && dot_flushed ? 'unknown' : 'deferred';
  return { kind, reply: null, error, stage: stageOf(position), stale: false, in_step: false };
}

function judgeReply(turn: Turn<Outgoing>, text: string): Judgement {
  const { position, reused, rode, reply_count } = turn;
  const reply = readReply(text);
  if (reply === null || (reply.code >= 300 && reply.code < 400)) {
    return lost(turn, `Not an answer: ${cleanRemoteText(text).slice(0, 100)}`);
  }
  const { code } = reply;
  if (code < 300) {
    // An acceptance before the dot answers something else: the session is out of step.
    if (position !== 'after_dot') return lost(turn, 'The server answered before it had the message.');
    return { kind: 'accepted', reply, error: null, stage: 'after_dot', stale: false, in_step: true };
  }
  return {
    // 503 says that the session is out of step, not that the mail is refused.
    kind: code >= 500 && code !== 503 ? 'rejected' : 'deferred',
    reply,
    error: null,
    stage: stageOf(position),
    stale: reply_count <= 1 && ((code === 421 && reused) || (code === 503 && rode)),
    in_step: code !== 421 && code !== 503 && position !== 'content',
  };
}

/** The go-ahead for the next content is the third of its answers; before that, it tells that one is missing. */
function goesAheadEarly(rest: string): boolean {
  if (rest === '') return false;
  const answers = rest.split('\n').filter((line) => ENDS_REPLY.test(line));
  return answers.slice(0, 2).some((line) => line.startsWith('3'));
}

function mailCommand({ envelope, bytes }: Outgoing, { size: sized, smtputf8 }: Abilities): string {
  const { from, to } = envelope;
  const utf8 = smtputf8 && (NOT_ASCII.test(from) || NOT_ASCII.test(to)) ? ' SMTPUTF8' : '';
  return `MAIL FROM:<${from}>${utf8}${sized ? ` SIZE=${bytes.length}` : ''}`;
}

function rcptCommand({ envelope }: Outgoing): string {
  return `RCPT TO:<${envelope.to}>`;
}

/** Why a mail is not offered to this server at all. */
function problemOf({ envelope, bytes }: Outgoing, { max_size }: Abilities): Judgement | null {
  const { from, to } = envelope;
  const unsent = { kind: 'deferred', reply: null, error: null, stage: 'mail', stale: false, in_step: true } as const;
  // Addresses were parsed long before; here one more command or parameter would slip in.
  if (NOT_IN_A_PATH.test(from)) return { ...unsent, error: 'The sender is no address.' };
  if (to === '' || NOT_IN_A_PATH.test(to)) return { ...unsent, error: 'The recipient is no address.' };
  if (max_size === 0 || bytes.length <= max_size) return null;
  // In the words that the server would have used.
  const text = `Not sent: Message size larger than allowed ${max_size}`;
  return { ...unsent, kind: 'rejected', reply: { code: 552, enhanced: '5.3.4', text } };
}

function stageOf(position: Position): SendStage {
  return position === 'content' ? 'data' : position;
}
