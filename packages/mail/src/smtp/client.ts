import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import SMTPConnection, { type SMTPError } from 'nodemailer/lib/smtp-connection';
import { cleanRemoteText, type Reply, readReply } from '../reply.ts';
import type { Envelope, Mailer, Raw, SendOutcome, SendStage, TlsFacts } from '../send-outcome.ts';
import { createReplyReader, type ReplyReader } from './reply-reader.ts';
import type { SmtpRoute, SmtpRoutes } from './route.ts';
import { wireContent } from './wire-content.ts';

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

export interface SessionPoolOptions {
  /** Where a new connection may go now, the best first. */
  routes(): SmtpRoutes;
  readonly login?: { readonly user: string; readonly pass: string; readonly in_plaintext: boolean } | undefined;
  readonly helo_name: string;
  readonly max_connections: number;
  readonly laneOf: (to: string) => string;
  readonly timeouts?: Partial<SmtpTimeouts> | undefined;
  /** How many sessions all pools that share this keep open without work. */
  readonly kept?: { count: number; readonly most: number } | undefined;
}

export interface SessionPool extends Mailer {
  /** Nothing is under way and no session is kept, so that the pool can be forgotten. */
  isEmpty(): boolean;
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
  /** Once the session is open. */
  line: Line | null;
  readonly route: SmtpRoute;
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

type OpenSession = Session & { readonly line: Line };

/** The socket of an open session and what its server can do. */
interface Line {
  readonly socket: Socket;
  readonly replies: ReplyReader;
  readonly abilities: Abilities;
}

interface Abilities {
  readonly pipelining: boolean;
  readonly smtputf8: boolean;
  readonly size: boolean;
  /** 0 where the server names no limit. */
  readonly max_size: number;
}

interface SessionListener {
  command?(line: string): void;
  reply?(line: string): void;
  end?(error: SMTPError | null): void;
}

interface Opened {
  readonly ok: true;
  readonly session: OpenSession;
  readonly connect_ms: number;
  readonly tls_ms: number;
}

interface NotOpened {
  readonly ok: false;
  readonly route: SmtpRoute | null;
  readonly address: string | null;
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

const CHUNK_SIZE = 128 * 1024;
const SILENT: SessionListener = {};
const NOT_IN_A_PATH = /[\0-\x20<>\x7f]/;
const NOT_ASCII = /[^\0-\x7f]/;
const LAST_WORDS = /^[45]\d\d[ -]/;
const IGNORE = () => undefined;
const RELEASED = Promise.resolve();
const ABORTED = 'The attempt was aborted.';
const STOPPED = 'The transport is stopped.';

/** Sends to one host over kept connections, one recipient per transaction. */
export function createSmtpTransport(options: SmtpTransportOptions): Mailer {
  const { host, port, secure, user, pass, helo_name, max_connections, timeouts } = options;
  const target = targetOf({ host, port });
  const on_this_machine = LOOPBACK.test(host);
  const checked = options.tls === 'required' || (Boolean(user) && !on_this_machine && options.tls !== 'none');
  const tls_policy = checked || secure ? 'required' : options.tls;
  const routes: SmtpRoutes = { ranked: [{ host, port, secure, tls: options.tls, checked, tls_policy }], notes: [] };
  return createSessionPool({
    routes: () => routes,
    login: user ? { user, pass: pass ?? '', in_plaintext: options.tls === 'none' || on_this_machine } : undefined,
    helo_name,
    max_connections,
    timeouts,
    laneOf: (to) => (options.lane_by === 'domain' ? to.slice(to.lastIndexOf('@') + 1) : target),
  });
}

/** Kept connections to servers that are as good as each other for this mail, one recipient per transaction. */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const timeouts: SmtpTimeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const idle: OpenSession[] = [];
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

  function takeIdle(): OpenSession | undefined {
    for (let session = idle.pop(); session; session = idle.pop()) {
      countKept(-1);
      if (!session.ended) return session;
    }
    return undefined;
  }

  /** The first route that comes to a session; where there are several, a failure tells what became of each. */
  async function open(signal: AbortSignal): Promise<Opened | NotOpened> {
    const { ranked, notes } = options.routes();
    const failures: NotOpened[] = [];
    const started = performance.now();
    const told = [...notes];
    const story = notes.map((note) => `-- ${note}`);
    for (const route of ranked) {
      const opened = await openRoute(route, signal);
      if (opened.ok) {
        opened.session.log.unshift(...story);
        return opened;
      }
      failures.push(opened);
      const what = `${whereTo(route)}: ${opened.error}`;
      told.push(what);
      if (opened.transcript !== '') story.push(opened.transcript.trimEnd());
      if (ranked.length > 1) story.push(`-- ${what}`);
      // Servers that are slow to fail must not hold the mail up one after the other.
      if (signal.aborted || performance.now() - started > timeouts.connect_ms) break;
    }
    const [last] = failures.slice(-1);
    return notOpened({
      ...last,
      error: last && told.length === 1 ? last.error : cleanRemoteText(told.join('; ')) || 'No server to connect to.',
      reply: failures.find((failure) => failure.reply !== null)?.reply ?? null,
      tls_failed: failures.some((failure) => failure.tls_failed),
      connect_ms: failures.reduce((sum, failure) => sum + failure.connect_ms, 0),
      transcript: story.map((line) => `${line}\n`).join(''),
    });
  }

  /** Connects, upgrades and logs in; when an upgrade nobody insists on fails, once more in plaintext. */
  async function openRoute(route: SmtpRoute, signal: AbortSignal): Promise<Opened | NotOpened> {
    const opened = await connect(route, signal, { use_tls: route.tls !== 'none' });
    if (opened.ok || !opened.tls_failed || signal.aborted) return opened;
    if (route.tls !== 'opportunistic' || route.secure || route.checked) return opened;
    return await connect(route, signal, { use_tls: false });
  }

  async function connect(
    route: SmtpRoute,
    signal: AbortSignal,
    security: { use_tls: boolean },
  ): Promise<Opened | NotOpened> {
    if (!route.dial) return establish(route, null, signal, security);
    const started = performance.now();
    const dialled = await route.dial(signal);
    const dial_ms = performance.now() - started;
    if (!dialled.ok) return notOpened({ route, error: dialled.error, connect_ms: dial_ms });
    const opened = await establish(route, dialled.socket, signal, security);
    return { ...opened, connect_ms: opened.connect_ms + dial_ms };
  }

  /** From a socket, or from nothing, to a session that can take mail. */
  function establish(
    route: SmtpRoute,
    socket: Socket | null,
    signal: AbortSignal,
    security: { use_tls: boolean },
  ): Promise<Opened | NotOpened> {
    const required = route.checked && !route.secure;
    const connection = new SMTPConnection({
      ...(socket && { connection: socket }),
      host: route.host,
      port: route.port,
      secure: route.secure,
      name: options.helo_name,
      ignoreTLS: !security.use_tls,
      requireTLS: required && security.use_tls,
      opportunisticTLS: !required,
      tls: { rejectUnauthorized: route.checked },
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
      line: null,
      route,
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
      takeOut(session);
      session.listener.end?.(null);
    });

    return new Promise((resolve) => {
      const started = performance.now();
      const remote_address = socket?.remoteAddress ?? null;
      let tls_started = 0;
      let tls_ms = 0;
      let said = '';
      let greeted = '';
      const onAbort = () => fail(ABORTED, null);
      const deadline = setTimeout(
        () => fail(`No session within ${timeouts.connect_ms} ms.`, null),
        timeouts.connect_ms,
      );
      signal.addEventListener('abort', onAbort, { once: true });
      session.listener = {
        command(line) {
          said = line;
          if (line === 'STARTTLS') tls_started = performance.now();
          else if (tls_started > 0 && tls_ms === 0) tls_ms = performance.now() - tls_started;
        },
        reply(text) {
          if (said.startsWith('EHLO ')) greeted = text;
          said = '';
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
          route,
          address: remote_address,
          error: message ?? describe(error),
          reply: error?.response ? readReply(error.response) : null,
          tls_failed: tls_started > 0 && !connection.secure,
          connect_ms: performance.now() - started,
          transcript: takeTranscript(session),
        });
      }

      function succeed(): void {
        settle();
        if (!connection._socket) {
          fail('The connection was closed.', null);
          return;
        }
        const open = takeOver(session, connection._socket, greeted);
        session.tls = tlsFacts(connection._socket);
        session.address = connection._socket.remoteAddress ?? null;
        resolve({ ok: true, session: open, connect_ms: performance.now() - started - tls_ms, tls_ms });
      }

      connection.connect((error) => {
        if (error) return fail(null, error);
        const { login } = options;
        if (!login) return succeed();
        if (!connection.secure && !login.in_plaintext) {
          return fail('The server offers no TLS, and credentials are not sent without it.', null);
        }
        connection.login({ user: login.user, pass: login.pass }, (refusal) => {
          if (refusal) fail(null, refusal);
          else succeed();
        });
      });
    });
  }

  /**
   * From here on the session is spoken by this file: a reply is read, and a mail written, in one piece each, which
   * costs a third of what the library's streams and queues do. It keeps watching over the end of the socket.
   */
  function takeOver(session: Session, socket: Socket, greeted: string): OpenSession {
    const replies = createReplyReader(
      (text) => {
        note(session, 'S', text);
        if (session.listener.reply) session.listener.reply(text);
        // Whatever a server says to a session at rest, such as 421, ends it.
        else discard(session);
      },
      () => {
        const { listener } = session;
        discard(session);
        listener.end?.(null);
      },
    );
    socket.setTimeout(0);
    socket.removeAllListeners('data');
    socket.on('data', (chunk) => replies.push(chunk));
    return Object.assign(session, { line: { socket, replies, abilities: readAbilities(greeted) } });
  }

  function say(session: Session, ...commands: readonly string[]): void {
    for (const command of commands) note(session, 'C', command);
    session.line?.socket.write(`${commands.join('\r\n')}\r\n`);
  }

  /** One MAIL, RCPT, DATA, content and dot, judged by how far it came and by what was answered. */
  function transact(session: OpenSession, envelope: Envelope, raw: Buffer, signal: AbortSignal): Promise<Transaction> {
    const { socket, replies, abilities } = session.line;
    const reused = session.message_count > 0;
    session.message_count++;
    return new Promise((resolve) => {
      const started = performance.now();
      let position: Position = 'mail';
      let reply_count = 0;
      let content_started = 0;
      let dot_flushed = false;
      let settled = false;
      // Pipelined commands are all answered before the first refusal is reported.
      let refusal: Judgement | null = null;
      let allowed = timeouts.command_ms;
      let deadline = setTimeout(expire, allowed);

      session.listener = { reply: onReply, end: (error) => finish(judgeEnd(error)) };
      signal.addEventListener('abort', onAbort, { once: true });
      const unsent = signal.aborted ? lost(ABORTED) : problemOf(envelope, raw, abilities);
      const mail = mailCommand(envelope, raw.length, abilities);
      const rcpt = `RCPT TO:<${envelope.to}>`;
      if (unsent) finish(unsent);
      else if (abilities.pipelining) say(session, mail, rcpt, 'DATA');
      else say(session, mail);

      function onReply(text: string): void {
        reply_count++;
        const judgement = goOn(text);
        if (judgement) finish(judgement);
      }

      /** Says what comes next, or judges where nothing does. */
      function goOn(text: string): Judgement | null {
        switch (position) {
          case 'mail':
          case 'rcpt': {
            if (!text.startsWith('2')) {
              refusal ??= judgeReply(text);
              if (!abilities.pipelining || !refusal.reply || refusal.reply.code === 421) return refusal;
            }
            const [next, command] = position === 'mail' ? (['rcpt', rcpt] as const) : (['data', 'DATA'] as const);
            moveTo(next, timeouts.command_ms);
            if (abilities.pipelining) return null;
            // An answer to what has not been said yet would pass for the answer to the next command.
            if (replies.rest() !== '') return lost('The server answered more than it was asked.');
            say(session, command);
            return null;
          }
          case 'data':
            if (refusal) {
              // Where the server waits for content that it must not get, the end of the connection tells it so.
              return { ...refusal, in_step: refusal.in_step && !text.startsWith('3') && !text.startsWith('421') };
            }
            if (text.startsWith('2')) return lost('The server did not answer DATA with 354.');
            if (!text.startsWith('3')) return judgeReply(text);
            if (replies.rest() !== '') return lost('The server answered before it had the message.');
            content_started = performance.now();
            sendContent(wireContent(raw), 0);
            return null;
          case 'content':
          case 'after_dot':
            return judgeReply(text);
        }
      }

      /** A mail of one chunk leaves in one write, its dot included; a long one goes on when the socket has room. */
      function sendContent(wire: Buffer, from: number): void {
        if (settled) return;
        const end = from + CHUNK_SIZE;
        if (end < wire.length) {
          if (from === 0) moveTo('content', timeouts.content_ms);
          socket.write(wire.subarray(from, end), (error) => {
            if (!error) sendContent(wire, end);
          });
          return;
        }
        // Written, the dot may reach the server at any time; the server can have it once the kernel has.
        moveTo('after_dot', timeouts.after_dot_ms);
        socket.write(from === 0 ? wire : wire.subarray(from), (error) => {
          dot_flushed = !error;
        });
      }

      function moveTo(next: Position, allowed_ms: number): void {
        position = next;
        if (allowed_ms === allowed) {
          deadline.refresh();
          return;
        }
        allowed = allowed_ms;
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
        session.listener = SILENT;
        const now = performance.now();
        if (!judgement.in_step || replies.rest() !== '') discard(session);
        resolve({
          ...judgement,
          mail_ms: (content_started || now) - started,
          data_ms: content_started ? now - content_started : 0,
        });
      }

      /** Over without an answer that decides. Only a server that has the whole mail can have accepted it. */
      function lost(error: string): Judgement {
        if (refusal) return { ...refusal, in_step: false };
        const kind = position === 'after_dot' && dot_flushed ? 'unknown' : 'deferred';
        return { kind, reply: null, error, stage: stageOf(position), stale: false, in_step: false };
      }

      function judgeEnd(error: SMTPError | null): Judgement {
        // A session that ends may still carry its last words: a refusal cut off by the close.
        const rest = replies.rest().trim();
        if (LAST_WORDS.test(rest)) return { ...judgeReply(rest), in_step: false };
        return { ...lost(describe(error)), stale: reused && reply_count === 0 };
      }

      function judgeReply(text: string): Judgement {
        const reply = readReply(text);
        if (reply === null || (reply.code >= 300 && reply.code < 400)) {
          return lost(`Not an answer: ${cleanRemoteText(text).slice(0, 100)}`);
        }
        if (reply.code < 300) {
          // An acceptance before the dot answers something else: the session is out of step.
          if (position !== 'after_dot') return lost('The server answered before it had the message.');
          return { kind: 'accepted', reply, error: null, stage: 'after_dot', stale: false, in_step: true };
        }
        return {
          // 503 says that the session is out of step, not that the mail is refused.
          kind: reply.code >= 500 && reply.code !== 503 ? 'rejected' : 'deferred',
          reply,
          error: null,
          stage: stageOf(position),
          stale: reply.code === 421 && reused && reply_count <= 1,
          in_step: reply.code !== 421 && reply.code !== 503 && position !== 'content',
        };
      }
    });
  }

  /** Puts the session back for the next mail, or closes it. */
  function release(session: OpenSession, result: Transaction): Promise<void> {
    if (session.ended) return RELEASED;
    const { kept } = options;
    const too_many = kept !== undefined && kept.count >= kept.most && waiting.length === 0;
    if (session.message_count >= MAX_MESSAGES_PER_CONNECTION || stopped || too_many) {
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
      session.listener = { reply: (text) => settle(!text.startsWith('2')), end: () => settle(true) };
      say(session, 'RSET');
    });
  }

  function keep(session: OpenSession): void {
    session.log = [];
    session.log_length = 0;
    session.idle_timer.refresh();
    idle.push(session);
    countKept(1);
  }

  function takeOut(session: Session): boolean {
    const place = isOpen(session) ? idle.indexOf(session) : -1;
    if (place < 0) return false;
    idle.splice(place, 1);
    countKept(-1);
    return true;
  }

  function countKept(change: number): void {
    if (options.kept) options.kept.count += change;
  }

  /** Says QUIT to a session that is not in use. */
  function retire(session: Session): void {
    // The idle timer runs on while the session works; then it means nothing.
    if (!takeOut(session) && session.listener !== SILENT) return;
    if (session.ended) return;
    const closing = new Promise<void>((resolve) => {
      const deadline = setTimeout(() => discard(session), QUIT_MS);
      session.listener = {
        reply: () => discard(session),
        end() {
          clearTimeout(deadline);
          resolve();
        },
      };
      say(session, 'QUIT');
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
      target: targetOf(session.route),
      address: session.address,
      tls: session.tls,
      tls_policy: session.route.tls_policy,
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
      target: failure.route ? targetOf(failure.route) : '',
      address: failure.address,
      tls: null,
      // Only where it is what kept the session from coming about.
      tls_policy: failure.tls_failed ? (failure.route?.tls_policy ?? null) : null,
      phases_ms: { connect: failure.connect_ms, tls: 0, mail: 0, data: 0 },
      stage: 'connect',
      transcript: failure.transcript,
    };
  }

  function notStarted(): SendOutcome {
    const route = options.routes().ranked[0] ?? null;
    return notConnected(notOpened({ route, error: stopped ? STOPPED : ABORTED }));
  }

  async function stop(): Promise<void> {
    stopped = true;
    for (const refuse of waiting.splice(0)) refuse(false);
    for (const session of [...idle]) retire(session);
    // A transaction that ends adds the closing of its session to the set.
    while (working.size > 0) await Promise.all(working);
  }

  return {
    send,
    laneOf: options.laneOf,
    stop,
    isEmpty: () => slots_taken === 0 && idle.length === 0 && working.size === 0,
  };
}

function isOpen(session: Session): session is OpenSession {
  return session.line !== null;
}

function targetOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function whereTo(route: SmtpRoute): string {
  return route.address === undefined ? targetOf(route) : `${targetOf(route)} (${route.address})`;
}

function notOpened(facts: Partial<NotOpened> & { readonly error: string }): NotOpened {
  return {
    ok: false,
    route: null,
    address: null,
    reply: null,
    tls_failed: false,
    connect_ms: 0,
    transcript: '',
    ...facts,
  };
}

/** What the answer to EHLO offers; nothing where only HELO was answered. */
function readAbilities(greeted: string): Abilities {
  const offers = (keyword: string) => new RegExp(`^250[ -]${keyword}(?:\\s|$)`, 'im').test(greeted);
  const max_size = Number(/^250[ -]SIZE[ \t]+(\d+)/im.exec(greeted)?.[1] ?? 0);
  return { pipelining: offers('PIPELINING'), smtputf8: offers('SMTPUTF8'), size: offers('SIZE'), max_size };
}

function mailCommand({ from, to }: Envelope, size: number, { size: sized, smtputf8 }: Abilities): string {
  const utf8 = smtputf8 && (NOT_ASCII.test(from) || NOT_ASCII.test(to)) ? ' SMTPUTF8' : '';
  return `MAIL FROM:<${from}>${utf8}${sized ? ` SIZE=${size}` : ''}`;
}

/** Why a mail is not offered to this server at all. */
function problemOf({ from, to }: Envelope, raw: Buffer, { max_size }: Abilities): Judgement | null {
  const unsent = { kind: 'deferred', reply: null, error: null, stage: 'mail', stale: false, in_step: true } as const;
  // Addresses were parsed long before; here one more command or parameter would slip in.
  if (NOT_IN_A_PATH.test(from)) return { ...unsent, error: 'The sender is no address.' };
  if (to === '' || NOT_IN_A_PATH.test(to)) return { ...unsent, error: 'The recipient is no address.' };
  if (max_size === 0 || raw.length <= max_size) return null;
  // In the words that the server would have used.
  const text = `Not sent: Message size larger than allowed ${max_size}`;
  return { ...unsent, kind: 'rejected', reply: { code: 552, enhanced: '5.3.4', text } };
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
