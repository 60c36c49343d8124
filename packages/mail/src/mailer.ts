import type { Mailer, SendOutcome } from './send-outcome.ts';
import { createSmtpTransport, type SmtpTransportOptions } from './smtp/client.ts';

export interface MailerOptions {
  /** In order of preference; what already is a Mailer is used as it is. */
  readonly transports: readonly (Mailer | Omit<SmtpTransportOptions, 'helo_name'>)[];
  readonly helo_name: string;
}

/** One mailer over several routes. The next one is tried only where no session came about with the one before. */
export function createMailer(options: MailerOptions): Mailer {
  const routes = options.transports.map((transport) =>
    'send' in transport ? transport : createSmtpTransport({ ...transport, helo_name: options.helo_name }),
  );
  const [first, ...others] = routes;
  if (!first) throw new Error('A mailer needs at least one transport.');

  return {
    async send(envelope, raw, signal) {
      let outcome = await first.send(envelope, raw, signal);
      for (const next of others) {
        if (!failedToConnect(outcome) || signal.aborted) break;
        const failed = outcome;
        const later = await next.send(envelope, raw, signal);
        outcome = { ...later, transcript: failed.transcript + later.transcript };
      }
      return outcome;
    },
    // The others only stand in for the first.
    laneOf: (to) => first.laneOf(to),
    async stop() {
      await Promise.all(routes.map((route) => route.stop()));
    },
  };
}

function failedToConnect(outcome: SendOutcome): boolean {
  return outcome.kind === 'deferred' && outcome.stage === 'connect';
}
