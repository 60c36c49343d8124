import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { ClientPlaces } from '../smtp/client-places.ts';
import { closeServer, listenOn, StoringMail } from '../smtp/listening-server.ts';
import type { SharedPlaces } from '../smtp/shared-places.ts';

/** A message to one of our envelope senders, truncated if it is large. */
export interface CameBack {
  /** The envelope sender. An empty envelope sender, the null sender, distinguishes a bounce from a reply. */
  readonly from: string;
  readonly to: string;
  readonly raw: Buffer;
}

export interface ReturnServerOptions {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly name: string;
  /** The key and certificate for STARTTLS, which is not offered if this is null. */
  readonly tls: { readonly key: Buffer; readonly cert: Buffer } | null;
  /**
   * Returns whether a RCPT TO address is a return address (VERP) that we signed. All other recipients get 550, so the
   * server is not an open relay.
   */
  isReturnPath(address: string): boolean;
  /** Handles a message. `taken` is answered with 250, `later` and a rejection with 451. */
  onMail(mail: CameBack): Promise<'taken' | 'later'>;
  readonly session_ms?: number;
  /** Keyed by the client's address. */
  readonly places: SharedPlaces;
}

export interface ReturnServer {
  readonly port: number;
  /** Replaces the certificate for new connections, if there was one at the start. */
  useCertificate(tls: { readonly key: Buffer; readonly cert: Buffer }): void;
  stop(): Promise<void>;
}

// The report precedes the message that it returns (RFC 6522), and only the report is read.
const MAX_KEPT_BYTES = 1024 * 1024;
// A report may return our largest message, with attachments that grew on the way.
const MAX_ACCEPTED_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 60_000;
const SESSION_MS = 300_000;
/** Includes rejected clients that have not disconnected yet. */
const MAX_CLIENTS = 100;

/** Starts the SMTP server to which bounces and complaints are returned. It never sends messages. */
export async function startReturnServer(options: ReturnServerOptions): Promise<ReturnServer> {
  const storing = new StoringMail();
  const deadlines = new Map<string, NodeJS.Timeout>();
  const clients = new ClientPlaces(options.places);
  const server = new SMTPServer({
    name: options.name,
    banner: 'returned mail only',
    authOptional: true,
    disabledCommands: options.tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...options.tls,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    size: MAX_ACCEPTED_BYTES,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    maxClients: MAX_CLIENTS,
    logger: false,
    onConnect(session, callback) {
      clients.onConnect(session, (error) => {
        // The socket timeout alone would not catch a client that sends a byte now and then.
        if (!error)
          deadlines.set(session.id, setTimeout(() => cut(session.id), options.session_ms ?? SESSION_MS).unref());
        callback(error);
      });
    },
    onClose(session) {
      clients.onClose(session);
      clearTimeout(deadlines.get(session.id));
      deadlines.delete(session.id);
    },
    onRcptTo({ address }, session, callback) {
      if (!options.isReturnPath(address)) callback(smtpError(550, 'No such return address; relaying denied'));
      // The single reply to the end of DATA can apply to only one recipient.
      else if (session.envelope.rcptTo.length > 0) callback(smtpError(452, 'One return address at a time'));
      else callback();
    },
    onData(stream, session, callback) {
      take(stream, session).then(
        (reply) => (reply === 'taken' ? callback(null, 'taken') : callback(smtpError(451, 'Try again later'))),
        () => callback(smtpError(451, 'Try again later')),
      );
    },
  });
  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<'taken' | 'later'> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream) {
      const part = (chunk as Buffer).subarray(0, MAX_KEPT_BYTES - size);
      if (part.length > 0) chunks.push(part);
      size += part.length;
    }
    const { mailFrom, rcptTo } = session.envelope;
    const [to] = rcptTo;
    // smtp-server itself rejects a message that is too large.
    if (stream.sizeExceeded || !to) return 'taken';
    const mail = { from: mailFrom ? mailFrom.address : '', to: to.address, raw: Buffer.concat(chunks) };
    return storing.run(session.id, () => options.onMail(mail));
  }

  function cut(session_id: string): void {
    for (const connection of server.connections) {
      if (connection.id !== session_id) continue;
      connection.send(421, 'Timed out');
      connection.close();
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

function smtpError(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
