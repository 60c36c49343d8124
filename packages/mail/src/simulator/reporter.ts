import { randomUUID } from 'node:crypto';
import { createMailer } from '../mailer.ts';
import type { SendOutcome } from '../outcome/send-outcome.ts';

export interface ReporterOptions {
  readonly helo_name: string;
  /** The server that accepts messages to envelope senders. */
  readonly host: string;
  readonly port: number;
  /** The delay before each attempt to send a report. */
  readonly delays_ms?: readonly number[];
  /** Called when a report was not accepted after the last attempt. */
  on_lost(report: { readonly to: string; readonly outcome: SendOutcome | null }): void;
}

export interface Reporter {
  send(report: { readonly from: string; readonly to: string; compose(id: string): Buffer }): void;
  stop(): Promise<void>;
}

// A report is delayed, so that the sender can first record the reply to the message.
const DELAYS_MS = [1000, 5000, 30_000];
const MAX_WAITING = 1000;

/**
 * Sends reports by SMTP. Reports are kept in memory only, because nothing durable depends on the simulator. Without a
 * listener, reports are dropped.
 */
export function createReporter(options: ReporterOptions): Reporter {
  const { host, port, helo_name, delays_ms = DELAYS_MS } = options;
  const mailer = createMailer({
    helo_name,
    transports: [{ host, port, secure: false, tls: 'none', max_connections: 2 }],
  });
  const abort = new AbortController();
  const waiting = new Set<NodeJS.Timeout>();

  function schedule(attempt: number, from: string, to: string, raw: Buffer, before: SendOutcome | null): void {
    const delay = delays_ms[attempt];
    if (abort.signal.aborted) return;
    if (delay === undefined || before?.kind === 'rejected' || waiting.size >= MAX_WAITING) {
      options.on_lost({ to, outcome: before });
      return;
    }
    const timer = setTimeout(() => {
      waiting.delete(timer);
      void mailer.send({ from, to }, raw, abort.signal).then((outcome) => {
        if (outcome.kind !== 'accepted') schedule(attempt + 1, from, to, raw, outcome);
      });
    }, delay);
    timer.unref();
    waiting.add(timer);
  }

  return {
    send({ from, to, compose }) {
      // RFC 5321 section 6.1: no report about a report.
      if (to !== '') schedule(0, from, to, compose(randomUUID()), null);
    },
    async stop() {
      abort.abort();
      for (const timer of waiting) clearTimeout(timer);
      await mailer.stop();
    },
  };
}
