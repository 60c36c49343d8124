import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Sink {
  readonly port: number;
  /** Messages accepted so far. */
  count(): number;
  stop(): Promise<void>;
}

/** Called for each message with the time of the first byte of its transaction, in milliseconds since 1970. */
export type OnMail = (mail: string, began_at: number) => void;

const END = '\r\n.\r\n';

/**
 * Starts an SMTP server that accepts and discards everything, with as little work as the protocol allows. With a rate,
 * it accepts one message after another at that rate, across all connections.
 */
export async function startSink(on_mail?: OnMail, a_second?: number): Promise<Sink> {
  const turn = a_second === undefined ? (take: () => void) => take() : turnsOf(1000 / a_second);
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    converse(
      socket,
      (mail, began_at) => {
        count += 1;
        on_mail?.(mail, began_at);
      },
      on_mail !== undefined,
      turn,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    count: () => count,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a function that runs callbacks in turn, one per interval. */
function turnsOf(ms: number): (take: () => void) => void {
  const waiting: (() => void)[] = [];
  let next_at = 0;
  const run = () => {
    while (waiting.length > 0 && next_at <= performance.now()) {
      // A late timer does not delay the turns after it.
      next_at += ms;
      waiting.shift()?.();
    }
    if (waiting.length > 0) setTimeout(run, Math.max(0, next_at - performance.now()));
  };
  return (take) => {
    waiting.push(take);
    if (waiting.length > 1) return;
    next_at = Math.max(next_at, performance.now());
    setTimeout(run, Math.max(0, next_at - performance.now()));
  };
}

function converse(socket: Socket, on_mail: OnMail, keeps: boolean, turn: (take: () => void) => void): void {
  let body = false;
  let pending = '';
  let pending_since = 0;
  let began_at = 0;
  let mail = '';
  let responses = '';
  let reading = false;
  const response = () => {
    if (responses !== '') socket.write(responses);
    responses = '';
  };
  socket.write('220 sink\r\n');
  socket.on('data', (chunk) => {
    const arrived = performance.timeOrigin + performance.now();
    if (pending.length === 0) pending_since = arrived;
    pending += chunk.toString('latin1');
    reading = true;
    while (pending.length > 0) {
      if (body) {
        const end = pending.indexOf(END);
        // The terminating dot may be split across two chunks.
        const rest = end < 0 ? Math.max(0, pending.length - END.length + 1) : end + END.length;
        if (keeps) mail += pending.slice(0, rest);
        pending = pending.slice(rest);
        pending_since = arrived;
        if (end < 0) break;
        body = false;
        const [text, since] = [mail, began_at];
        mail = '';
        turn(() => {
          on_mail(text, since);
          responses += '250 taken\r\n';
          if (!reading) response();
        });
        continue;
      }
      const line = pending.indexOf('\r\n');
      if (line < 0) break;
      const command = pending.slice(0, 4).toUpperCase();
      if (command === 'MAIL') began_at = pending_since;
      pending = pending.slice(line + 2);
      pending_since = arrived;
      body = command === 'DATA';
      if (command === 'DATA') responses += '354 go ahead\r\n';
      else if (command === 'QUIT') responses += '221 bye\r\n';
      else if (command === 'EHLO') responses += '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n';
      else responses += '250 ok\r\n';
    }
    reading = false;
    response();
  });
}
