import { type HttpConnection, openHttpConnection } from './http-connection.ts';
import type { LoadResult } from './load.ts';
import { ascending, percentile } from './statistics.ts';

export interface OpenLoop {
  readonly port: number;
  /** Requests per second, independent of the responses. */
  readonly rate: number;
  readonly seconds: number;
  /** Complete HTTP requests, used in rotation. */
  readonly requests: readonly Buffer[];
}

// A request that is due while all connections are busy has to wait, and the wait counts toward its latency.
const MAX_CONNECTIONS = 512;

/**
 * Sends requests at a constant rate that responses do not slow down. Each is timed from when it was due, so that a
 * server that stalls is charged for every delayed request (no coordinated omission).
 */
export async function runOpenLoop({ port, rate, seconds, requests }: OpenLoop): Promise<LoadResult> {
  const count = Math.round(rate * seconds);
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  const idle: HttpConnection[] = [];
  const connections = new Set<HttpConnection>();
  let due = 0;
  let sent = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const started = performance.now();

  const flush = () => {
    while (sent < due) {
      const connection = idle.pop();
      if (connection === undefined) {
        if (connections.size < MAX_CONNECTIONS) open();
        return;
      }
      begin(connection);
    }
  };
  const dueTimes = new Map<HttpConnection, number>();
  const begin = (connection: HttpConnection) => {
    dueTimes.set(connection, started + (sent / rate) * 1000);
    connection.send(requests[sent++ % requests.length] ?? Buffer.alloc(0));
  };
  const release = (connection: HttpConnection) => {
    idle.push(connection);
    flush();
  };
  const open = () => {
    const connection: HttpConnection = openHttpConnection(port, {
      ready: () => release(connection),
      answer(status) {
        latencies.push(performance.now() - (dueTimes.get(connection) ?? Number.NaN));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (latencies.length === count) resolve();
        else release(connection);
      },
      failed: reject,
    });
    connections.add(connection);
  };
  const timer = setInterval(() => {
    due = Math.min(count, Math.floor(((performance.now() - started) / 1000) * rate) + 1);
    flush();
    if (due === count) clearInterval(timer);
  }, 1);
  try {
    await promise;
  } finally {
    clearInterval(timer);
    for (const connection of connections) connection.close();
  }
  const elapsed = Math.max(seconds, (performance.now() - started) / 1000);
  const sorted = ascending(latencies);
  return { rate: count / elapsed, p50_ms: percentile(sorted, 50), p99_ms: percentile(sorted, 99), statuses };
}
