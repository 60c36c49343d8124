import { type HttpConnection, openHttpConnection } from './http-connection.ts';
import { ascending, percentile } from './statistics.ts';

export interface Load {
  readonly port: number | readonly number[];
  readonly connections: number;
  readonly seconds: number;
  /** Stops after this many requests even if there is time left. */
  readonly count?: number;
  /** Complete HTTP requests, used in rotation. */
  readonly requests: readonly Buffer[];
}

export interface LoadResult {
  readonly rate: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly statuses: ReadonlyMap<number, number>;
}

/** Runs a closed loop of keep-alive connections, each sending its next request after the last response. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const ports = typeof load.port === 'number' ? [load.port] : load.port;
  const latencies: number[] = [];
  const statuses = new Map<number, number>();
  let turn = 0;
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const next = () => {
    if (performance.now() >= end || turn >= (load.count ?? Number.POSITIVE_INFINITY)) return null;
    return load.requests[turn++ % load.requests.length] ?? null;
  };
  await Promise.all(
    Array.from({ length: load.connections }, (_, index) =>
      runConnection(ports[index % ports.length] ?? 0, next, (ms, status) => {
        latencies.push(ms);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
    ),
  );
  const elapsed = (performance.now() - started) / 1000;
  const sorted = ascending(latencies);
  return {
    rate: latencies.length / elapsed,
    p50_ms: percentile(sorted, 50),
    p99_ms: percentile(sorted, 99),
    statuses,
  };
}

/** Throws unless every response had the expected status. A result with any other response does not count. */
export function requireOnly(code: number, { statuses }: Pick<LoadResult, 'statuses'>, label: string): void {
  const others = [...statuses.keys()].filter((status) => status !== code);
  if (others.length > 0) throw new Error(`${label} was answered with ${others.join(', ')}`);
}

function runConnection(
  port: number,
  next: () => Buffer | null,
  done: (ms: number, status: number) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let sent = 0;
  const sendNext = () => {
    const request = next();
    if (request === null) {
      connection.close();
      resolve();
      return;
    }
    sent = performance.now();
    connection.send(request);
  };
  const connection: HttpConnection = openHttpConnection(port, {
    ready: sendNext,
    answer(status) {
      done(performance.now() - sent, status);
      sendNext();
    },
    failed: reject,
  });
  return promise;
}
