import { randomUUID } from 'node:crypto';
import { createMailer } from '../mailer.ts';
import type { SendOutcome } from '../send-outcome.ts';

export interface ReporterOptions {
  readonly helo_name: string;
  /** Where mail for envelope senders is taken. */
  readonly host: string;
  readonly port: number;
  /** Before each attempt to hand a report over. */
  readonly delays_ms?: readonly number[];
  /** A report that nobody took, after the last attempt. */
  on_lost(report: { readonly to: string; readonly outcome: SendOutcome | null }): void;
}

export interface Reporter {
  send(report: { readonly from: string; readonly to: string; compose(id: string): Buffer }): void;
  stop(): Promise<void>;
}

// A receiver reports after it has answered, when the sender has had the time to record the answer.
const DELAYS_MS = [1000, 5000, 30_000];
const MOST_WAITING = 1000;

/**
 * Hands reports over by SMTP. They are kept in memory only: nothing that has to be durable hangs on what the
 * simulator says, and where nobody listens there is nobody to tell.
 */
export function createReporter(options: ReporterOptions): Reporter {
  const { host, port, helo_name, delays_ms = DELAYS_MS } = options;
  const mailer = createMailer({
    helo_name,
    transports: [{ host, port, secure: false, tls: 'none', max_connections: 2 }],
  });
  const ended = new AbortController();
  const waiting = new Set<NodeJS.Timeout>();

  function schedule(attempt: number, from: string, to: string, raw: Buffer, before: SendOutcome | null): void {
    const delay = delays_ms[attempt];
    if (ended.signal.aborted) return;
    if (delay === undefined || before?.kind === 'rejected' || waiting.size >= MOST_WAITING) {
      options.on_lost({ to, outcome: before });
      return;
    }
    const timer = setTimeout(() => {
      waiting.delete(timer);
      void mailer.send({ from, to }, raw, ended.signal).then((outcome) => {
        if (outcome.kind !== 'accepted') schedule(attempt + 1, from, to, raw, outcome);
      });
    }, delay);
    timer.unref();
    waiting.add(timer);
  }

  return {
    send({ from, to, compose }) {
      // Nobody is to be told about a mail that is a report itself.
      if (to !== '') schedule(0, from, to, compose(randomUUID()), null);
    },
    async stop() {
      ended.abort();
      for (const timer of waiting) clearTimeout(timer);
      await mailer.stop();
    },
  };
}
