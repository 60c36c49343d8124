import { isIP, type Socket } from 'node:net';
import SMTPConnection, { type SMTPError } from 'nodemailer/lib/smtp-connection';
import { cleanRemoteText, type Reply, readReply } from '../reply.ts';
import type { Envelope, Mailer, Raw, SendOutcome } from '../send-outcome.ts';
import { createDeadline } from './deadline.ts';
import { createReplyReader } from './reply-reader.ts';
import type { SmtpRoute, SmtpRoutes } from './route.ts';
import {
  describe,
  discard,
  emptyLog,
  isOpen,
  note,
  type OpenSession,
  readAbilities,
  type Session,
  SILENT,
  say,
  tlsFacts,
  transcriptOf,
} from './session.ts';
import { ABORTED, createDialogue, type Dialogue, type SmtpTimeouts, type Transaction } from './transaction.ts';

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
  prompt_ms: 1000,
  idle_ms: 30_000,
};
const MAX_MESSAGES_PER_CONNECTION = 100;
const MAX_REPLY_SIZE = 64 * 1024;
const QUIT_MS = 1000;
/** How long envelopes wait for their turn after one that was sent ahead has not been heard. */
const NO_RIDES_MS = 600_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

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

/** One call of send. */
interface Mail {
  readonly envelope: Envelope;
  readonly raw: Raw;
  readonly signal: AbortSignal;
  bytes: Buffer | null;
  is_being_made: boolean;
  /** It has a connection's place, or goes with a mail that has. */
  has_place: boolean;
  has_begun: boolean;
  dialogue: Dialogue<MadeMail> | null;
  /** The session that was opened for it. */
  opened: Opened | null;
  readonly onAbort: () => void;
  readonly resolve: (outcome: SendOutcome) => void;
  readonly reject: (error: unknown) => void;
}

type MadeMail = Mail & { readonly bytes: Buffer };

const IGNORE = () => undefined;
const STOPPED = 'The transport is stopped.';

/** Sends to one host over kept connections, one recipient per transaction. */
export function createSmtpTransport(options: SmtpTransportOptions): Mailer {
  const { host, port, secure, user, pass, helo_name, max_connections, timeouts } = options;
  const target = targetOf({ host, port });
  const on_this_machine = LOOPBACK.test(host);
  const checked = options.tls === 'required' || (Boolean(user) && !on_this_machine && options.tls !== 'none');
  const tls_policy = checked || secure ? 'required' : options.tls;
  const routes: SmtpRoutes = { ranked: [{ host, port, secure, tls: options.tls, checked, tls_policy }], notes: [] };
  const pool = createSessionPool({
    routes: () => routes,
    login: user ? { user, pass: pass ?? '', in_plaintext: options.tls === 'none' || on_this_machine } : undefined,
    helo_name,
    max_connections,
    timeouts,
    laneOf: (to) => (options.lane_by === 'domain' ? to.slice(to.lastIndexOf('@') + 1) : target),
  });
  // A server of one's own takes what it has connections for, and on each the envelope of the next mail.
  return { ...pool, width: 2 * max_connections };
}

/** Kept connections to servers that are as good as each other for this mail, one recipient per transaction. */
export function createSessionPool(options: SessionPoolOptions): SessionPool {
  const timeouts: SmtpTimeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const idle: Dialogue<MadeMail>[] = [];
  const waiting: Mail[] = [];
  const quieted: (() => void)[] = [];
  let places_taken = 0;
  let closing_count = 0;
  let no_rides_before = 0;
  let stopped = false;

  function send(envelope: Envelope, raw: Raw, signal: AbortSignal): Promise<SendOutcome> {
    if (stopped || signal.aborted) return Promise.resolve(notStarted());
    return new Promise((resolve, reject) => {
      const mail: Mail = {
        envelope,
        raw,
        signal,
        bytes: typeof raw === 'function' ? null : raw,
        is_being_made: false,
        has_place: false,
        has_begun: false,
        dialogue: null,
        opened: null,
        onAbort: () => abort(mail),
        resolve,
        reject,
      };
      signal.addEventListener('abort', mail.onAbort);
      if (takePlace()) start(mail);
      else {
        waiting.push(mail);
        makeAhead();
      }
    });
  }

  function takePlace(): boolean {
    if (places_taken >= options.max_connections) return false;
    places_taken++;
    return true;
  }

  function settle(mail: Mail, outcome: SendOutcome): void {
    mail.signal.removeEventListener('abort', mail.onAbort);
    mail.resolve(outcome);
  }

  function abort(mail: Mail): void {
    if (mail.dialogue && isMade(mail)) mail.dialogue.abort(mail);
    else if (takeFromLine(mail)) settle(mail, notStarted());
    // One that is being made, or that a session is being opened for, is looked at when that is done.
  }

  /** For a mail that has a place. */
  function start(mail: Mail): void {
    mail.has_place = true;
    if (isMade(mail)) go(mail);
    else make(mail);
  }

  function make(mail: Mail): void {
    if (isMade(mail) || mail.is_being_made) return;
    mail.is_being_made = true;
    bytesOf(mail.raw).then(
      (bytes) => {
        mail.bytes = bytes;
        if (mail.has_place && isMade(mail)) go(mail);
      },
      (error) => fail(mail, error),
    );
  }

  /** As many as may soon be sent, so that no session stands still for them. */
  function makeAhead(): void {
    for (let place = 0; place < options.max_connections; place++) {
      const mail = waiting[place];
      if (!mail) return;
      make(mail);
    }
  }

  function fail(mail: Mail, error: unknown): void {
    mail.signal.removeEventListener('abort', mail.onAbort);
    mail.reject(error);
    if (mail.has_place) passPlace();
    else takeFromLine(mail);
  }

  function go(mail: MadeMail): void {
    if (endAborted(mail)) return;
    const kept = takeIdle();
    if (kept) {
      mail.dialogue = kept;
      tellBegun(mail);
      kept.begin(mail);
    } else openFor(mail);
  }

  function tellBegun(mail: Mail): void {
    if (mail.has_begun) return;
    mail.has_begun = true;
    mail.envelope.begun?.();
  }

  function endAborted(mail: Mail): boolean {
    if (!mail.signal.aborted) return false;
    settle(mail, notStarted());
    passPlace();
    return true;
  }

  function openFor(mail: MadeMail): void {
    mail.dialogue = null;
    if (endAborted(mail)) return;
    tellBegun(mail);
    open(mail.signal).then(
      (opened) => {
        if (!opened.ok) {
          settle(mail, notConnected(opened));
          passPlace();
          return;
        }
        mail.opened = opened;
        mail.dialogue = dialogueOn(opened.session);
        mail.dialogue.begin(mail);
      },
      (error) => fail(mail, error),
    );
  }

  function dialogueOn(session: OpenSession): Dialogue<MadeMail> {
    const dialogue: Dialogue<MadeMail> = createDialogue<MadeMail>(
      session,
      {
        next: (fits) => riderFor(dialogue, fits),
        begun: tellBegun,
        settled: (mail, result) => settle(mail, outcomeOf(session, result, mail.opened)),
        free: (accepted) => release(dialogue, accepted),
        gone(untouched) {
          // Nothing of it was answered, so that a fresh connection cannot make a second copy.
          if (untouched) openFor(untouched);
          else passPlace();
        },
        back(mail) {
          mail.dialogue = null;
          mail.has_place = false;
          if (takePlace()) start(mail);
          else waiting.unshift(mail);
        },
        unheard() {
          no_rides_before = performance.now() + NO_RIDES_MS;
        },
      },
      timeouts,
    );
    return dialogue;
  }

  function riderFor(dialogue: Dialogue<MadeMail>, fits: (mail: MadeMail) => boolean): MadeMail | null {
    if (waiting.length === 0 || dialogue.session.message_count >= MAX_MESSAGES_PER_CONNECTION) return null;
    if (performance.now() < no_rides_before) return null;
    for (const mail of waiting) {
      if (!isMade(mail) || !fits(mail)) continue;
      takeFromLine(mail);
      mail.has_place = true;
      mail.dialogue = dialogue;
      return mail;
    }
    return null;
  }

  function takeFromLine(mail: Mail): boolean {
    const place = waiting.indexOf(mail);
    if (place < 0) return false;
    waiting.splice(place, 1);
    makeAhead();
    return true;
  }

  function passPlace(): void {
    const next = waiting.find(isMade) ?? waiting[0];
    if (next) {
      takeFromLine(next);
      start(next);
      return;
    }
    places_taken--;
    tellIfQuiet();
  }

  function isQuiet(): boolean {
    return places_taken === 0 && closing_count === 0;
  }

  function tellIfQuiet(): void {
    if (isQuiet()) for (const tell of quieted.splice(0)) tell();
  }

  function takeIdle(): Dialogue<MadeMail> | undefined {
    for (let dialogue = idle.pop(); dialogue; dialogue = idle.pop()) {
      countKept(-1);
      if (!dialogue.session.ended) return dialogue;
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
        opened.session.log.lines.unshift(...story);
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
      log: emptyLog(),
    };
    session.idle_timer.unref();

    // Whoever may read a transcript need not know how the operator logs in to the relay.
    let logging_in = false;
    function observe(entry: unknown, line: unknown): void {
      if (typeof line !== 'string' || typeof entry !== 'object' || entry === null || !('tnx' in entry)) return;
      if (entry.tnx === 'server') {
        logging_in &&= line.startsWith('3');
        note(session.log, 'S', logging_in ? '334 ***' : line);
        session.listener.reply?.(line);
      } else if (entry.tnx === 'client') {
        logging_in ||= line.startsWith('AUTH ');
        note(session.log, 'C', logging_in ? 'AUTH ***' : line);
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
      session.line?.deadline.stop();
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
          transcript: transcriptOf(session.log),
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
   * From here on the session is spoken by transaction.ts: a reply is read, and a mail written, in one piece each,
   * which costs a third of what the library's streams and queues do. It keeps watching over the end of the socket.
   */
  function takeOver(session: Session, socket: Socket, greeted: string): OpenSession {
    const replies = createReplyReader(
      (text) => {
        note(session.log, 'S', text);
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
    const deadline = createDeadline(() => session.listener.expire?.());
    return Object.assign(session, { line: { socket, replies, abilities: readAbilities(greeted), deadline } });
  }

  /** Puts the session back for the next mail, or closes it. */
  function release(dialogue: Dialogue<MadeMail>, accepted: boolean): void {
    const { session } = dialogue;
    const { kept } = options;
    const too_many = kept !== undefined && kept.count >= kept.most && waiting.length === 0;
    if (session.message_count >= MAX_MESSAGES_PER_CONNECTION || stopped || too_many) {
      retire(session);
      passPlace();
    } else if (accepted) {
      keep(dialogue);
      passPlace();
    } else reset(dialogue);
  }

  function reset(dialogue: Dialogue<MadeMail>): void {
    const { session } = dialogue;
    const { deadline } = session.line;
    const end = (failed: boolean) => {
      deadline.clear();
      session.listener = SILENT;
      if (failed) discard(session);
      else if (stopped) retire(session);
      else keep(dialogue);
      passPlace();
    };
    session.listener = { reply: (text) => end(!text.startsWith('2')), end: () => end(true), expire: () => end(true) };
    deadline.set(timeouts.command_ms);
    say(session, 'RSET');
  }

  function keep(dialogue: Dialogue<MadeMail>): void {
    dialogue.session.log = emptyLog();
    dialogue.session.idle_timer.refresh();
    idle.push(dialogue);
    countKept(1);
  }

  function takeOut(session: Session): boolean {
    const place = idle.findIndex((dialogue) => dialogue.session === session);
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
    if (session.ended || !isOpen(session)) return;
    const { deadline } = session.line;
    closing_count++;
    session.listener = {
      reply: () => discard(session),
      end() {
        session.listener = SILENT;
        closing_count--;
        tellIfQuiet();
      },
      expire: () => discard(session),
    };
    deadline.set(QUIT_MS);
    say(session, 'QUIT');
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
      transcript: result.transcript,
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
    for (const mail of waiting.splice(0)) settle(mail, notStarted());
    for (const { session } of [...idle]) retire(session);
    if (!isQuiet()) await new Promise<void>((resolve) => quieted.push(resolve));
  }

  return { send, laneOf: options.laneOf, stop, isEmpty: () => isQuiet() && idle.length === 0 };
}

function isMade(mail: Mail): mail is MadeMail {
  return mail.bytes !== null;
}

async function bytesOf(raw: Raw): Promise<Buffer> {
  return typeof raw === 'function' ? raw() : raw;
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
