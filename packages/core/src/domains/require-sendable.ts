import type { KeyMode } from '../api-keys/secret.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';

export interface SendableFacts {
  readonly status: 'pending' | 'verified' | 'at_risk' | 'failed' | 'suspended';
  readonly sandbox: boolean;
}

/** The one place that decides whether mail may leave from a domain; the name is canonical already. */
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
    return refuse(`${name} is not a verified domain of this workspace; send from one that is.`);
  }
  if (domain.sandbox && mode !== 'sandbox' && !config.DELIVERY.some((transport) => transport.kind === 'capture')) {
    return refuse(
      `${name} is the sandbox domain: it works with DELIVERY=capture or a sandbox key. Send from a verified domain of yours.`,
    );
  }
  if (domain.status === 'verified' || domain.status === 'at_risk') return null;
  return refuse(`${name} is ${domain.status}, not verified; send from a verified domain.`);
}
