import type { SMTPError } from 'nodemailer/lib/smtp-connection';
import {
  ABORTED,
  goesAheadEarly,
  isOutOfStep,
  type Judgement,
  judgeReply,
  lost,
  type Outgoing,
  type Position,
  problemOf,
  resultOf,
  type Transaction,
  type Turn,
} from './judgement.ts';
import {
  type Abilities,
  describe,
  discard,
  emptyLog,
  type Line,
  note,
  type OpenSession,
  type SessionListener,
  SILENT,
  sendCommand,
} from './session.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import { type WireContent, wireContent } from './wire-content.ts';

/** The owner that a dialogue gets its messages from and reports to. */
export interface DialogueOwner<M extends Outgoing> {
  /** Returns a waiting message whose envelope may be sent together with the content of the previous message. */
  next(dialogue: Dialogue<M>, fits: (mail: M) => boolean): M | null;
  /** Called when the message of a pipelined envelope has become the current message. */
  begun(mail: M): void;
  /** Called when the end of DATA has been sent, so the content is no longer needed. */
  written(mail: M): void;
  settled(dialogue: Dialogue<M>, mail: M, result: Transaction): void;
  /** Called when the session is idle. After a message that was not accepted, it needs a RSET. */
  free(dialogue: Dialogue<M>, accepted: boolean): void;
  /** Called when the session is closed. A message that received no reply may be sent on another session. */
  gone(untouched: M | null): void;
  /**
   * Called with the message of a pipelined envelope that would wait too long, so that it is sent on another session.
   */
  back(mail: M): void;
  /** Called when the connection was lost because of a pipelined envelope, or when the server ignored the envelope. */
  unacknowledged(): void;
}

const CHUNK_SIZE = 128 * 1024;
/** The size that the kernel accepts in one write on an otherwise idle connection. */
const SMALL_SIZE = 16 * 1024;
const NOT_ASCII = /[^\0-\x7f]/;
const LAST_WORDS = /^[45]\d\d[ -]/;

/**
 * Runs the transactions of a session in sequence: MAIL, RCPT, DATA, content and dot. Judges each by its progress and
 * the replies. With PIPELINING, the envelope of a waiting message is sent in the same write as the previous content
 * (RFC 2920 section 3.1). Replies arrive in the order of the commands: replies up to the reply to the dot belong to the
 * current message, and later replies to the next.
 */
export class Dialogue<M extends Outgoing> {
  readonly session: OpenSession;
  readonly #line: Line;
  readonly #owner: DialogueOwner<M>;
  readonly #timeouts: SmtpTimeouts;
  readonly #listener: SessionListener;
  /** The message of the current transaction; null while the session is idle. */
  #turn: Turn<M> | null = null;
  /** The message whose envelope was sent after the end of the current message. */
  #pipelined: Turn<M> | null = null;
  /**
   * True if an envelope was pipelined for a message that will not follow, so the session must end after the current
   * message.
   */
  #has_abandoned = false;
  /** True if the server replied to the last end of DATA within `prompt_ms`. */
  #is_prompt = false;

  constructor(session: OpenSession, owner: DialogueOwner<M>, timeouts: SmtpTimeouts) {
    this.session = session;
    this.#line = session.line;
    this.#owner = owner;
    this.#timeouts = timeouts;
    this.#listener = {
      reply: (text) => this.#onReply(text),
      end: (error) => this.#onEnd(error),
      expire: () => this.#onExpire(),
    };
  }

  /** Starts the transaction of a message on an idle session. */
  begin(mail: M): void {
    const { abilities, deadline, socket } = this.#line;
    const turn = this.#turnOf(mail, false);
    this.#turn = turn;
    this.session.listener = this.#listener;
    const unsent = mail.signal.aborted ? lost(turn, ABORTED) : problemOf(mail, abilities);
    if (unsent) {
      this.#finish(turn, unsent);
      return;
    }
    deadline.set(this.#timeouts.command_ms);
    if (abilities.pipelining) socket.write(this.#announced(turn));
    else sendCommand(this.session, mailCommand(mail, abilities));
  }

  /** Handles the abort of the current message or the pipelined one. */
  abort(mail: M): void {
    if (this.#turn?.mail === mail) {
      // After the end of DATA, the server may already have accepted the message, so its reply is awaited.
      if (this.#turn.position !== 'after_dot') this.#finish(this.#turn, lost(this.#turn, ABORTED));
    } else if (this.#pipelined?.mail === mail) {
      const turn = this.#pipelined;
      this.#pipelined = null;
      this.#has_abandoned = true;
      this.#owner.settled(this, mail, resultOf(turn, lost(turn, ABORTED), performance.now()));
    }
  }

  #turnOf(mail: M, was_pipelined: boolean): Turn<M> {
    return {
      mail,
      reused: this.session.message_count++ > 0,
      was_pipelined,
      log: was_pipelined ? emptyLog() : this.session.log,
      position: 'mail',
      started: performance.now(),
      content_started: 0,
      reply_count: 0,
      dot_flushed: false,
      refusal: null,
    };
  }

  /** Returns the whole envelope as written, and logs it for its message. */
  #announced({ mail, log }: Turn<M>): string {
    const mail_command = mailCommand(mail, this.#line.abilities);
    const rcpt_command = rcptCommand(mail);
    note(log, 'C', mail_command);
    note(log, 'C', rcpt_command);
    note(log, 'C', 'DATA');
    return `${mail_command}\r\n${rcpt_command}\r\nDATA\r\n`;
  }

  /** Returns the envelope of a message that may be pipelined now, or an empty string if no message waits. */
  #pipelineNext(): string {
    const { abilities, deadline } = this.#line;
    if (!abilities.pipelining || !this.#is_prompt || this.#pipelined || this.#has_abandoned) return '';
    const mail = this.#owner.next(this, (waiting) => problemOf(waiting, abilities) === null);
    if (!mail) return '';
    this.#pipelined = this.#turnOf(mail, true);
    if (this.#limitsPromptness()) deadline.set(this.#timeouts.prompt_ms);
    return this.#announced(this.#pipelined);
  }

  #onReply(text: string): void {
    const turn = this.#turn;
    if (!turn) return;
    turn.reply_count++;
    const judgement = this.#goOn(turn, text);
    if (judgement) this.#finish(turn, judgement);
  }

  /** Takes the next step after a reply, or returns a judgment if there is no next step. */
  #goOn(turn: Turn<M>, text: string): Judgement | null {
    switch (turn.position) {
      case 'mail':
      case 'rcpt':
        return this.#afterEnvelopeReply(turn, text);
      case 'data':
        return this.#afterDataReply(turn, text);
      case 'content':
      case 'after_dot':
        if (this.#pipelined && goesAheadEarly(this.#line.replies.rest())) {
          return isOutOfStep(turn, 'A reply is missing.');
        }
        return judgeReply(turn, text);
    }
  }

  #afterEnvelopeReply(turn: Turn<M>, text: string): Judgement | null {
    const { abilities, replies } = this.#line;
    if (!text.startsWith('2')) {
      turn.refusal ??= judgeReply(turn, text);
      const { reply, stale } = turn.refusal;
      if (!abilities.pipelining || !reply || reply.code === 421 || stale) return turn.refusal;
    }
    const is_mail = turn.position === 'mail';
    if (is_mail) this.#moveTo(turn, 'rcpt', this.#timeouts.command_ms);
    else this.#moveTo(turn, 'data', this.#timeouts.data_ms);
    if (abilities.pipelining) return null;
    // A reply to a command that has not been sent yet would be mistaken for the reply to the next command.
    if (replies.rest() !== '') return lost(turn, 'The server sent more replies than there were commands.');
    sendCommand(this.session, is_mail ? rcptCommand(turn.mail) : 'DATA');
    return null;
  }

  #afterDataReply(turn: Turn<M>, text: string): Judgement | null {
    // The replies are out of step, so an earlier rejection also belonged to a different command.
    if (text.startsWith('2')) {
      if (turn.was_pipelined) this.#owner.unacknowledged();
      return isOutOfStep(turn, 'The server did not reply to DATA with 354.');
    }
    const { refusal } = turn;
    if (refusal) {
      // After 354, the server waits for content that it must not receive, so the connection is closed.
      return { ...refusal, in_step: refusal.in_step && !text.startsWith('3') && !text.startsWith('421') };
    }
    if (!text.startsWith('3')) return judgeReply(turn, text);
    if (this.#line.replies.rest() !== '') return lost(turn, 'The server replied before it had the message.');
    const allowed = turn.mail.envelope.before_content?.() ?? true;
    if (allowed === true) this.#beginContent(turn);
    else {
      this.#moveTo(turn, 'content', this.#timeouts.block_ms);
      void this.#whenAllowed(turn, allowed);
    }
    return null;
  }

  /** Waits until the content may be sent. */
  async #whenAllowed(asking: Turn<M>, permission: boolean | Promise<boolean>): Promise<void> {
    const allowed = await Promise.resolve(permission).catch(() => false);
    if (allowed) this.#beginContent(asking);
    else this.#finish(asking, lost(asking, 'Nothing was sent: the attempt could not be recorded beforehand.'));
  }

  #beginContent(sending: Turn<M>): void {
    sending.content_started = performance.now();
    this.#sendContent(sending, wireContent(sending.mail.bytes), 0);
  }

  /**
   * Sends the content of a message. A message of one chunk is sent in one write with its end of DATA; a longer message
   * continues when the socket drains.
   */
  #sendContent(sending: Turn<M>, wire: WireContent, from: number): void {
    if (this.#turn !== sending) return;
    const { socket } = this.#line;
    const { content, ending } = wire;
    const end = from + CHUNK_SIZE;
    if (end < content.length) {
      this.#moveTo(sending, 'content', this.#timeouts.block_ms);
      socket.write(content.subarray(from, end), (error) => {
        if (!error) this.#sendContent(sending, wire, end);
      });
      return;
    }
    // From this write on, the end of DATA may reach the server at any time.
    this.#moveTo(sending, 'after_dot', this.#timeouts.after_dot_ms);
    const rest = from === 0 ? content : content.subarray(from);
    const ahead = rest.length <= SMALL_SIZE ? this.#pipelineNext() : '';
    socket.cork();
    socket.write(rest);
    if (ahead !== '') {
      // If this write fails, the kernel may have sent the end of DATA but not the envelope after it.
      sending.dot_flushed = true;
      socket.write(ending + ahead, (error) => {
        if (!error && this.#turn === sending) this.#owner.written(sending.mail);
      });
    } else {
      socket.write(ending, (error) => {
        if (error) return;
        sending.dot_flushed = true;
        if (this.#turn === sending) this.#owner.written(sending.mail);
        const pipelined = this.#turn === sending ? this.#pipelineNext() : '';
        if (pipelined !== '') socket.write(pipelined);
      });
    }
    socket.uncork();
  }

  /**
   * Moves a pipelined message to another session. Otherwise the message would wait for a slow reply to the current
   * message, although other sessions may be free.
   */
  #abandonPipelined({ mail }: Turn<M>): void {
    this.#pipelined = null;
    this.#has_abandoned = true;
    this.#line.deadline.set(this.#timeouts.after_dot_ms - this.#timeouts.prompt_ms);
    this.#owner.back(mail);
  }

  #limitsPromptness(): boolean {
    return this.#timeouts.prompt_ms < this.#timeouts.after_dot_ms;
  }

  #moveTo(moving: Turn<M>, next: Position, allowed_ms: number): void {
    moving.position = next;
    this.#line.deadline.set(allowed_ms);
  }

  #onExpire(): void {
    const turn = this.#turn;
    if (!turn) return;
    if (this.#pipelined && turn.position === 'after_dot' && this.#limitsPromptness()) {
      this.#abandonPipelined(this.#pipelined);
      return;
    }
    const judgement = lost(turn, `No reply in time (${turn.position.replace('_', ' ')}).`);
    this.#finish(turn, { ...judgement, stale: turn.was_pipelined && turn.reply_count === 0 });
  }

  #onEnd(error: SMTPError | null): void {
    const turn = this.#turn;
    if (!turn) return;
    // The last bytes of a closing session may be a rejection cut off by the close.
    const rest = this.#line.replies.rest().trim();
    if (LAST_WORDS.test(rest)) this.#finish(turn, { ...judgeReply(turn, rest), in_step: false });
    else this.#finish(turn, { ...lost(turn, describe(error)), stale: turn.reused && turn.reply_count === 0 });
  }

  /** Settles a message and passes its session to the pipelined message or back to the owner, or closes it. */
  #finish(finished: Turn<M>, judgement: Judgement): void {
    if (this.#turn !== finished) return;
    const { deadline, replies } = this.#line;
    const follower = this.#pipelined;
    this.#turn = null;
    this.#pipelined = null;
    const now = performance.now();
    const { kind, reply, stale } = judgement;
    if (kind === 'accepted') this.#is_prompt = now - finished.content_started <= this.#timeouts.prompt_ms;
    const goes_on = judgement.in_step && !this.#has_abandoned && (follower !== null || replies.rest() === '');
    if (!goes_on) {
      this.session.listener = SILENT;
      discard(this.session);
      if ((follower && reply === null) || (stale && finished.was_pipelined && reply?.code !== 421)) {
        this.#owner.unacknowledged();
      }
    }
    if (!stale) this.#owner.settled(this, finished.mail, resultOf(finished, judgement, now));
    if (!goes_on) this.#owner.gone(stale ? finished.mail : (follower?.mail ?? null));
    else if (follower) {
      this.#turn = follower;
      follower.started = now;
      this.session.log = follower.log;
      deadline.set(this.#timeouts.command_ms);
      this.#owner.begun(follower.mail);
    } else {
      deadline.clear();
      this.session.listener = SILENT;
      this.#owner.free(this, kind === 'accepted');
    }
  }
}

function mailCommand({ envelope, bytes }: Outgoing, { size: sized, smtputf8 }: Abilities): string {
  const { from, to } = envelope;
  const utf8 = smtputf8 && (NOT_ASCII.test(from) || NOT_ASCII.test(to)) ? ' SMTPUTF8' : '';
  return `MAIL FROM:<${from}>${utf8}${sized ? ` SIZE=${bytes.length}` : ''}`;
}

function rcptCommand({ envelope }: Outgoing): string {
  return `RCPT TO:<${envelope.to}>`;
}
