import { canonicalDomain } from '@postrider/mail';
import { AppError } from '../operation/errors.ts';

/** Returns the error if a key restricted to domains may not access email from this domain; null otherwise. */
export function keyDomainProblem(domains: readonly string[] | null, from_domain: string): AppError | null {
  if (domains === null || domains.some((name) => canonicalDomain(name) === from_domain)) return null;
  return new AppError(
    'key_domain_restricted',
    `This key can send from ${domains.join(', ')} only. Use another key or another from.`,
  );
}
