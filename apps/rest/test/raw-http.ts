import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** A connection on which a test writes bytes that no HTTP client would send. */
export interface RawConnection {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Returns the next complete response. Fails if the connection closes first. */
  answer(): Promise<RawResponse>;
  /** Resolves when the server has closed the connection. */
  closed(): Promise<void>;
}

export async function openRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    socket.emit('progress');
  });
  socket.on('close', () => {
    ended = true;
    socket.emit('progress');
  });
  await once(socket, 'connect');
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    async answer() {
      for (;;) {
        const parsed = takeAnswer(received);
        if (parsed) {
          received = received.subarray(parsed.length);
          return parsed.answer;
        }
        if (ended) throw new Error(`the connection ended after ${JSON.stringify(received.toString())}`);
        await once(socket, 'progress');
      }
    },
    async closed() {
      while (!ended) await once(socket, 'progress');
    },
  };
}

/** Returns the header lines of a request with a key and a JSON body. */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function takeAnswer(received: Buffer): { answer: RawResponse; length: number } | null {
  const head_end = received.indexOf('\r\n\r\n');
  if (head_end < 0) return null;
  const [status_line = '', ...lines] = received.toString('latin1', 0, head_end).split('\r\n');
  const headers = new Headers(lines.map((line): [string, string] => splitHeader(line)));
  const length = head_end + 4 + Number(headers.get('content-length') ?? 0);
  if (received.length < length) return null;
  const text = received.toString('utf8', head_end + 4, length);
  return {
    answer: { status: Number(status_line.split(' ')[1]), headers, body: text === '' ? {} : JSON.parse(text) },
    length,
  };
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}
