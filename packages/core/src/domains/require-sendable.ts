import { AppError } from '../operation/errors.ts';
import type { KeyMode } from '../operation/secrets.ts';
import type { Config } from '../process/config.ts';

export interface SendableFacts {
  readonly status: 'pending' | 'verified' | 'at_risk' | 'failed' | 'suspended';
  readonly sandbox: boolean;
}

/** Returns why a domain may not send; null if it may. No other code makes this decision. The name must be canonical. */
export function sendableProblem(
  name: string,
  domain: SendableFacts | undefined,
  mode: KeyMode,
  config: Pick<Config, 'DELIVERY'>,
): AppError | null {
  const refuse = (message: string) =>
    new AppError('domain_not_verified', message, {
      details: [{ param: 'from', reason: 'domain_not_verified', message }],
    });
  if (!domain) {
    return refuse(`${name} is not a verified domain in this workspace. Send from a verified domain.`);
  }
  if (domain.sandbox && mode !== 'sandbox' && !config.DELIVERY.some((transport) => transport.kind === 'capture')) {
    return refuse(
      `${name} is the sandbox domain, which requires DELIVERY=capture or a sandbox key. Send from your own verified domain.`,
    );
  }
  if (domain.status === 'verified' || domain.status === 'at_risk') return null;
  return refuse(`${name} is ${domain.status}, not verified. Send from a verified domain.`);
}
