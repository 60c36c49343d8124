import type { Envelope, Mailer, Raw, SendOutcome } from '../outcome/send-outcome.ts';
import { Dialogue, type DialogueOwner } from './dialogue.ts';
import { IdleSessions, type SharedAllowance } from './idle-sessions.ts';
import { ABORTED, type Transaction } from './judgement.ts';
import { notOpened, openSession, type SessionSettings, type SessionWatcher } from './open-session.ts';
import { bytesOf, isRendered, notConnected, outcomeOf, type PoolMail, type RenderedMail } from './pool-mail.ts';
import { discard, emptyLog, isOpen, type Session, SILENT, sendCommand } from './session.ts';
import { DEFAULT_TIMEOUTS, type SmtpTimeouts } from './timeouts.ts';

export interface SessionPoolOptions extends Omit<SessionSettings, 'timeouts'> {
  readonly max_connections: number;
  readonly laneOf: (to: string) => string;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
  readonly kept?: SharedAllowance | undefined;
  /**
   * Whether envelopes may be pipelined after the content of the previous message. Disabled for third-party servers: if
   * a server is out of step, its reply could be mistaken for the reply to the next message.
   */
  readonly pipelines: boolean;
}

export interface SessionPool extends Mailer {
  /** Returns whether no message is in progress and no session is open, so that the pool can be dropped. */
  isEmpty(): boolean;
}

const MAX_MESSAGES_PER_CONNECTION = 100;
const QUIT_MS = 1000;
/** How long pipelining is disabled after an unacknowledged envelope. */
const NO_PIPELINING_MS = 600_000;
/** For this long after a server has rejected a session because there were too many, idle sessions are closed sooner. */
const CROWDED_MS = 600_000;
const CROWDED_IDLE_MS = 100;
const STOPPED = 'The transport is stopped.';

/**
 * Creates a pool of persistent connections to servers that are equally suitable for its messages, with one recipient
 * per transaction.
 */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const pool = new Pool(options);
  return {
    send: (envelope, raw, signal) => pool.send(envelope, raw, signal),
    laneOf: options.laneOf,
    stop: () => pool.stop(),
    isEmpty: () => pool.isEmpty(),
  };
}

/**
 * A message passes through send → start → render → go → an existing or new session → its dialogue → settled. Each of
 * the `max_connections` slots represents one working session; passSlot hands the slot to the next message.
 */
class Pool implements DialogueOwner<RenderedMail>, SessionWatcher {
  readonly #options: SessionPoolOptions;
  readonly #settings: SessionSettings;
  readonly #timeouts: SmtpTimeouts;
  readonly #idle: IdleSessions;
  /** Messages without a slot, in order of arrival. */
  readonly #waiting: PoolMail[] = [];
  /** Called when no slot is taken and no session is closing. */
  readonly #quieted: (() => void)[] = [];
  #places_taken = 0;
  /** Sessions that have sent QUIT and are not closed yet. */
  #closing_count = 0;
  /** Until this time, by performance.now(), no envelope is pipelined. */
  #no_pipelining_before = 0;
  /** Until this time, an idle session may be occupying the slot of another process. */
  #crowded_before = 0;
  #stopped = false;

  constructor(options: SessionPoolOptions) {
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.#settings = { ...options, timeouts: this.#timeouts };
    this.#idle = new IdleSessions(options.kept);
  }

  /** Starts a message in a free slot, or queues it. */
  send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome> {
    if (this.#stopped || signal.aborted) return Promise.resolve(this.#notStarted());
    return new Promise((resolve, reject) => {
      const mail: PoolMail = {
        envelope,
        raw,
        signal,
        bytes: typeof raw === 'function' ? null : raw,
        is_rendering: false,
        has_slot: false,
        has_begun: false,
        dialogue: null,
        opened: null,
        onAbort: () => this.#abort(mail),
        resolve,
        reject,
      };
      signal.addEventListener('abort', mail.onAbort);
      if (this.#takePlace()) this.#start(mail);
      else {
        this.#waiting.push(mail);
        this.#prerender();
      }
    });
  }

  /** Settles waiting messages, closes idle sessions, and resolves once running messages are done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const mail of this.#waiting.splice(0)) this.#settle(mail, this.#notStarted());
    for (const session of this.#idle.sessions()) this.#retire(session);
    if (!this.#isQuiet()) await new Promise<void>((resolve) => this.#quieted.push(resolve));
  }

  isEmpty(): boolean {
    return this.#isQuiet() && this.#idle.count === 0;
  }

  #takePlace(): boolean {
    if (this.#places_taken >= this.#options.max_connections) return false;
    this.#places_taken++;
    return true;
  }

  #settle(mail: PoolMail, outcome: SendOutcome): void {
    mail.signal.removeEventListener('abort', mail.onAbort);
    mail.resolve(outcome);
  }

  #abort(mail: PoolMail): void {
    if (mail.dialogue && isRendered(mail)) mail.dialogue.abort(mail);
    else if (this.#dequeue(mail)) this.#settle(mail, this.#notStarted());
    // A message that is being rendered, or whose session is being opened, is checked when the rendering or opening
    // ends.
  }

  /** Starts a message that has been given a slot. */
  #start(mail: PoolMail): void {
    mail.has_slot = true;
    if (isRendered(mail)) this.#go(mail);
    else this.#render(mail);
  }

  #render(mail: PoolMail): void {
    if (isRendered(mail) || mail.is_rendering) return;
    mail.is_rendering = true;
    bytesOf(mail.raw).then(
      (bytes) => {
        mail.bytes = bytes;
        if (mail.has_slot && isRendered(mail)) this.#go(mail);
      },
      (error) => this.#fail(mail, error),
    );
  }

  /** Renders as many messages as may soon be sent, so that no session waits for them. */
  #prerender(): void {
    for (let index = 0; index < this.#options.max_connections; index++) {
      const mail = this.#waiting[index];
      if (!mail) return;
      this.#render(mail);
    }
  }

  #fail(mail: PoolMail, error: unknown): void {
    mail.signal.removeEventListener('abort', mail.onAbort);
    mail.reject(error);
    if (mail.has_slot) this.#passSlot();
    else this.#dequeue(mail);
  }

  /** Sends a rendered message on an existing session, or opens a session for it. */
  #go(mail: RenderedMail): void {
    if (this.#endAborted(mail)) return;
    const session = this.#idle.take();
    if (session) {
      mail.dialogue = session;
      this.begun(mail);
      session.begin(mail);
    } else this.#openFor(mail);
  }

  #endAborted(mail: PoolMail): boolean {
    if (!mail.signal.aborted) return false;
    this.#settle(mail, this.#notStarted());
    this.#passSlot();
    return true;
  }

  #openFor(mail: RenderedMail): void {
    mail.dialogue = null;
    if (this.#endAborted(mail)) return;
    this.begun(mail);
    openSession(this.#settings, this, mail.signal).then(
      (opened) => {
        if (!opened.ok) {
          const crowded = opened.reply?.code === 421;
          if (crowded) this.#crowded_before = performance.now() + CROWDED_MS;
          // A session that became idle meanwhile may be the only session that the server allows.
          if (crowded && this.#idle.count > 0) return this.#go(mail);
          this.#settle(mail, notConnected(opened));
          this.#passSlot();
          return;
        }
        mail.opened = opened;
        mail.dialogue = new Dialogue<RenderedMail>(opened.session, this, this.#timeouts);
        mail.dialogue.begin(mail);
      },
      (error) => this.#fail(mail, error),
    );
  }

  /** Takes a waiting message whose envelope may be pipelined. */
  next(dialogue: Dialogue<RenderedMail>, fits: (mail: RenderedMail) => boolean): RenderedMail | null {
    if (this.#waiting.length === 0 || dialogue.session.message_count >= MAX_MESSAGES_PER_CONNECTION) return null;
    if (!this.#options.pipelines || performance.now() < this.#no_pipelining_before) return null;
    for (const mail of this.#waiting) {
      if (!isRendered(mail) || !fits(mail)) continue;
      this.#dequeue(mail);
      mail.has_slot = true;
      mail.dialogue = dialogue;
      return mail;
    }
    return null;
  }

  begun(mail: PoolMail): void {
    if (mail.has_begun) return;
    mail.has_begun = true;
    mail.envelope.begun?.();
  }

  /** The content is freed now, because the reply may take minutes. */
  written(mail: PoolMail): void {
    mail.bytes = null;
    mail.envelope.written?.();
  }

  settled({ session }: Dialogue<RenderedMail>, mail: RenderedMail, result: Transaction): void {
    this.#settle(mail, outcomeOf(session, result, mail.opened));
  }

  /** Makes the session available for the next message, or closes it. */
  free(dialogue: Dialogue<RenderedMail>, accepted: boolean): void {
    const { session } = dialogue;
    const too_many = this.#idle.isFull() && this.#waiting.length === 0;
    if (session.message_count >= MAX_MESSAGES_PER_CONNECTION || this.#stopped || too_many) {
      this.#retire(session);
      this.#passSlot();
    } else if (accepted) {
      this.#keep(dialogue);
      this.#passSlot();
    } else this.#reset(dialogue);
  }

  /** Resends a message on a new session. Because the message received no reply, no duplicate can result. */
  gone(untouched: RenderedMail | null): void {
    if (untouched) this.#openFor(untouched);
    else this.#passSlot();
  }

  /** Sends a message on another session, or puts it first in the queue. */
  back(mail: RenderedMail): void {
    mail.dialogue = null;
    mail.has_slot = false;
    if (this.#takePlace()) this.#start(mail);
    else this.#waiting.unshift(mail);
  }

  unacknowledged(): void {
    this.#no_pipelining_before = performance.now() + NO_PIPELINING_MS;
  }

  idled(session: Session): void {
    this.#retire(session);
  }

  ended(session: Session): void {
    this.#idle.remove(session);
  }

  #dequeue(mail: PoolMail): boolean {
    const index = this.#waiting.indexOf(mail);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    this.#prerender();
    return true;
  }

  /** Passes the slot of a finished message to the next, or frees it. */
  #passSlot(): void {
    const next = this.#waiting.find(isRendered) ?? this.#waiting[0];
    if (next) {
      this.#dequeue(next);
      this.#start(next);
      return;
    }
    this.#places_taken--;
    this.#tellIfQuiet();
  }

  #isQuiet(): boolean {
    return this.#places_taken === 0 && this.#closing_count === 0;
  }

  #tellIfQuiet(): void {
    if (this.#isQuiet()) for (const notify of this.#quieted.splice(0)) notify();
  }

  /** Sends RSET after a message that was not accepted. The reply decides whether the session is reused. */
  #reset(dialogue: Dialogue<RenderedMail>): void {
    const { session } = dialogue;
    const { deadline } = session.line;
    const end = (failed: boolean) => {
      deadline.clear();
      session.listener = SILENT;
      if (failed) discard(session);
      else if (this.#stopped) this.#retire(session);
      else this.#keep(dialogue);
      this.#passSlot();
    };
    session.listener = { reply: (text) => end(!text.startsWith('2')), end: () => end(true), expire: () => end(true) };
    deadline.set(this.#timeouts.command_ms);
    sendCommand(session, 'RSET');
  }

  #keep(dialogue: Dialogue<RenderedMail>): void {
    dialogue.session.log = emptyLog();
    const { session } = dialogue;
    session.idle_timer.refresh();
    if (performance.now() < this.#crowded_before) {
      const { message_count } = session;
      setTimeout(() => {
        // The session may have sent messages meanwhile, in which case it has been idle for less than CROWDED_IDLE_MS.
        if (session.message_count === message_count) this.#retire(session);
      }, CROWDED_IDLE_MS).unref();
    }
    this.#idle.add(dialogue);
  }

  /** Sends QUIT on a session that is not in use. */
  #retire(session: Session): void {
    // The idle timer also fires while the session is working, which is ignored.
    if (!this.#idle.remove(session) && session.listener !== SILENT) return;
    if (session.ended || !isOpen(session)) return;
    const { deadline } = session.line;
    this.#closing_count++;
    session.listener = {
      reply: () => discard(session),
      end: () => {
        session.listener = SILENT;
        this.#closing_count--;
        this.#tellIfQuiet();
      },
      expire: () => discard(session),
    };
    deadline.set(QUIT_MS);
    sendCommand(session, 'QUIT');
  }

  #notStarted(): SendOutcome {
    const route = this.#options.routes().ranked[0] ?? null;
    return notConnected(notOpened({ route, error: this.#stopped ? STOPPED : ABORTED }));
  }
}
