import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { Reply } from '../outcome/reply.ts';
import { closeServer, listenOn, StoringMail } from '../smtp/listening-server.ts';
import type { SharedPlaces } from '../smtp/shared-places.ts';
import { boundStrangers, type ClientBounds, clientBounds, createGatherer } from './client-bounds.ts';

/** A message submitted by a program. */
export interface SubmittedMail {
  readonly recipients: readonly string[];
  readonly raw: Buffer;
}

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

export interface SubmissionServerOptions<Login> {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly name: string;
  /** The certificate for STARTTLS, or for TLS from the first byte if `implicit`. */
  readonly tls: Certificate | null;
  readonly implicit: boolean;
  /** Whether a password may be sent without TLS, which requires every client to be on this machine. */
  readonly plaintext: boolean;
  readonly max_bytes: number;
  readonly bounds?: Partial<ClientBounds>;
  /** Connections that have not logged in, by client address. */
  readonly strangers: SharedPlaces;
  /** Connections that have logged in, by sender. */
  readonly clients: SharedPlaces;
  /** Bytes of messages that are being read or stored, by sender. */
  readonly bytes: SharedPlaces;
  /** Returns the sender of a login. All logins of a sender share one allowance. */
  senderOf(login: Login): string;
  onLogin(user: string, password: string, address: string): Promise<Login | Reply>;
  /** Returns the reply to the end of the data. If this rejects, the reply is 451. */
  onMail(login: Login, mail: SubmittedMail, address: string): Promise<Reply>;
}

/** A session that has logged in. */
interface Session<Login> {
  readonly login: Login;
  readonly sender: string;
  /** When the session last named a sender or recipient, or finished a message. */
  active_at: number;
  has_data: boolean;
}

export interface SubmissionServer {
  readonly port: number;
  /** Replaces the certificate for new connections. */
  useCertificate(tls: Certificate): void;
  stop(): Promise<void>;
}

const IDLE_MS = 300_000;
/** Includes rejected clients that have not disconnected yet. */
const MAX_CLIENTS = 450;
// The maximum number of recipients of a message.
const MAX_RECIPIENTS = 1000;
const FAILED: Reply = { code: 451, enhanced: '4.3.0', text: 'The email could not be accepted now; try again' };
const FULL: Reply = {
  code: 451,
  enhanced: '4.3.1',
  text: 'Too much email from this workspace is being read; try again later',
};
const CROWDED: Reply = { code: 421, enhanced: '4.7.0', text: 'Too many connections from this workspace' };
const IDLE: Reply = { code: 421, enhanced: '4.4.2', text: 'Idle for too long while others are waiting; reconnect' };
const SLOW: Reply = { code: 421, enhanced: '4.4.2', text: 'The message took too long to arrive' };

/** Starts the SMTP server for programs that log in. */
export async function startSubmissionServer<Login extends object>(
  options: SubmissionServerOptions<Login>,
): Promise<SubmissionServer> {
  const bounds = { ...clientBounds, ...options.bounds };
  const { clients, bytes } = options;
  const sessions = new Map<string, Session<Login>>();
  const storing = new StoringMail();
  const server = new SMTPServer({
    ...limitsOf(options),
    onAuth({ username, password }, session, callback) {
      options.onLogin(username ?? '', password ?? '', session.remoteAddress).then(
        (reply) => {
          if (isReply(reply)) return callback(smtpError(reply));
          const sender = options.senderOf(reply);
          // If the client disconnected meanwhile, its close is not reported again.
          if (![...server.connections].some(({ id }) => id === session.id)) return callback(smtpError(FAILED));
          // A session may log in a second time, because STARTTLS ends the first login.
          leave(session.id);
          if (sessions.size >= bounds.crowd) closeIdle();
          if (!clients.take(sender)) return callback(smtpError(CROWDED));
          sessions.set(session.id, { login: reply, sender, active_at: performance.now(), has_data: false });
          strangers.forget(session);
          callback(null, { user: username });
        },
        () => callback(smtpError(FAILED)),
      );
    },
    onMailFrom(_address, session, callback) {
      touch(session.id);
      callback();
    },
    onRcptTo(_address, session, callback) {
      touch(session.id);
      if (session.envelope.rcptTo.length < MAX_RECIPIENTS) callback();
      else callback(smtpError({ code: 452, enhanced: '4.5.3', text: `At most ${MAX_RECIPIENTS} recipients` }));
    },
    onClose(session) {
      leave(session.id);
      strangers.forget(session);
    },
    onData(stream, session, callback) {
      take(stream, session).then(
        (reply) => (reply.code < 400 ? callback(null, line(reply)) : callback(smtpError(reply))),
        () => callback(smtpError(FAILED)),
      );
    },
  });
  const strangers = boundStrangers(server.server, bounds.login_ms, options.strangers);

  function leave(session_id: string): void {
    const session = sessions.get(session_id);
    if (session) clients.give(session.sender);
    sessions.delete(session_id);
  }

  function touch(session_id: string): void {
    const session = sessions.get(session_id);
    if (session) session.active_at = performance.now();
  }

  function closeIdle(): void {
    const since = performance.now() - bounds.idle_ms;
    for (const [id, { has_data, active_at }] of sessions) {
      if (has_data || active_at > since) continue;
      leave(id);
      cut(server, id, IDLE);
    }
  }

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Reply> {
    const login_session = sessions.get(session.id);
    const raw = createGatherer();
    let buffered = 0;
    let full = false;
    const giveBack = () => {
      if (login_session) bytes.give(login_session.sender, buffered);
      buffered = 0;
    };
    const deadline = setTimeout(() => cut(server, session.id, SLOW), bounds.mail_ms).unref();
    if (login_session) login_session.has_data = true;
    try {
      for await (const chunk of stream) {
        const { length } = chunk as Buffer;
        // The rest of a rejected message is read but discarded, because the reply comes after its end.
        if (stream.sizeExceeded) giveBack();
        else full ||= !login_session || !bytes.take(login_session.sender, length);
        if (full || stream.sizeExceeded) continue;
        buffered += length;
        raw.add(chunk as Buffer);
      }
      clearTimeout(deadline);
      // smtp-server rejects a message that is too large, regardless of the reply given here.
      if (stream.sizeExceeded || !login_session) return FAILED;
      if (full) return FULL;
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const mail = { recipients, raw: raw.all() };
      return await storing.run(session.id, () => options.onMail(login_session.login, mail, session.remoteAddress));
    } finally {
      clearTimeout(deadline);
      giveBack();
      if (login_session) login_session.has_data = false;
      touch(session.id);
    }
  }

  const port = await listenOn(server, options.host, options.port);
  return {
    port,
    useCertificate: (tls) => server.updateSecureContext({ ...tls }),
    async stop() {
      await closeServer(server, storing);
    },
  };
}

type Limits = Pick<SubmissionServerOptions<never>, 'name' | 'implicit' | 'tls' | 'plaintext' | 'max_bytes'>;

function limitsOf({ name, implicit, tls, plaintext, max_bytes }: Limits): SMTPServerOptions {
  return {
    name,
    banner: 'submission',
    secure: implicit,
    ...tls,
    disabledCommands: tls === null ? ['STARTTLS'] : [],
    allowInsecureAuth: plaintext,
    authMethods: ['PLAIN', 'LOGIN'],
    disableReverseLookup: true,
    // The replies here include their own enhanced status codes.
    hideENHANCEDSTATUSCODES: true,
    size: max_bytes,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    maxClients: MAX_CLIENTS,
    logger: false as const,
  };
}

function cut(server: SMTPServer, session_id: string, reply: Reply): void {
  for (const connection of server.connections) {
    if (connection.id !== session_id) continue;
    connection.send(reply.code, line(reply));
    connection.close();
  }
}

function isReply(reply: object): reply is Reply {
  return 'code' in reply && typeof reply.code === 'number';
}

function line({ enhanced, text }: Reply): string {
  return enhanced ? `${enhanced} ${text}` : text;
}

function smtpError(reply: Reply): Error {
  return Object.assign(new Error(line(reply)), { responseCode: reply.code });
}
