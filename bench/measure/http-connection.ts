import { connect } from 'node:net';

export interface HttpConnection {
  send(request: Buffer): void;
  close(): void;
}

interface Listeners {
  ready(): void;
  answer(status: number): void;
  failed(error: Error): void;
}

/** Opens a keep-alive loopback connection that sends one request at a time. */
export function openHttpConnection(port: number, listeners: Listeners): HttpConnection {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let pending: Buffer = Buffer.alloc(0);
  let closed = false;
  socket.on('connect', () => listeners.ready());
  socket.on('error', (error) => listeners.failed(error));
  socket.on('close', () => {
    if (!closed) listeners.failed(new Error('the server closed a connection'));
  });
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const head = pending.indexOf('\r\n\r\n');
    if (head < 0) return;
    const header = pending.toString('latin1', 0, head);
    const length = Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
    if (pending.length < head + 4 + length) return;
    pending = pending.subarray(head + 4 + length);
    listeners.answer(Number(header.slice(9, 12)));
  });
  return {
    send: (request) => void socket.write(request),
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

/** Returns a POST or GET as bytes, for a keep-alive connection. */
export function httpRequest(
  method: string,
  path: string,
  key: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`);
}
