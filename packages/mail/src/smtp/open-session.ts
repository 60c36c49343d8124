import type { Socket } from 'node:net';
import { cleanRemoteText } from '@postrider/net';
import SMTPConnection, { type SMTPError } from 'nodemailer/lib/smtp-connection';
import { type Reply, readReply } from '../outcome/reply.ts';
import { createDeadline } from './deadline.ts';
import { ABORTED } from './judgement.ts';
import { createReplyReader } from './reply-reader.ts';
import { type SmtpRoute, type SmtpRoutes, targetOf } from './route.ts';
import {
  describe,
  discard,
  emptyLog,
  note,
  type OpenSession,
  readAbilities,
  type Session,
  SILENT,
  tlsFacts,
  transcriptOf,
} from './session.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export interface SessionSettings {
  /** The routes that a new connection may use now, best first. */
  routes(): SmtpRoutes;
  readonly login?: { readonly user: string; readonly pass: string; readonly in_plaintext: boolean } | undefined;
  readonly helo_name: string;
  readonly timeouts: SmtpTimeouts;
}

/** Receives the events of a session between two messages. */
export interface SessionWatcher {
  /** Called when the idle timer fires. The timer also runs while the session is working. */
  idled(session: Session): void;
  /** Called when the connection is closed. */
  ended(session: Session): void;
}

export interface OpenedSession {
  readonly ok: true;
  readonly session: OpenSession;
  readonly connect_ms: number;
  readonly tls_ms: number;
}

/** The steps of a handshake at which it can fail. */
export type HandshakeStep = 'connect' | 'tls' | 'sign_in';

export interface NotOpened {
  readonly ok: false;
  readonly failed_at: HandshakeStep;
  readonly route: SmtpRoute | null;
  readonly address: string | null;
  readonly error: string;
  readonly reply: Reply | null;
  readonly tls_failed: boolean;
  readonly connect_ms: number;
  readonly transcript: string;
}

/** One attempt at one route. */
interface Attempt {
  readonly settings: SessionSettings;
  readonly watcher: SessionWatcher;
  readonly route: SmtpRoute;
  readonly signal: AbortSignal;
}

const MAX_REPLY_SIZE = 64 * 1024;
const MAX_SILENT = 1.5;
/** The limit for connecting to a host without its own dial function, which is a relay in DELIVERY. */
const CONNECT_MS = 30_000;
/** Disables a timeout of the library, because the handshake has its own limit. */
const NEVER_MS = 2_000_000_000;
const IGNORE = () => undefined;

/** Opens a session on the first route that provides one. If several routes fail, the error names each of them. */
export async function openSession(
  settings: SessionSettings,
  watcher: SessionWatcher,
  signal: AbortSignal,
): Promise<OpenedSession | NotOpened> {
  const { ranked, notes } = settings.routes();
  const failures: NotOpened[] = [];
  const started = performance.now();
  const lines = [...notes];
  const story = notes.map((note) => `-- ${note}`);
  for (const route of ranked) {
    const opened = await openRoute({ settings, watcher, route, signal });
    if (opened.ok) {
      opened.session.log.lines.unshift(...story);
      return opened;
    }
    failures.push(opened);
    const problem = `${whereTo(route)}: ${opened.error}`;
    lines.push(problem);
    if (opened.transcript !== '') story.push(opened.transcript.trimEnd());
    if (ranked.length > 1) story.push(`-- ${problem}`);
    // After a silent server, a second server is tried, but not a third.
    if (signal.aborted || performance.now() - started > MAX_SILENT * settings.timeouts.greeting_ms) break;
  }
  const [last] = failures.slice(-1);
  return notOpened({
    ...last,
    error: last && lines.length === 1 ? last.error : cleanRemoteText(lines.join('; ')) || 'No server to connect to.',
    reply: failures.find((failure) => failure.reply !== null)?.reply ?? null,
    tls_failed: failures.some((failure) => failure.tls_failed),
    connect_ms: failures.reduce((sum, failure) => sum + failure.connect_ms, 0),
    transcript: story.map((line) => `${line}\n`).join(''),
  });
}

export function notOpened(facts: Partial<NotOpened> & { readonly error: string }): NotOpened {
  return {
    ok: false,
    failed_at: 'connect',
    route: null,
    address: null,
    reply: null,
    tls_failed: false,
    connect_ms: 0,
    transcript: '',
    ...facts,
  };
}

/** Connects, upgrades and logs in. If opportunistic TLS fails, tries again in plaintext. */
async function openRoute(attempt: Attempt): Promise<OpenedSession | NotOpened> {
  const { route, signal } = attempt;
  const opened = await connect(attempt, { use_tls: route.tls !== 'none' });
  if (opened.ok || !opened.tls_failed || signal.aborted) return opened;
  if (route.tls !== 'opportunistic' || route.secure || route.checked) return opened;
  return await connect(attempt, { use_tls: false });
}

async function connect(attempt: Attempt, security: { use_tls: boolean }): Promise<OpenedSession | NotOpened> {
  const { route, signal } = attempt;
  if (!route.dial) return new Handshake(attempt, null, security).run();
  const started = performance.now();
  const dialled = await route.dial(signal);
  const dial_ms = performance.now() - started;
  if (!dialled.ok) return notOpened({ route, error: dialled.error, connect_ms: dial_ms });
  const opened = await new Handshake(attempt, dialled.socket, security).run();
  return { ...opened, connect_ms: opened.connect_ms + dial_ms };
}

/** Takes a connection to a session that can accept messages: greeting, EHLO, STARTTLS and login. */
class Handshake {
  readonly #attempt: Attempt;
  readonly #session: Session;
  /** The address of the socket that was dialed for the handshake; null if the library dials. */
  readonly #remote_address: string | null;
  readonly #done = Promise.withResolvers<OpenedSession | NotOpened>();
  readonly #onAbort = () => this.#fail(ABORTED, null);
  #started = 0;
  #deadline: NodeJS.Timeout | undefined;
  #tls_started = 0;
  #tls_ms = 0;
  /** The command that awaits its reply. */
  #said = '';
  /** The last reply to EHLO. */
  #greeted = '';
  #step: HandshakeStep = 'connect';

  constructor(attempt: Attempt, socket: Socket | null, security: { use_tls: boolean }) {
    this.#attempt = attempt;
    this.#session = startSession(attempt, socket, security);
    this.#remote_address = socket?.remoteAddress ?? null;
  }

  run(): Promise<OpenedSession | NotOpened> {
    const { signal } = this.#attempt;
    this.#started = performance.now();
    this.#allow();
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#session.listener = {
      command: (line) => this.#onCommand(line),
      reply: (text) => this.#onReply(text),
      end: (error) => this.#fail(null, error),
    };
    this.#session.connection.connect((error) => {
      if (error) this.#fail(null, error);
      else this.#login();
    });
    return this.#done.promise;
  }

  /** Sets the time limit for the next reply. */
  #allow(): void {
    const { settings, route } = this.#attempt;
    const { greeting_ms } = settings.timeouts;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      route.noteSilent?.();
      this.#fail(`No reply within ${greeting_ms} ms.`, null);
    }, greeting_ms);
  }

  #onCommand(line: string): void {
    this.#said = line;
    if (line === 'STARTTLS') {
      this.#tls_started = performance.now();
      this.#step = 'tls';
    } else if (this.#tls_started > 0 && this.#tls_ms === 0) this.#tls_ms = performance.now() - this.#tls_started;
  }

  #onReply(text: string): void {
    this.#allow();
    if (this.#said.startsWith('EHLO ')) this.#greeted = text;
    this.#said = '';
  }

  #login(): void {
    const { login } = this.#attempt.settings;
    const { connection } = this.#session;
    if (!login) {
      this.#succeed();
      return;
    }
    if (!connection.secure && !login.in_plaintext) {
      this.#step = 'tls';
      this.#fail('The server does not offer TLS, and credentials are not sent without it.', null);
      return;
    }
    this.#step = 'sign_in';
    connection.login({ user: login.user, pass: login.pass }, (refusal) => {
      if (refusal) this.#fail(null, refusal);
      else this.#succeed();
    });
  }

  #settle(): void {
    clearTimeout(this.#deadline);
    this.#attempt.signal.removeEventListener('abort', this.#onAbort);
    this.#session.listener = SILENT;
  }

  #fail(message: string | null, error: SMTPError | null): void {
    this.#settle();
    discard(this.#session);
    this.#done.resolve({
      ok: false,
      failed_at: this.#step,
      route: this.#attempt.route,
      address: this.#remote_address,
      error: message ?? describe(error),
      reply: error?.response ? readReply(error.response) : null,
      tls_failed: this.#tls_started > 0 && !this.#session.connection.secure,
      connect_ms: performance.now() - this.#started,
      transcript: transcriptOf(this.#session.log),
    });
  }

  #succeed(): void {
    this.#settle();
    const socket = this.#session.connection._socket;
    if (!socket) {
      this.#fail('The connection was closed.', null);
      return;
    }
    const session = takeOver(this.#session, socket, this.#greeted);
    session.tls = tlsFacts(socket);
    session.address = socket.remoteAddress ?? null;
    const connect_ms = performance.now() - this.#started - this.#tls_ms;
    this.#done.resolve({ ok: true, session, connect_ms, tls_ms: this.#tls_ms });
  }
}

/** Creates a session, with its idle timer and watcher, whose connection is not opened yet. */
function startSession(attempt: Attempt, socket: Socket | null, { use_tls }: { use_tls: boolean }): Session {
  const { settings, watcher, route } = attempt;
  const { helo_name, timeouts } = settings;
  const required = route.checked && !route.secure;
  const observe = createTranscriber(() => session);
  const connection = new SMTPConnection({
    ...(socket && { connection: socket }),
    host: route.host,
    port: route.port,
    secure: route.secure,
    name: helo_name,
    ignoreTLS: !use_tls,
    requireTLS: required && use_tls,
    opportunisticTLS: !required,
    tls: { rejectUnauthorized: route.checked },
    // This timeout covers everything up to the end of STARTTLS, so it also shortens the time for the greeting. A socket
    // that is passed in is already open.
    connectionTimeout: socket ? NEVER_MS : Math.min(timeouts.greeting_ms, CONNECT_MS),
    greetingTimeout: NEVER_MS,
    dnsTimeout: Math.min(timeouts.greeting_ms, CONNECT_MS),
    socketCloseTimeout: 0,
    maxResponseSize: MAX_REPLY_SIZE,
    allowInternalNetworkInterfaces: true,
    transactionLog: true,
    logger: { debug: observe, trace: IGNORE, info: IGNORE, warn: IGNORE, error: IGNORE, fatal: IGNORE },
  });
  const session: Session = {
    connection,
    line: null,
    route,
    idle_timer: setTimeout(() => watcher.idled(session), timeouts.idle_ms),
    tls: null,
    address: null,
    message_count: 0,
    ended: false,
    listener: SILENT,
    log: emptyLog(),
  };
  session.idle_timer.unref();
  connection.on('error', (error: SMTPError) => {
    session.ended = true;
    session.listener.end?.(error);
  });
  connection.on('end', () => {
    session.ended = true;
    clearTimeout(session.idle_timer);
    session.line?.deadline.stop();
    watcher.ended(session);
    session.listener.end?.(null);
  });
  return session;
}

/** Writes the library's log to the transcript of a session, without credentials. */
function createTranscriber(sessionOf: () => Session): (entry: unknown, line: unknown) => void {
  // A transcript is visible to people who should not know how the operator logs in to the relay.
  let logging_in = false;
  return (entry, line) => {
    if (typeof line !== 'string' || typeof entry !== 'object' || entry === null || !('tnx' in entry)) return;
    const session = sessionOf();
    if (entry.tnx === 'server') {
      logging_in &&= line.startsWith('3');
      note(session.log, 'S', logging_in ? '334 ***' : line);
      session.listener.reply?.(line);
    } else if (entry.tnx === 'client') {
      logging_in ||= line.startsWith('AUTH ');
      note(session.log, 'C', logging_in ? 'AUTH ***' : line);
      session.listener.command?.(line);
    }
  };
}

/**
 * Hands the socket to dialogue.ts, which uses it directly: each reply is read, and each message written, in one piece,
 * which costs a third as much as the library's streams and queues. The library still watches for the end of the socket.
 */
function takeOver(session: Session, socket: Socket, greeted: string): OpenSession {
  const replies = createReplyReader(
    (text) => {
      note(session.log, 'S', text);
      if (session.listener.reply) session.listener.reply(text);
      // Anything a server sends to an idle session, such as 421, ends it.
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
  const deadline = createDeadline(() => session.listener.expire?.());
  return Object.assign(session, { line: { socket, replies, abilities: readAbilities(greeted), deadline } });
}

function whereTo(route: SmtpRoute): string {
  return route.address === undefined ? targetOf(route) : `${targetOf(route)} (${route.address})`;
}
