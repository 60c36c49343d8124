import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSink } from './sink.ts';

export interface TimedSink {
  readonly port: number;
  /** Messages accepted so far, as of a few milliseconds ago. */
  count(): number;
  /** Returns when the first byte of each message since the last call arrived, in milliseconds since 1970. */
  firstBytes(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

type Report = { readonly port: number } | { readonly count: number } | { readonly first_bytes: [string, number][] };

const REPORT_MS = 20;

/** Starts a receiver in its own process that records when each message began to arrive. */
export async function startTimedSink(): Promise<TimedSink> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url));
  let count = 0;
  const opened = Promise.withResolvers<number>();
  let timings = Promise.withResolvers<ReadonlyMap<string, number>>();
  child.once('exit', (code) => opened.reject(new Error(`the sink ended with ${code}`)));
  child.on('message', (message) => {
    const report = reportOf(message);
    if ('port' in report) opened.resolve(report.port);
    else if ('count' in report) count = report.count;
    else timings.resolve(new Map(report.first_bytes));
  });
  const port = await opened.promise;
  return {
    port,
    count: () => count,
    firstBytes() {
      timings = Promise.withResolvers();
      child.send('first bytes');
      return timings.promise;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
}

/** Returns a message of the child as a report: the child runs this same file, so it sends only reports. */
function reportOf(message: unknown): Report {
  return message as Report;
}

if (import.meta.main) {
  let times: [string, number][] = [];
  const sink = await startSink((mail, began_at) => {
    const id = /^Message-ID: <(msg_[^@]+)@/im.exec(mail)?.[1];
    if (id !== undefined) times.push([id, began_at]);
  });
  const send = (report: Report) => void process.send?.(report);
  send({ port: sink.port });
  let last_count = 0;
  setInterval(() => {
    if (sink.count() !== last_count) send({ count: sink.count() });
    last_count = sink.count();
  }, REPORT_MS);
  process.on('message', () => {
    send({ first_bytes: times });
    times = [];
  });
}
