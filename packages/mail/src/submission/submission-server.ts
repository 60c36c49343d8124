import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { Reply } from '../outcome/reply.ts';
import { closeServer, listenOn } from '../smtp/listening-server.ts';
import { boundStrangers, type ClientBounds, clientBounds, createGatherer, createShares } from './client-bounds.ts';

/** A mail as a program handed it in. */
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
  /** 0 for any free port. */
  readonly port: number;
  readonly name: string;
  /** For STARTTLS, or for TLS from the first byte where `implicit`. */
  readonly tls: Certificate | null;
  readonly implicit: boolean;
  /** Whether a password may be sent without TLS: only where every client is on this machine. */
  readonly plaintext: boolean;
  readonly max_bytes: number;
  readonly bounds?: Partial<ClientBounds>;
  /** Logins of one sender share its bounds. */
  senderOf(login: Login): string;
  onLogin(user: string, password: string, address: string): Promise<Login | Reply>;
  /** The reply to the end of the data; a rejection is answered with 451. */
  onMail(login: Login, mail: SubmittedMail, address: string): Promise<Reply>;
}

export interface SubmissionServer {
  readonly port: number;
  /** For connections from now on. */
  useCertificate(tls: Certificate): void;
  stop(): Promise<void>;
}

const IDLE_MS = 300_000;
const MOST_CLIENTS = 200;
// As many as a message may have.
const MOST_RECIPIENTS = 1000;
const FAILED: Reply = { code: 451, enhanced: '4.3.0', text: 'The mail could not be accepted now; try again' };
const FULL: Reply = { code: 451, enhanced: '4.3.1', text: 'Too much mail is being read; try again later' };
const CROWDED: Reply = { code: 421, enhanced: '4.7.0', text: 'Too many connections with this key; use fewer' };
const SLOW: Reply = { code: 421, enhanced: '4.4.2', text: 'The mail takes too long to arrive' };

/** The SMTP server for programs that log in. */
export async function startSubmissionServer<Login extends object>(
  options: SubmissionServerOptions<Login>,
): Promise<SubmissionServer> {
  const bounds = { ...clientBounds, ...options.bounds };
  const [bytes, connections] = [
    createShares(bounds.bytes, bounds.bytes_of_sender),
    createShares(MOST_CLIENTS, bounds.connections_of_sender),
  ];
  const logins = new Map<string, { readonly login: Login; readonly sender: string }>();
  const taking = new Set<Promise<void>>();
  const server = new SMTPServer({
    ...limitsOf(options),
    onAuth({ username, password }, session, callback) {
      options.onLogin(username ?? '', password ?? '', session.remoteAddress).then(
        (answer) => {
          if (isReply(answer)) return callback(smtpError(answer));
          const sender = options.senderOf(answer);
          // A client that left meanwhile will not be closed a second time.
          if (![...server.connections].some(({ id }) => id === session.id)) return callback(smtpError(FAILED));
          // A second login, as STARTTLS ends the first.
          leave(session.id);
          if (!connections.take(sender, 1)) return callback(smtpError(CROWDED));
          logins.set(session.id, { login: answer, sender });
          strangers.forget(session);
          callback(null, { user: username });
        },
        () => callback(smtpError(FAILED)),
      );
    },
    onRcptTo(_address, session, callback) {
      if (session.envelope.rcptTo.length < MOST_RECIPIENTS) callback();
      else callback(smtpError({ code: 452, enhanced: '4.5.3', text: `At most ${MOST_RECIPIENTS} recipients` }));
    },
    onClose(session) {
      leave(session.id);
      strangers.forget(session);
    },
    onData(stream, session, callback) {
      const taken = take(stream, session).then(
        (reply) => (reply.code < 400 ? callback(null, line(reply)) : callback(smtpError(reply))),
        () => callback(smtpError(FAILED)),
      );
      taking.add(taken);
      void taken.finally(() => taking.delete(taken));
    },
  });
  const strangers = boundStrangers(server.server, bounds);

  function leave(session_id: string): void {
    const left = logins.get(session_id);
    if (left) connections.give(left.sender, 1);
    logins.delete(session_id);
  }

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Reply> {
    const known = logins.get(session.id);
    const raw = createGatherer();
    let held = 0;
    let full = false;
    const giveBack = () => {
      if (known) bytes.give(known.sender, held);
      held = 0;
    };
    const deadline = setTimeout(() => cut(session.id), bounds.mail_ms).unref();
    try {
      for await (const chunk of stream) {
        const { length } = chunk as Buffer;
        // The rest of what is refused is read, because the reply comes after its end, but not kept.
        if (stream.sizeExceeded) giveBack();
        else full ||= !known || !bytes.take(known.sender, length);
        if (full || stream.sizeExceeded) continue;
        held += length;
        raw.add(chunk as Buffer);
      }
      clearTimeout(deadline);
      // smtp-server refuses a mail that is too large, whatever the reply given here.
      if (stream.sizeExceeded || !known) return FAILED;
      if (full) return FULL;
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      return await options.onMail(known.login, { recipients, raw: raw.all() }, session.remoteAddress);
    } finally {
      clearTimeout(deadline);
      giveBack();
    }
  }

  function cut(session_id: string): void {
    for (const connection of server.connections) {
      if (connection.id !== session_id) continue;
      connection.send(SLOW.code, line(SLOW));
      connection.close();
    }
  }

  const port = await listenOn(server, options.host, options.port);
  return {
    port,
    useCertificate: (tls) => server.updateSecureContext({ ...tls }),
    async stop() {
      await closeServer(server, taking);
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
    // The replies here bring their own.
    hideENHANCEDSTATUSCODES: true,
    size: max_bytes,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    maxClients: MOST_CLIENTS,
    logger: false as const,
  };
}

function isReply(answer: object): answer is Reply {
  return 'code' in answer && typeof answer.code === 'number';
}

function line({ enhanced, text }: Reply): string {
  return enhanced ? `${enhanced} ${text}` : text;
}

function smtpError(reply: Reply): Error {
  return Object.assign(new Error(line(reply)), { responseCode: reply.code });
}
