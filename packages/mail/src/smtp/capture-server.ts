import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';

export interface CapturedMail {
  readonly envelope_from: string;
  readonly envelope_to: string[];
  readonly raw: Buffer;
}

export interface CaptureServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The mail is answered with 250 once this has resolved, and with 451 when it rejects. */
  on_mail(mail: CapturedMail): Promise<void>;
}

export interface CaptureServer {
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_MAIL_BYTES = 25 * 1024 * 1024;
const IDLE_MS = 60_000;

/** An SMTP server for this machine: takes any sender and recipient, without login and without TLS. */
export async function startCaptureServer(options: CaptureServerOptions): Promise<CaptureServer> {
  const storing = new Set<Promise<void>>();
  const server = new SMTPServer({
    name: 'postrider',
    banner: 'capture',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    size: MAX_MAIL_BYTES,
    rejectOversized: true,
    socketTimeout: IDLE_MS,
    logger: false,
    onData(stream, session, callback) {
      const stored = store(stream, session).then(
        () => callback(null, 'captured'),
        () => callback(temporaryFailure()),
      );
      storing.add(stored);
      void stored.finally(() => storing.delete(stored));
    },
  });
  // A client that breaks its connection is no fault of the server.
  server.on('error', () => undefined);

  async function store(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      // The rest of a mail that is too large is read, because it is answered after its end, but not kept.
      if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
    }
    if (stream.sizeExceeded) return;
    const { mailFrom, rcptTo } = session.envelope;
    await options.on_mail({
      envelope_from: mailFrom ? mailFrom.address : '',
      envelope_to: rcptTo.map((recipient) => recipient.address),
      raw: Buffer.concat(chunks),
    });
  }

  const listener = server.server;
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    server.listen(options.port, options.host, () => {
      listener.removeListener('error', reject);
      resolve();
    });
  });

  return {
    port: (listener.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Mail that is being stored is still answered; sessions that wait for a command are told and closed.
      while (storing.size > 0) await Promise.all(storing);
      for (const connection of server.connections) {
        connection.send(421, 'Closing');
        connection.close();
      }
      await closed;
    },
  };
}

function temporaryFailure(): Error {
  return Object.assign(new Error('The mail could not be stored'), { responseCode: 451 });
}
