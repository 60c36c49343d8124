import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Reply } from '../outcome/reply.ts';
import { closeServer, listenOn } from '../smtp/listening-server.ts';

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

/** The SMTP server for programs that log in. */
export async function startSubmissionServer<Login extends object>(
  options: SubmissionServerOptions<Login>,
): Promise<SubmissionServer> {
  const logins = new Map<string, Login>();
  const taking = new Set<Promise<void>>();
  const disabled = [...(options.tls === null ? ['STARTTLS'] : [])];
  const server = new SMTPServer({
    name: options.name,
    banner: 'submission',
    secure: options.implicit,
    ...options.tls,
    disabledCommands: disabled,
    allowInsecureAuth: options.plaintext,
    authMethods: ['PLAIN', 'LOGIN'],
    disableReverseLookup: true,
    // The replies here bring their own.
    hideENHANCEDSTATUSCODES: true,
    size: options.max_bytes,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    maxClients: MOST_CLIENTS,
    logger: false,
    onAuth({ username, password }, session, callback) {
      options.onLogin(username ?? '', password ?? '', session.remoteAddress).then(
        (answer) => {
          if (isReply(answer)) return callback(smtpError(answer));
          logins.set(session.id, answer);
          callback(null, { user: username });
        },
        () => callback(smtpError(FAILED)),
      );
    },
    onRcptTo(_address, session, callback) {
      if (session.envelope.rcptTo.length < MOST_RECIPIENTS) callback();
      else callback(smtpError({ code: 452, enhanced: '4.5.3', text: `At most ${MOST_RECIPIENTS} recipients` }));
    },
    onClose: (session) => void logins.delete(session.id),
    onData(stream, session, callback) {
      const taken = take(stream, session).then(
        (reply) => (reply.code < 400 ? callback(null, line(reply)) : callback(smtpError(reply))),
        () => callback(smtpError(FAILED)),
      );
      taking.add(taken);
      void taken.finally(() => taking.delete(taken));
    },
  });
  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Reply> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
    const login = logins.get(session.id);
    // smtp-server refuses a mail that is too large, whatever the reply given here.
    if (stream.sizeExceeded || !login) return FAILED;
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    return options.onMail(login, { recipients, raw: Buffer.concat(chunks) }, session.remoteAddress);
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

function isReply(answer: object): answer is Reply {
  return 'code' in answer && typeof answer.code === 'number';
}

function line({ enhanced, text }: Reply): string {
  return enhanced ? `${enhanced} ${text}` : text;
}

function smtpError(reply: Reply): Error {
  return Object.assign(new Error(line(reply)), { responseCode: reply.code });
}
