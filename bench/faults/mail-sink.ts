import { hash } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import type { Ledgers, SinkOutcome } from './ledgers.ts';
import { shareOf } from './random.ts';
import { wallTime } from './wall-time.ts';

/**
 * The share of messages that each fault of a server affects. Each fault happens once per message; then the message is
 * accepted.
 */
export interface MailFaults {
  readonly deferred: number;
  readonly rejected: number;
  readonly ack_lost: number;
  readonly dropped: number;
  readonly late: number;
}

export const noMailFaults: MailFaults = { deferred: 0, rejected: 0, ack_lost: 0, dropped: 0, late: 0 };
/** The shares in the fault plan. */
export const usualMailFaults: MailFaults = {
  deferred: 0.03,
  rejected: 0.01,
  ack_lost: 0.01,
  dropped: 0.01,
  late: 0.005,
};

/** How slow a server is for every message. */
export interface Slowness {
  readonly greeting_ms?: number;
  readonly reply_ms?: number;
  /** The number of body bytes read per second. */
  readonly bytes_per_second?: number;
  readonly connections?: number;
}

export interface MailSink {
  readonly port: number;
  faults: MailFaults;
  /** The delay of every response to a message. */
  reply_ms: number;
  stop(): Promise<void>;
}

const LATE_MS = 4000;
const SCRIPTED = ['deferred', 'rejected', 'ack_lost', 'dropped', 'late'] as const;

/** Starts a mail server that records everything it sees about each recipient. */
export async function startMailSink(
  ledgers: Ledgers,
  seed: string,
  { host = '127.0.0.1', port = 0, slow = {} }: { host?: string; port?: number; slow?: Slowness } = {},
): Promise<MailSink> {
  const scripted = new Set<string>();
  const sockets = new Set<Socket>();
  const sink = { faults: noMailFaults, reply_ms: 0 };

  /** Returns the next verdict on a message for a recipient. */
  const verdictOn = (message_id: string, recipient: string): (typeof SCRIPTED)[number] | 'accepted' => {
    const key = `${message_id} ${recipient}`;
    const share = shareOf(seed, key);
    let upper = 0;
    for (const name of SCRIPTED) {
      upper += sink.faults[name];
      if (share >= upper) continue;
      // A rejection is permanent; every other fault happens once.
      if (name !== 'rejected' && scripted.has(key)) return 'accepted';
      scripted.add(key);
      return name;
    }
    return 'accepted';
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    if (sockets.size > (slow.connections ?? Number.POSITIVE_INFINITY)) {
      socket.end('421 4.3.2 too many connections\r\n');
      return;
    }
    converse(socket, slow, (recipients, body) => {
      const message_id = /^Message-ID:\s*<([^>]+)>/im.exec(body)?.[1] ?? '';
      const verdict = verdictOn(message_id, recipients.join(','));
      const outcome: SinkOutcome = verdict === 'late' ? 'accepted' : verdict;
      const wait_ms = (verdict === 'late' ? LATE_MS : 0) + (slow.reply_ms ?? 0) + sink.reply_ms;
      const body_hash = hash('sha256', body);
      // The server has the message now, whether or not its response arrives.
      for (const recipient of recipients)
        ledgers.seen.push({ message_id, recipient, outcome, late: wait_ms > 0, at: wallTime(), body_hash });
      const response = () => {
        if (socket.destroyed) return;
        if (outcome === 'accepted') socket.write('250 2.0.0 accepted\r\n');
        else if (outcome === 'deferred') socket.write('451 4.3.0 try again later\r\n');
        else if (outcome === 'rejected') socket.write('550 5.7.1 not wanted here\r\n');
        else socket.destroy();
      };
      if (wait_ms > 0) setTimeout(response, wait_ms);
      else response();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return Object.assign(sink, {
    port: typeof bound === 'object' && bound ? bound.port : port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const END = '\r\n.\r\n';

/** Handles the server side of a session, with pipelining; `on_mail` responds to the end of the data. */
function converse(socket: Socket, slow: Slowness, on_mail: (recipients: string[], body: string) => void): void {
  let recipients: string[] = [];
  let pending = '';
  let in_data = false;
  const write = (text: string) => {
    if (!socket.destroyed) socket.write(text);
  };
  setTimeout(() => write('220 sink ESMTP\r\n'), slow.greeting_ms ?? 0);
  socket.on('data', (chunk: Buffer) => {
    pending += chunk.toString('latin1');
    if (slow.bytes_per_second !== undefined) {
      socket.pause();
      setTimeout(() => socket.resume(), (chunk.length / slow.bytes_per_second) * 1000);
    }
    for (;;) {
      if (in_data) {
        const end = pending.indexOf(END);
        if (end < 0) return;
        const body = pending.slice(0, end);
        pending = pending.slice(end + END.length);
        in_data = false;
        on_mail(recipients, body);
        recipients = [];
        continue;
      }
      const line = pending.indexOf('\r\n');
      if (line < 0) return;
      const command = pending.slice(0, line);
      pending = pending.slice(line + 2);
      const verb = command.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') write('250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n');
      else if (verb === 'RCPT') {
        recipients.push((/<([^>]*)>/.exec(command)?.[1] ?? '').toLowerCase());
        write('250 2.1.5 ok\r\n');
      } else if (verb === 'DATA') {
        in_data = true;
        write('354 go ahead\r\n');
      } else if (verb === 'QUIT') {
        socket.end('221 2.0.0 bye\r\n');
        return;
      } else {
        if (verb === 'MAIL' || verb === 'RSET') recipients = [];
        write('250 2.0.0 ok\r\n');
      }
    }
  });
}
