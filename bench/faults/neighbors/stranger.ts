import { connect, type Socket } from 'node:net';

const SOCKETS = 20;
const BODY = JSON.stringify({ from: 'a@stranger.test', to: 'b@stranger.test', subject: 'x', text: 'x'.repeat(2000) });

/** Sends wrong keys with bodies at a steady rate over keep-alive connections. */
export class Stranger {
  /** Responses by status. */
  readonly responses = new Map<string, number>();
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  readonly #timers: NodeJS.Timeout[] = [];
  #serial = 0;
  #stopped = false;

  constructor(port: number) {
    this.#port = port;
  }

  start(per_second: number): void {
    for (let number = 0; number < SOCKETS; number++) this.#open((1000 * SOCKETS) / per_second);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  #open(every_ms: number): void {
    if (this.#stopped) return;
    const socket = connect(this.#port, '127.0.0.1');
    this.#sockets.add(socket);
    const timer = setInterval(() => socket.write(this.#request()), every_ms);
    this.#timers.push(timer);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      for (const [, status = ''] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g))
        this.responses.set(status, (this.responses.get(status) ?? 0) + 1);
    });
    socket.on('close', () => {
      clearInterval(timer);
      this.#sockets.delete(socket);
      this.#open(every_ms);
    });
  }

  #request(): string {
    const key = `pr_live_${String(this.#serial++).padStart(64, '0')}`;
    return (
      `POST /v1/email/send HTTP/1.1\r\nHost: stranger\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
    );
  }
}
