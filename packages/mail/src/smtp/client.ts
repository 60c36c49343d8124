import { isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import SMTPConnection, { type SMTPError } from 'nodemailer/lib/smtp-connection';
import { cleanRemoteText, type Reply, readReply } from '../reply.ts';
import type { Envelope, Mailer, Raw, SendOutcome, SendStage, TlsFacts, TlsPolicy } from '../send-outcome.ts';

export interface SmtpTimeouts {
  /** From the first packet to the end of greeting, EHLO, STARTTLS and login. */
  readonly connect_ms: number;
  /** For each reply of MAIL, RCPT, DATA and RSET. */
  readonly command_ms: number;
  /** For the transfer of the whole content, from the go-ahead to the dot. */
  readonly content_ms: number;
  /** For the reply to the dot. RFC 5321 section 4.5.3.2.6 allows a server ten minutes. */
  readonly after_dot_ms: number;
  /** A kept connection is closed after this long without work. */
  readonly idle_ms: number;
}

export interface SmtpTransportOptions {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte, as on port 465. */
  readonly secure: boolean;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly helo_name: string;
  readonly max_connections: number;
  /**
   * STARTTLS if offered, certificate not checked; always, and checked; never. A login asks for a checked
   * certificate and refuses plaintext in any case, unless this says none or the server is this machine.
   */
  readonly tls: 'opportunistic' | 'required' | 'none';
  /** One lane for the whole host, as behind a relay, or one for each domain that is written to. */
  readonly lane_by?: 'host' | 'domain' | undefined;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
}

const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connect_ms: 30_000,
  command_ms: 60_000,
  content_ms: 180_000,
  after_dot_ms: 120_000,
  idle_ms: 30_000,
};
const MAX_MESSAGES_PER_CONNECTION = 100;
const MAX_REPLY_SIZE = 64 * 1024;
const MAX_TRANSCRIPT_LINE = 400;
const MAX_TRANSCRIPT = 8 * 1024;
const QUIT_MS = 1000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** One connection and what is known about it. Exactly one transaction uses it at a time. */
interface Session {
  readonly connection: SMTPConnection;
  readonly idle_timer: NodeJS.Timeout;
  tls: TlsFacts | null;
  address: string | null;
  message_count: number;
  ended: boolean;
  /** Where the connection's commands, replies and end are told to; changes with the work at hand. */
  listener: SessionListener;
  log: string[];
  log_length: number;
}

interface SessionListener {
  command?(line: string): void;
  reply?(line: string): void;
  end?(error: SMTPError | null): void;
}

interface Opened {
  readonly ok: true;
  readonly session: Session;
  readonly connect_ms: number;
  readonly tls_ms: number;
}

interface NotOpened {
  readonly ok: false;
  readonly error: string;
  readonly reply: Reply | null;
  readonly tls_failed: boolean;
  readonly connect_ms: number;
  readonly transcript: string;
}

/** What one transaction came to, and what it means for its session. */
interface Judgement {
  readonly kind: SendOutcome['kind'];
  readonly reply: Reply | null;
  readonly error: string | null;
  readonly stage: SendStage;
  /** A kept session turned out to be over before anything of this transaction was answered. */
  readonly stale: boolean;
  /** Client and server agree on where the session stands, so it can serve another transaction. */
  readonly in_step: boolean;
}

/** Like a stage, but with the transfer of the content told apart from the wait for 354. */
type Position = 'mail' | 'rcpt' | 'data' | 'content' | 'after_dot';

interface Transaction extends Judgement {
  readonly mail_ms: number;
  readonly data_ms: number;
}

interface Attempt {
  readonly outcome: SendOutcome;
  /** Settles when the connection is free again or gone, and its place can be given on. */
  readonly released: Promise<void>;
}

const CHUNK_SIZE = 64 * 1024;
const ONE_SEGMENT = 24 * 1024;
const SILENT: SessionListener = {};
const IGNORE = () => undefined;
const RELEASED = Promise.resolve();
const ABORTED = 'The attempt was aborted.';
const STOPPED = 'The transport is stopped.';

/** Sends to one host over kept connections, one recipient per transaction. */
export function createSmtpTransport(options: SmtpTransportOptions): Mailer {
  const timeouts: SmtpTimeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const target = `${isIP(options.host) === 6 ? `[${options.host}]` : options.host}:${options.port}`;
  const on_this_machine = LOOPBACK.test(options.host);
  const checked = options.tls === 'required' || (Boolean(options.user) && !on_this_machine && options.tls !== 'none');
  const tls_policy: TlsPolicy = checked || options.secure ? 'required' : options.tls;
  const idle: Session[] = [];
  const waiting: ((granted: boolean) => void)[] = [];
  const working = new Set<Promise<unknown>>();
  let slots_taken = 0;
  let stopped = false;

  async function send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome> {
    if (!(await takeSlot(signal))) return notStarted();
    const work = make(raw).then((bytes) => attempt(envelope, bytes, signal));
    const freed = work.then((result) => result.released).then(passSlot, passSlot);
    working.add(freed);
    void freed.then(() => working.delete(freed));
    return (await work).outcome;
  }

  async function make(raw: Raw): Promise<Buffer> {
    return typeof raw === 'function' ? raw() : raw;
  }

  async function attempt(envelope: Envelope, raw: Buffer, signal: AbortSignal): Promise<Attempt> {
    const kept = takeIdle();
    if (kept) {
      const result = await transact(kept, envelope, raw, signal);
      // The server ended this session while nobody used it and answered nothing of this mail, so that a
      // fresh connection cannot make a second copy.
      if (!result.stale) return { outcome: outcomeOf(kept, result, null), released: release(kept, result) };
    }
    const opened = await open(signal);
    if (!opened.ok) return { outcome: notConnected(opened), released: RELEASED };
    const result = await transact(opened.session, envelope, raw, signal);
    return { outcome: outcomeOf(opened.session, result, opened), released: release(opened.session, result) };
  }

  function takeSlot(signal: AbortSignal): Promise<boolean> | boolean {
    if (stopped || signal.aborted) return false;
    if (slots_taken < options.max_connections) {
      slots_taken++;
      return true;
    }
    return new Promise((resolve) => {
      const grant = (granted: boolean) => {
        signal.removeEventListener('abort', giveUp);
        resolve(granted);
      };
      const giveUp = () => {
        const place = waiting.indexOf(grant);
        if (place >= 0) waiting.splice(place, 1);
        resolve(false);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(grant);
    });
  }

  function passSlot(): void {
    const next = waiting.shift();
    if (next) next(true);
    else slots_taken--;
  }

  function takeIdle(): Session | undefined {
    for (let session = idle.pop(); session; session = idle.pop()) {
      if (!session.ended) return session;
    }
    return undefined;
  }

  /** Connects, upgrades and logs in; when an upgrade nobody insists on fails, once more in plaintext. */
  async function open(signal: AbortSignal): Promise<Opened | NotOpened> {
    const opened = await connect(signal, { use_tls: options.tls !== 'none' });
    if (opened.ok || !opened.tls_failed || signal.aborted) return opened;
    if (options.tls !== 'opportunistic' || options.secure || checked) return opened;
    return await connect(signal, { use_tls: false });
  }

  function connect(signal: AbortSignal, security: { use_tls: boolean }): Promise<Opened | NotOpened> {
    const required = checked && !options.secure;
    const connection = new SMTPConnection({
      host: options.host,
      port: options.port,
      secure: options.secure,
      name: options.helo_name,
      ignoreTLS: !security.use_tls,
      requireTLS: required && security.use_tls,
      opportunisticTLS: !required,
      tls: { rejectUnauthorized: checked },
      connectionTimeout: timeouts.connect_ms,
      greetingTimeout: timeouts.connect_ms,
      dnsTimeout: timeouts.connect_ms,
      socketCloseTimeout: 0,
      maxResponseSize: MAX_REPLY_SIZE,
      allowInternalNetworkInterfaces: true,
      transactionLog: true,
      logger: {
        debug: (entry: unknown, line: unknown) => observe(entry, line),
        trace: IGNORE,
        info: IGNORE,
        warn: IGNORE,
        error: IGNORE,
        fatal: IGNORE,
      },
    });
    const session: Session = {
      connection,
      idle_timer: setTimeout(() => retire(session), timeouts.idle_ms),
      tls: null,
      address: null,
      message_count: 0,
      ended: false,
      listener: SILENT,
      log: [],
      log_length: 0,
    };
    session.idle_timer.unref();

    function observe(entry: unknown, line: unknown): void {
      if (typeof line !== 'string' || typeof entry !== 'object' || entry === null || !('tnx' in entry)) return;
      if (entry.tnx === 'server') {
        note(session, 'S', line);
        session.listener.reply?.(line);
      } else if (entry.tnx === 'client') {
        note(session, 'C', line);
        session.listener.command?.(line);
      }
    }

    connection.on('error', (error: SMTPError) => {
      session.ended = true;
      session.listener.end?.(error);
    });
    connection.on('end', () => {
      session.ended = true;
      clearTimeout(session.idle_timer);
      const place = idle.indexOf(session);
      if (place >= 0) idle.splice(place, 1);
      session.listener.end?.(null);
    });

    return new Promise((resolve) => {
      const started = performance.now();
      let tls_started = 0;
      let tls_ms = 0;
      const onAbort = () => fail(ABORTED, null);
      const deadline = setTimeout(
        () => fail(`No session within ${timeouts.connect_ms} ms.`, null),
        timeouts.connect_ms,
      );
      signal.addEventListener('abort', onAbort, { once: true });
      session.listener = {
        command(line) {
          if (line === 'STARTTLS') tls_started = performance.now();
          else if (tls_started > 0 && tls_ms === 0) tls_ms = performance.now() - tls_started;
        },
        end: (error) => fail(null, error),
      };

      function settle(): void {
        clearTimeout(deadline);
        signal.removeEventListener('abort', onAbort);
        session.listener = SILENT;
      }

      function fail(message: string | null, error: SMTPError | null): void {
        settle();
        discard(session);
        resolve({
          ok: false,
          error: message ?? describe(error),
          reply: error?.response ? readReply(error.response) : null,
          tls_failed: tls_started > 0 && !connection.secure,
          connect_ms: performance.now() - started,
          transcript: takeTranscript(session),
        });
      }

      function succeed(): void {
        settle();
        session.tls = tlsFacts(connection._socket);
        session.address = (connection._socket && connection._socket.remoteAddress) || null;
        resolve({ ok: true, session, connect_ms: performance.now() - started - tls_ms, tls_ms });
      }

      connection.connect((error) => {
        if (error) return fail(null, error);
        const { user, pass } = options;
        if (!user) return succeed();
        if (!connection.secure && options.tls !== 'none' && !on_this_machine) {
          return fail('The server offers no TLS, and credentials are not sent without it.', null);
        }
        connection.login({ user, pass }, (refusal) => {
          if (refusal) fail(null, refusal);
          else succeed();
        });
      });
    });
  }

  /** One MAIL, RCPT, DATA, content and dot, judged by how far it came and by what was answered. */
  function transact(session: Session, envelope: Envelope, raw: Buffer, signal: AbortSignal): Promise<Transaction> {
    const { connection } = session;
    const socket = connection._socket;
    const reused = session.message_count > 0;
    session.message_count++;
    return new Promise((resolve) => {
      const started = performance.now();
      let position: Position = 'mail';
      let reply_count = 0;
      let content_started = 0;
      let may_send_content = false;
      let dot_flushed = false;
      let settled = false;
      let deadline = setTimeout(expire, timeouts.command_ms);

      let offset = 0;
      const content = new Readable({
        read() {
          // nodemailer reads the content once DATA has been answered. It takes 250 for a go-ahead too, but that
          // answers some other command, and the next such reply would pass for the acceptance of the mail.
          if (!may_send_content) return finish(lost('The server did not answer DATA with 354.'));
          if (offset === 0) {
            // Content and dot leave in one segment. Twice the limit still fits the socket's buffer, beyond which
            // the pipe would wait for a drain that a corked socket never has.
            if (raw.length <= ONE_SEGMENT && socket) socket.cork();
            content_started = performance.now();
            moveTo('content', timeouts.content_ms);
          }
          this.push(offset < raw.length ? raw.subarray(offset, offset + CHUNK_SIZE) : null);
          offset += CHUNK_SIZE;
        },
      });

      session.listener = {
        reply(line) {
          reply_count++;
          if (position === 'mail') moveTo('rcpt', timeouts.command_ms);
          else if (position === 'rcpt') moveTo('data', timeouts.command_ms);
          else if (position === 'data') may_send_content = line.startsWith('3');
        },
        // Where an answer came with the end, the callback of send brings both within this turn of the loop.
        end: (error) => setImmediate(() => finish(judgeError(error))),
      };
      if (socket) socket.on('unpipe', onUnpipe);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) return onAbort();
      // nodemailer keeps its own state in the envelope, so it gets one of its own.
      connection.send({ from: envelope.from, to: envelope.to, size: raw.length }, content, (error, info) => {
        finish(error ? judgeError(error) : judgeReply(info.response, 'DATA', null));
      });

      /**
       * The encoded content left its pipe at its end, so the dot is written; the server can have it once
       * the kernel has. An earlier end of the source would say too much: most of the mail may be buffered here.
       */
      function onUnpipe(source: Readable): void {
        if (!source.readableEnded || !socket) return;
        moveTo('after_dot', timeouts.after_dot_ms);
        if (raw.length <= ONE_SEGMENT) socket.uncork();
        if (socket.writableLength === 0) {
          dot_flushed = true;
          return;
        }
        socket.write(Buffer.alloc(0), (error) => {
          dot_flushed = !error;
        });
      }

      function moveTo(next: Position, allowed_ms: number): void {
        if (settled) return;
        position = next;
        clearTimeout(deadline);
        deadline = setTimeout(expire, allowed_ms);
      }

      function expire(): void {
        finish(lost(`No answer in time (${position.replace('_', ' ')}).`));
      }

      function onAbort(): void {
        // After the dot the server may already have taken the mail, so its answer is awaited.
        if (position !== 'after_dot') finish(lost(ABORTED));
      }

      function finish(judgement: Judgement): void {
        if (settled) return;
        settled = true;
        clearTimeout(deadline);
        signal.removeEventListener('abort', onAbort);
        if (socket) socket.removeListener('unpipe', onUnpipe);
        session.listener = SILENT;
        const now = performance.now();
        if (!judgement.in_step) discard(session);
        resolve({
          ...judgement,
          mail_ms: (content_started || now) - started,
          data_ms: content_started ? now - content_started : 0,
        });
      }

      /** Over without an answer that decides. Only a server that has the whole mail can have accepted it. */
      function lost(error: string): Judgement {
        const kind = position === 'after_dot' && dot_flushed ? 'unknown' : 'deferred';
        return { kind, reply: null, error, stage: stageOf(position), stale: false, in_step: false };
      }

      function judgeError(error: SMTPError | null): Judgement {
        const command = error?.command ?? '';
        if (error?.code === 'EMESSAGE' && command === 'MAIL FROM') return tooLarge(error);
        // A session that ends may still carry its last words: a 421 at any time, or a refusal cut off by the close.
        const last_words = command === 'CONN' && error?.code === 'ECONNECTION';
        const answered = command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA';
        if (error?.response && (last_words || answered)) {
          return judgeReply(error.response, command, describe(error));
        }
        return { ...lost(describe(error)), stale: reused && reply_count === 0 };
      }

      function judgeReply(response: string, command: string, error: string | null): Judgement {
        const reply = readReply(response);
        if (reply === null || (reply.code >= 300 && reply.code < 400)) {
          return lost(error ?? `Not an answer: ${cleanRemoteText(response).slice(0, 100)}`);
        }
        if (reply.code < 300) {
          // An acceptance before the dot answers something else: the session is out of step.
          if (!content.readableEnded) return lost('The server answered before it had the message.');
          return { kind: 'accepted', reply, error: null, stage: 'after_dot', stale: false, in_step: true };
        }
        return {
          // 503 says that the session is out of step, not that the mail is refused.
          kind: reply.code >= 500 && reply.code !== 503 ? 'rejected' : 'deferred',
          reply,
          error: null,
          // Pipelined commands are all answered before one of them is reported, so the position is not the place.
          stage: command === 'MAIL FROM' ? 'mail' : command === 'RCPT TO' ? 'rcpt' : stageOf(position),
          stale: reply.code === 421 && reused && reply_count <= 1,
          in_step: command !== 'CONN' && reply.code !== 421 && reply.code !== 503 && position !== 'content',
        };
      }
    });
  }

  /** After the announced SIZE limit made the client refuse; sent in the words a server would have used. */
  function tooLarge(error: SMTPError): Judgement {
    const reply = { code: 552, enhanced: '5.3.4', text: cleanRemoteText(`Not sent: ${error.message}`) };
    return { kind: 'rejected', reply, error: null, stage: 'mail', stale: false, in_step: true };
  }

  /** Puts the session back for the next mail, or closes it. */
  function release(session: Session, result: Transaction): Promise<void> {
    if (session.ended) return RELEASED;
    if (session.message_count >= MAX_MESSAGES_PER_CONNECTION || stopped) {
      retire(session);
      return RELEASED;
    }
    if (result.kind === 'accepted') {
      keep(session);
      return RELEASED;
    }
    return new Promise((resolve) => {
      const settle = (failed: boolean) => {
        clearTimeout(deadline);
        session.listener = SILENT;
        if (failed) discard(session);
        else if (stopped) retire(session);
        else keep(session);
        resolve();
      };
      const deadline = setTimeout(() => settle(true), timeouts.command_ms);
      session.listener = { end: () => settle(true) };
      session.connection.reset((error) => settle(error !== null));
    });
  }

  function keep(session: Session): void {
    session.log = [];
    session.log_length = 0;
    session.idle_timer.refresh();
    idle.push(session);
  }

  /** Says QUIT to a session that is not in use. */
  function retire(session: Session): void {
    const place = idle.indexOf(session);
    // The idle timer runs on while the session works; then it means nothing.
    if (place < 0 && session.listener !== SILENT) return;
    if (place >= 0) idle.splice(place, 1);
    if (session.ended) return;
    const closing = new Promise<void>((resolve) => {
      const deadline = setTimeout(() => discard(session), QUIT_MS);
      session.listener = {
        end() {
          clearTimeout(deadline);
          resolve();
        },
      };
      session.connection.quit();
    });
    working.add(closing);
    void closing.then(() => working.delete(closing));
  }

  function discard(session: Session): void {
    session.ended = true;
    clearTimeout(session.idle_timer);
    session.connection.close();
  }

  function outcomeOf(session: Session, result: Transaction, opened: Opened | null): SendOutcome {
    return {
      kind: result.kind,
      reply: result.reply,
      error: result.error,
      target,
      address: session.address,
      tls: session.tls,
      tls_policy: tls_policy,
      phases_ms: {
        connect: opened?.connect_ms ?? 0,
        tls: opened?.tls_ms ?? 0,
        mail: result.mail_ms,
        data: result.data_ms,
      },
      stage: result.stage,
      transcript: takeTranscript(session),
    };
  }

  function notConnected(failure: NotOpened): SendOutcome {
    return {
      kind: 'deferred',
      reply: failure.reply,
      error: failure.error,
      target,
      address: null,
      tls: null,
      tls_policy: null,
      phases_ms: { connect: failure.connect_ms, tls: 0, mail: 0, data: 0 },
      stage: 'connect',
      transcript: failure.transcript,
    };
  }

  function notStarted(): SendOutcome {
    const error = stopped ? STOPPED : ABORTED;
    return notConnected({ ok: false, error, reply: null, tls_failed: false, connect_ms: 0, transcript: '' });
  }

  async function stop(): Promise<void> {
    stopped = true;
    for (const refuse of waiting.splice(0)) refuse(false);
    for (const session of [...idle]) retire(session);
    // A transaction that ends adds the closing of its session to the set.
    while (working.size > 0) await Promise.all(working);
  }

  function laneOf(to: string): string {
    return options.lane_by === 'domain' ? to.slice(to.lastIndexOf('@') + 1) : target;
  }

  return { send, laneOf, stop };
}

function stageOf(position: Position): SendStage {
  return position === 'content' ? 'data' : position;
}

function tlsFacts(socket: Socket | false | null): TlsFacts | null {
  if (!(socket instanceof TLSSocket)) return null;
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: socket.getCipher()?.name ?? 'unknown',
    authorized: socket.authorized,
  };
}

function describe(error: SMTPError | null): string {
  if (!error) return 'The connection was closed.';
  const cause = error.originalCode ?? error.code;
  const text = cleanRemoteText(error.message);
  return cause && !text.includes(cause) ? `${text} (${cause})` : text;
}

function note(session: Session, speaker: 'C' | 'S', line: string): void {
  if (session.log_length > MAX_TRANSCRIPT) return;
  const text = `${speaker}: ${cleanRemoteText(line.slice(0, MAX_TRANSCRIPT_LINE))}`;
  session.log.push(text);
  session.log_length += text.length;
}

function takeTranscript(session: Session): string {
  const transcript = session.log.length > 0 ? `${session.log.join('\n')}\n` : '';
  session.log = [];
  session.log_length = 0;
  return transcript;
}
