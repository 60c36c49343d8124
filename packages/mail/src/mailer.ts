import { cleanRemoteText } from '@postrider/net';
import type { Mailer, SendOutcome } from './outcome/send-outcome.ts';
import { createSmtpTransport, type SmtpTransportOptions } from './smtp/client.ts';

export interface MailerOptions {
  /** The routes in order of preference. A Mailer is used unchanged. */
  readonly transports: readonly (Mailer | Omit<SmtpTransportOptions, 'helo_name'>)[];
  readonly helo_name: string;
}

/** Combines several routes into one mailer. The next route is tried only if the previous one could not be reached. */
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
        if (!failedUnderway(outcome) || signal.aborted) break;
        outcome = followedBy(outcome, await next.send(envelope, raw, signal));
      }
      return outcome;
    },
    // The first route determines the lanes; the other routes are fallbacks.
    laneOf: (to) => first.laneOf(to),
    width: first.width,
    async stop() {
      await Promise.all(routes.map((route) => route.stop()));
    },
  };
}

/** Returns the outcome of a second route, with what happened on the first one. */
export function followedBy(failed: SendOutcome, second: SendOutcome): SendOutcome {
  return {
    ...second,
    error:
      second.error === null ? null : cleanRemoteText(`${describeOutcome(failed)}; then ${describeOutcome(second)}`),
    transcript: `${failed.transcript}-- ${describeOutcome(failed)}\n${second.transcript}`,
  };
}

/**
 * Returns whether the route failed before DATA. A destination whose own policy prohibits the session does not count,
 * because another route would bypass the policy.
 */
export function failedUnderway(outcome: SendOutcome): boolean {
  if (outcome.kind !== 'deferred') return false;
  // DNS has confirmed that there is no server, which another route would only discover later.
  if (outcome.stage === 'connect' && outcome.target === '' && outcome.reply) return false;
  if (outcome.stage === 'connect') return outcome.tls_policy !== 'mta-sts';
  const cut_off = outcome.reply === null || outcome.reply.code === 421;
  return cut_off && (outcome.stage === 'mail' || outcome.stage === 'rcpt');
}

function describeOutcome({ target, error, reply }: SendOutcome): string {
  const words = error ?? (reply ? `${reply.code} ${reply.text}` : 'no reply');
  return target === '' ? words : `${target}: ${words}`;
}
