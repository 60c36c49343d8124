import { connect, type Socket } from 'node:net';

export interface Load {
  readonly port: number | readonly number[];
  readonly connections: number;
  readonly seconds: number;
  /** Ends after this many requests even if there is time left. */
  readonly count?: number;
  /** Requests a second over all connections; without it, each goes when the last was answered. */
  readonly pace?: number;
  /** Whole HTTP requests, taken in turn. */
  readonly requests: readonly Buffer[];
}

export interface LoadResult {
  readonly rate: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly statuses: ReadonlyMap<number, number>;
}

/** A closed loop of kept connections, each sending its next request when the last was answered. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const ports = typeof load.port === 'number' ? [load.port] : load.port;
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  let turn = 0;
  const started = performance.now();
  const end = started + load.seconds * 1000;
  await Promise.all(
    Array.from({ length: load.connections }, (_, index) =>
      runConnection(
        ports[index % ports.length] ?? 0,
        () => performance.now() >= end || turn >= (load.count ?? Number.POSITIVE_INFINITY),
        () => load.requests[turn++ % load.requests.length],
        () => (load.pace === undefined ? 0 : started + (turn / load.pace) * 1000 - performance.now()),
        (ms, status) => {
          latencies.push(ms);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        },
      ),
    ),
  );
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((left, right) => left - right);
  return {
    rate: latencies.length / elapsed,
    p50_ms: percentile(latencies, 50),
    p99_ms: percentile(latencies, 99),
    statuses,
  };
}

export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(
    [...values].sort((left, right) => left - right),
    50,
  );
}

/** One POST or GET as bytes, for a kept connection. */
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

function runConnection(
  port: number,
  isOver: () => boolean,
  next: () => Buffer | undefined,
  early_ms: () => number,
  done: (ms: number, status: number) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let sent = 0;
    let pending: Buffer = Buffer.alloc(0);
    const send = () => {
      if (isOver()) {
        socket.destroy();
        resolve();
        return;
      }
      const wait = early_ms();
      if (wait > 1) {
        setTimeout(send, wait);
        return;
      }
      sent = performance.now();
      socket.write(next() ?? '');
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const head = pending.indexOf('\r\n\r\n');
      if (head < 0) return;
      const header = pending.toString('latin1', 0, head);
      const length = Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
      if (pending.length < head + 4 + length) return;
      pending = pending.subarray(head + 4 + length);
      done(performance.now() - sent, Number(header.slice(9, 12)));
      send();
    });
  });
}
