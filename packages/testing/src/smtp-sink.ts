import type { AddressInfo, Socket } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { createArrivals } from './arrivals.ts';

/** Where in the conversation a rule is asked. */
export type SmtpStage = 'connect' | 'mail' | 'rcpt' | 'data';

/** What a rule knows. `to` is empty before RCPT, `message_id` null before the header has been read. */
export interface SmtpQuestion {
  readonly stage: SmtpStage;
  readonly from: string;
  readonly to: string;
  /** From 1: of connections at `connect`, of transactions at `mail`, and after that of RCPT commands for this `to`. */
  readonly nth: number;
  readonly message_id: string | null;
}

/**
 * A verdict takes effect at its own stage and is asked for again there: `rcpt` unless said for a reply, and
 * `data`, which is the answer to the dot, for a stall. A stall ends in acceptance.
 */
export type SmtpVerdict =
  | { readonly kind: 'accept' }
  | { readonly kind: 'reply'; readonly code: number; readonly text: string; readonly at?: SmtpStage }
  | { readonly kind: 'drop'; readonly at: 'connect' | 'rcpt' | 'data' | 'after_dot' }
  | { readonly kind: 'stall'; readonly until: Promise<unknown>; readonly at?: SmtpStage };

export type SmtpRule = (question: SmtpQuestion) => SmtpVerdict;

export interface SinkMail {
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly message_id: string | null;
  readonly raw: Buffer;
  readonly received_at: number;
  /** False when the connection was cut after the dot: received, but the sender was not told. */
  readonly acknowledged: boolean;
  readonly secure: boolean;
}

export interface SmtpSinkOptions {
  /** A loopback address, so that several sinks can share a port. */
  readonly host?: string;
  /** A free one, unless given. */
  readonly port?: number;
  /** Offers STARTTLS, with `tls` or else with the server's self-signed certificate. */
  readonly starttls?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly now?: () => number;
}

export interface SmtpSink {
  readonly host: string;
  readonly port: number;
  readonly mails: readonly SinkMail[];
  /** Connections opened since the start. */
  connections(): number;
  script(rule: SmtpRule): void;
  waitFor(wanted: number): Promise<SinkMail[]>;
  waitFor(wanted: (mail: SinkMail) => boolean): Promise<SinkMail>;
  parsed(mail: SinkMail): Promise<ParsedMail>;
  stop(): Promise<void>;
}

const HEADER_END = Buffer.from('\r\n\r\n');

/** A real SMTP server on loopback that keeps what it accepts and misbehaves as scripted. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const now = options.now ?? Date.now;
  const host = options.host ?? '127.0.0.1';
  const arrivals = createArrivals<SinkMail>(
    'mails',
    (mail) => `${mail.envelope_from} → ${mail.envelope_to.join(', ')}`,
  );
  const sockets = new Map<number, Socket>();
  const rcptCounts = new Map<string, number>();
  let rule: SmtpRule = () => ({ kind: 'accept' });
  let connections = 0;
  let transactions = 0;

  const drop = (session: SMTPServerSession) => sockets.get(session.remotePort)?.destroy();

  /** Answers a command by the verdict, if it belongs to this stage; a dropped session is never called back. */
  function settle(verdict: SmtpVerdict, stage: SmtpStage, session: SMTPServerSession, done: (error?: Error) => void) {
    if (stageOf(verdict) !== stage || verdict.kind === 'accept') done();
    else if (verdict.kind === 'reply') done(replyError(verdict.code, verdict.text));
    else if (verdict.kind === 'drop') drop(session);
    else verdict.until.then(() => done(), done);
  }

  const server = new SMTPServer({
    logger: false,
    authOptional: true,
    disableReverseLookup: true,
    hideSTARTTLS: !options.starttls,
    disabledCommands: options.starttls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    ...options.tls,
    onConnect(session, done) {
      connections += 1;
      const question: SmtpQuestion = { stage: 'connect', from: '', to: '', nth: connections, message_id: null };
      settle(rule(question), 'connect', session, done);
    },
    onMailFrom(address, session, done) {
      transactions += 1;
      const question: SmtpQuestion = {
        stage: 'mail',
        from: address.address,
        to: '',
        nth: transactions,
        message_id: null,
      };
      settle(rule(question), 'mail', session, done);
    },
    onRcptTo(address, session, done) {
      const nth = (rcptCounts.get(address.address) ?? 0) + 1;
      rcptCounts.set(address.address, nth);
      const from = senderOf(session);
      settle(rule({ stage: 'rcpt', from, to: address.address, nth, message_id: null }), 'rcpt', session, done);
    },
    onData(stream, session, done) {
      const envelope_from = senderOf(session);
      const envelope_to = session.envelope.rcptTo.map((recipient) => recipient.address);
      const chunks: Buffer[] = [];
      let verdict: SmtpVerdict | null = null;
      let message_id: string | null = null;

      /** The verdict for the whole mail: the first of its recipients that is not simply accepted. */
      const judge = (header: Buffer): SmtpVerdict => {
        message_id = /^message-id:\s*(<[^>\r\n]*>)/im.exec(header.toString('latin1'))?.[1] ?? null;
        const verdicts = envelope_to.map((to) =>
          rule({ stage: 'data', from: envelope_from, to, nth: rcptCounts.get(to) ?? 1, message_id }),
        );
        return verdicts.find((one) => one.kind !== 'accept') ?? { kind: 'accept' };
      };

      stream.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (verdict) return;
        const sofar = Buffer.concat(chunks);
        const end = sofar.indexOf(HEADER_END);
        if (end < 0) return;
        verdict = judge(sofar.subarray(0, end));
        if (verdict.kind === 'drop' && verdict.at !== 'after_dot') drop(session);
      });
      stream.on('end', () => {
        const raw = Buffer.concat(chunks);
        const final = verdict ?? judge(raw);
        const receive = (acknowledged: boolean) =>
          arrivals.add({
            envelope_from,
            envelope_to,
            message_id,
            raw,
            received_at: now(),
            acknowledged,
            secure: session.secure,
          });
        if (final.kind === 'reply') {
          done(replyError(final.code, final.text));
        } else if (final.kind === 'drop') {
          drop(session);
          if (final.at === 'after_dot') receive(false);
        } else {
          const accept = () => {
            const here = sockets.has(session.remotePort);
            done();
            receive(here);
          };
          if (final.kind === 'stall') final.until.then(accept, done);
          else accept();
        }
      });
    },
  });

  // A cut connection is an error to smtp-server; here it is the script.
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => {
    const remote_port = socket.remotePort ?? 0;
    sockets.set(remote_port, socket);
    socket.on('close', () => sockets.delete(remote_port));
  });

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.server.address() as AddressInfo;

  return {
    host,
    port,
    mails: arrivals.items,
    connections: () => connections,
    script(next) {
      rule = next;
    },
    waitFor: arrivals.waitFor,
    parsed: (mail) => simpleParser(mail.raw, { keepDeliveryStatus: true }),
    async stop() {
      for (const socket of sockets.values()) socket.destroy();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

function stageOf(verdict: SmtpVerdict): SmtpStage {
  if (verdict.kind === 'reply') return verdict.at ?? 'rcpt';
  if (verdict.kind === 'drop') return verdict.at === 'after_dot' ? 'data' : verdict.at;
  return verdict.kind === 'stall' ? (verdict.at ?? 'data') : 'data';
}

function senderOf(session: SMTPServerSession): string {
  return session.envelope.mailFrom ? session.envelope.mailFrom.address : '';
}

function replyError(code: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
