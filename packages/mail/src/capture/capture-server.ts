import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { Reply } from '../outcome/reply.ts';
import { ClientPlaces } from '../smtp/client-places.ts';
import { closeServer, listenOn, StoringMail } from '../smtp/listening-server.ts';
import type { SharedPlaces } from '../smtp/shared-places.ts';

export interface CapturedMail {
  readonly envelope_from: string;
  readonly envelope_to: string[];
  readonly raw: Buffer;
}

/** A script's decision at one point of the session; `cut` closes the connection without a reply. */
export type CaptureVerdict =
  | { readonly kind: 'accept' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'refuse'; readonly reply: Reply };

/** Makes the server behave like other servers. Without a script, it accepts everything. */
export interface CaptureScript {
  /** Called at RCPT. The signal aborts the wait when the server stops. */
  on_recipient(recipient: string, signal: AbortSignal): Promise<CaptureVerdict>;
  /** Called at the end of DATA. Only accepted messages are passed to on_mail. */
  on_content(mail: CapturedMail): CaptureVerdict;
  /** Called after on_mail has stored the message, before the 250 is sent. */
  on_stored(mail: CapturedMail): void;
}

export interface CaptureServerOptions {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  /** Stores a message. The server replies with 250 once this has resolved, and with 451 if it rejects. */
  on_mail(mail: CapturedMail, login: string | null): Promise<void>;
  /**
   * Lets clients log in with AUTH. Returns the login that a password identifies, or the rejection; 421 closes the
   * connection. Without this function, only clients on this machine may send.
   */
  on_login?(password: string, address: string): Promise<string | Reply>;
  readonly script?: CaptureScript;
  /** Limits connections by client address. Without it, connections are unlimited. */
  readonly places?: SharedPlaces;
}

export interface CaptureServer {
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_MAIL_BYTES = 25 * 1024 * 1024;
const IDLE_MS = 60_000;
/** Includes rejected clients that have not disconnected yet. */
const MAX_CLIENTS = 100;
const FAILED: Reply = { code: 451, enhanced: '4.3.0', text: 'The message could not be stored' };

/**
 * Starts an SMTP server for this machine that accepts any sender and recipient, without TLS. Requires no login unless
 * on_login is given.
 */
export async function startCaptureServer(options: CaptureServerOptions): Promise<CaptureServer> {
  const { script } = options;
  const storing = new StoringMail();
  const stopped = new AbortController();
  const server = new SMTPServer({
    name: 'postrider',
    banner: 'capture',
    authOptional: true,
    disabledCommands: options.on_login ? ['STARTTLS'] : ['AUTH', 'STARTTLS'],
    // The listener is for this machine; programs elsewhere connect through a tunnel.
    allowInsecureAuth: true,
    ...(options.on_login && loginBy(options.on_login)),
    disableReverseLookup: true,
    // smtp-server puts its own code before every text, but a script has its own codes.
    hideENHANCEDSTATUSCODES: script !== undefined,
    size: MAX_MAIL_BYTES,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    logger: false,
    ...(options.places && boundedBy(options.places)),
    ...(script && {
      onRcptTo({ address }, session, callback) {
        script.on_recipient(address, stopped.signal).then(
          (verdict) => reply(verdict, session, callback),
          () => callback(refusal(FAILED)),
        );
      },
    }),
    onData(stream, session, callback) {
      store(stream, session).then(
        (verdict) => reply(verdict, session, (error) => callback(error, script ? '2.6.0 captured' : 'captured')),
        () => callback(refusal(FAILED)),
      );
    },
  });
  function reply(verdict: CaptureVerdict, session: SMTPServerSession, callback: (error: Error | null) => void): void {
    if (verdict.kind === 'accept') callback(null);
    else if (verdict.kind === 'refuse') callback(refusal(verdict.reply));
    else for (const connection of server.connections) if (connection.session === session) connection.close();
  }

  function refusal({ code, enhanced, text }: Reply): Error {
    return Object.assign(new Error(script && enhanced ? `${enhanced} ${text}` : text), { responseCode: code });
  }

  async function store(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<CaptureVerdict> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      // The rest of a message that is too large is read but discarded, because the reply comes after its end.
      if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
    }
    // smtp-server rejects a message that is too large, regardless of the reply given here.
    if (stream.sizeExceeded) return { kind: 'accept' };
    const { mailFrom, rcptTo } = session.envelope;
    const mail: CapturedMail = {
      envelope_from: mailFrom ? mailFrom.address : '',
      envelope_to: rcptTo.map((recipient) => recipient.address),
      raw: Buffer.concat(chunks),
    };
    const verdict = script?.on_content(mail) ?? { kind: 'accept' };
    if (verdict.kind !== 'accept') return verdict;
    const login = typeof session.user === 'string' ? session.user : null;
    await storing.run(session.id, () => options.on_mail(mail, login));
    script?.on_stored(mail);
    return verdict;
  }

  const port = await listenOn(server, options.host, options.port);

  return {
    port,
    async stop() {
      stopped.abort();
      await closeServer(server, storing);
    },
  };
}

function boundedBy(places: SharedPlaces): Pick<SMTPServerOptions, 'maxClients' | 'onConnect' | 'onClose'> {
  const clients = new ClientPlaces(places);
  return { maxClients: MAX_CLIENTS, onConnect: clients.onConnect, onClose: (session) => clients.onClose(session) };
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Only the AUTH password identifies a client, whatever the user name. Clients on other machines must log in. */
function loginBy(
  on_login: NonNullable<CaptureServerOptions['on_login']>,
): Pick<SMTPServerOptions, 'onAuth' | 'onMailFrom'> {
  return {
    onAuth({ password }, session, callback) {
      on_login(password ?? '', session.remoteAddress.replace(/^::ffff:/, '')).then(
        (user) => (typeof user === 'string' ? callback(null, { user }) : callback(rejection(user.code, user.text))),
        () => callback(rejection(454, 'The login could not be checked')),
      );
    },
    onMailFrom(_address, session, callback) {
      const known = typeof session.user === 'string' || LOOPBACK.test(session.remoteAddress);
      callback(known ? null : rejection(530, 'Log in with an API key as the password'));
    },
  };
}

function rejection(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
