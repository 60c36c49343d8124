import type { Credential, Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import type { Scope } from '../operation/scopes.ts';
import { keyRefusal, readCredential, refuseAddress } from './authenticate.ts';
import { readKeyWorkspace } from './store.ts';

/** A key used as a password to log in over SMTP. */
export interface SmtpLogin {
  readonly credential: Credential;
  readonly workspace_id: string;
  readonly scopes: readonly Scope[];
}

/** Checks a key sent as a password over SMTP; a wrong one counts against the client address. */
export async function checkPassword(
  services: Pick<Services, 'sql' | 'address_counter'>,
  password: string,
  address: string,
): Promise<SmtpLogin | AppError> {
  const login = await loginOf(services, password, address);
  return login instanceof AppError ? (await refuseAddress(services, address, login)).error : login;
}

async function loginOf(
  { sql }: Pick<Services, 'sql'>,
  password: string,
  address: string,
): Promise<SmtpLogin | AppError> {
  const credential = readCredential(password, address);
  if (credential instanceof AppError)
    return new AppError('malformed_key', 'The password must be an API key, pr_live_ or pr_test_ with 64 hex digits.');
  const key = await readKeyWorkspace(sql, credential);
  return typeof key === 'string' ? keyRefusal(key) : { credential, ...key };
}
