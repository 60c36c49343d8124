import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { createArrivals } from './arrivals.ts';

/** The stage of the conversation at which a rule is called. */
export type SmtpStage = 'connect' | 'mail' | 'rcpt' | 'data';

/** The input of a rule. `to` is empty before RCPT; `message_id` is null before the header has been read. */
export interface SmtpQuestion {
  readonly stage: SmtpStage;
  readonly from: string;
  readonly to: string;
  /** The count from 1: of connections at `connect`, of transactions at `mail`, then of RCPT commands for this `to`. */
  readonly nth: number;
  readonly message_id: string | null;
}

/**
 * A verdict takes effect at its own stage, where the rule is called again. The stage defaults to `rcpt` for a reply and
 * to `data` (the reply to the end of DATA) for a stall, which ends in acceptance.
 */
export type SmtpVerdict =
  | { readonly kind: 'accept' }
  | { readonly kind: 'reply'; readonly code: number; readonly text: string; readonly at?: SmtpStage }
  | { readonly kind: 'drop'; readonly at: 'connect' | 'rcpt' | 'data' | 'after_dot' }
  | { readonly kind: 'stall'; readonly until: Promise<unknown>; readonly at?: SmtpStage };

export type SmtpRule = (request: SmtpQuestion) => SmtpVerdict;

export interface ReceivedMessage {
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly message_id: string | null;
  readonly raw: Buffer;
  readonly received_at: number;
  /** False if the connection was cut after the end of DATA: the message was received, but the sender got no reply. */
  readonly acknowledged: boolean;
  readonly secure: boolean;
}

export interface SmtpSinkOptions {
  /** A loopback address, so that several sinks can share a port. */
  readonly host?: string;
  /** Defaults to a free port. */
  readonly port?: number;
  /** Offers STARTTLS, with `tls` or the server's self-signed certificate. */
  readonly starttls?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** The only user who may send. Without it, the server requires no sign-in. */
  readonly login?: { readonly user: string; readonly pass: string };
  readonly now?: () => number;
  /** Returns the text of the 250 to a message. */
  readonly receipt?: (envelope_to: readonly string[]) => string;
}

export interface SmtpSink {
  readonly host: string;
  readonly port: number;
  readonly messages: readonly ReceivedMessage[];
  /** Returns the number of connections opened since the start. */
  connections(): number;
  /** Returns the number of open connections that were greeted. */
  sessions(): number;
  script(rule: SmtpRule): void;
  waitFor(target: number): Promise<ReceivedMessage[]>;
  waitFor(target: (mail: ReceivedMessage) => boolean): Promise<ReceivedMessage>;
  parsed(mail: ReceivedMessage): Promise<ParsedMail>;
  stop(): Promise<void>;
}

const HEADER_END = Buffer.from('\r\n\r\n');

/** Starts a real SMTP server on loopback that stores the messages it accepts and misbehaves as scripted. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const host = options.host ?? '127.0.0.1';
  const script = new ScriptedServer(options.now ?? Date.now, options.receipt);
  const server = new SMTPServer({
    logger: false,
    authOptional: !options.login,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    hideSTARTTLS: !options.starttls,
    disabledCommands: [...(options.login ? [] : ['AUTH']), ...(options.starttls ? [] : ['STARTTLS'])],
    ...options.tls,
    onAuth: ({ username, password }, _, done) => {
      const is_right = username === options.login?.user && password === options.login?.pass;
      done(is_right ? null : new Error('5.7.8 Authentication failed'), { user: username });
    },
    onConnect: (session, done) => script.onConnect(session, done),
    onMailFrom: (address, session, done) => script.onMailFrom(address.address, session, done),
    onRcptTo: (address, session, done) => script.onRcptTo(address.address, session, done),
    onData: (stream, session, done) => script.onData(stream, session, done),
  });

  // smtp-server reports a cut connection as an error; here the script cuts it on purpose.
  server.on('error', () => undefined);
  server.server.on('connection', (socket: Socket) => script.addSocket(socket));

  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.server.address() as AddressInfo;

  return {
    host,
    port,
    messages: script.arrivals.items,
    connections: () => script.connections,
    sessions: () => script.sessions(),
    script(rule) {
      script.rule = rule;
    },
    waitFor: script.arrivals.waitFor,
    parsed: (mail) => simpleParser(mail.raw, { keepDeliveryStatus: true }),
    async stop() {
      script.destroySockets();
      await new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

/** A callback that accepts the command if called without an error. A dropped session is never called back. */
type DoneCallback = (error?: Error | null, text?: string) => void;

/** One message between DATA and the reply to its end. */
interface IncomingMail {
  readonly envelope_from: string;
  readonly envelope_to: readonly string[];
  readonly chunks: Buffer[];
  /** Null until the header is complete. */
  verdict: SmtpVerdict | null;
  message_id: string | null;
}

/** Replies to each command as the rule says and stores accepted messages. */
class ScriptedServer {
  readonly arrivals = createArrivals<ReceivedMessage>(
    'messages',
    (mail) => `${mail.envelope_from} → ${mail.envelope_to.join(', ')}`,
  );
  rule: SmtpRule = () => ({ kind: 'accept' });
  connections = 0;
  #transactions = 0;
  readonly #now: () => number;
  readonly #sockets = new Map<number, Socket>();
  readonly #greeted = new Set<number>();
  readonly #rcptCounts = new Map<string, number>();

  readonly #receipt: SmtpSinkOptions['receipt'];

  constructor(now: () => number, receipt: SmtpSinkOptions['receipt']) {
    this.#now = now;
    this.#receipt = receipt;
  }

  addSocket(socket: Socket): void {
    const remote_port = socket.remotePort ?? 0;
    this.#sockets.set(remote_port, socket);
    socket.on('close', () => {
      this.#sockets.delete(remote_port);
      this.#greeted.delete(remote_port);
    });
  }

  sessions(): number {
    return this.#greeted.size;
  }

  destroySockets(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  onConnect(session: SMTPServerSession, done: DoneCallback): void {
    this.connections += 1;
    const request: SmtpQuestion = { stage: 'connect', from: '', to: '', nth: this.connections, message_id: null };
    const verdict = this.rule(request);
    if (verdict.kind === 'accept') this.#greeted.add(session.remotePort);
    this.#settle(verdict, 'connect', session, done);
  }

  onMailFrom(from: string, session: SMTPServerSession, done: DoneCallback): void {
    this.#transactions += 1;
    const request: SmtpQuestion = { stage: 'mail', from, to: '', nth: this.#transactions, message_id: null };
    this.#settle(this.rule(request), 'mail', session, done);
  }

  onRcptTo(to: string, session: SMTPServerSession, done: DoneCallback): void {
    const nth = (this.#rcptCounts.get(to) ?? 0) + 1;
    this.#rcptCounts.set(to, nth);
    const request: SmtpQuestion = { stage: 'rcpt', from: senderOf(session), to, nth, message_id: null };
    this.#settle(this.rule(request), 'rcpt', session, done);
  }

  onData(stream: Readable, session: SMTPServerSession, done: DoneCallback): void {
    const mail: IncomingMail = {
      envelope_from: senderOf(session),
      envelope_to: session.envelope.rcptTo.map((recipient) => recipient.address),
      chunks: [],
      verdict: null,
      message_id: null,
    };
    stream.on('data', (chunk: Buffer) => {
      mail.chunks.push(chunk);
      if (mail.verdict) return;
      const received = Buffer.concat(mail.chunks);
      const end = received.indexOf(HEADER_END);
      if (end < 0) return;
      mail.verdict = this.#judge(mail, received.subarray(0, end));
      if (mail.verdict.kind === 'drop' && mail.verdict.at !== 'after_dot') this.#drop(session);
    });
    stream.on('end', () => this.#end(mail, session, done));
  }

  /** Returns the verdict for the whole message: that of the first recipient whose content is not simply accepted. */
  #judge(mail: IncomingMail, header: Buffer): SmtpVerdict {
    const { envelope_from, envelope_to } = mail;
    const message_id = /^message-id:\s*(<[^>\r\n]*>)/im.exec(header.toString('latin1'))?.[1] ?? null;
    mail.message_id = message_id;
    const verdicts = envelope_to.map((to) =>
      this.rule({ stage: 'data', from: envelope_from, to, nth: this.#rcptCounts.get(to) ?? 1, message_id }),
    );
    return verdicts.find((one) => one.kind !== 'accept' && stageOf(one) === 'data') ?? { kind: 'accept' };
  }

  #end(mail: IncomingMail, session: SMTPServerSession, done: DoneCallback): void {
    const raw = Buffer.concat(mail.chunks);
    const verdict = mail.verdict ?? this.#judge(mail, raw);
    const accept = () => {
      const acknowledged = this.#sockets.has(session.remotePort);
      done(null, this.#receipt?.(mail.envelope_to));
      this.#keep(mail, raw, session, acknowledged);
    };
    if (verdict.kind === 'reply') {
      done(replyError(verdict.code, verdict.text));
    } else if (verdict.kind === 'drop') {
      this.#drop(session);
      if (verdict.at === 'after_dot') this.#keep(mail, raw, session, false);
    } else if (verdict.kind === 'stall') {
      verdict.until.then(accept, done);
    } else {
      accept();
    }
  }

  #keep(mail: IncomingMail, raw: Buffer, session: SMTPServerSession, acknowledged: boolean): void {
    const { envelope_from, envelope_to, message_id } = mail;
    const { secure } = session;
    this.arrivals.add({ envelope_from, envelope_to, message_id, raw, received_at: this.#now(), acknowledged, secure });
  }

  /** Replies to a command with the verdict if it belongs to this stage. */
  #settle(verdict: SmtpVerdict, stage: SmtpStage, session: SMTPServerSession, done: DoneCallback): void {
    if (stageOf(verdict) !== stage || verdict.kind === 'accept') done();
    else if (verdict.kind === 'reply') done(replyError(verdict.code, verdict.text));
    else if (verdict.kind === 'drop') this.#drop(session);
    else verdict.until.then(() => done(), done);
  }

  #drop(session: SMTPServerSession): void {
    this.#sockets.get(session.remotePort)?.destroy();
  }
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
