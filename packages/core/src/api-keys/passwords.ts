import type { Credential, Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { checkKey, keyRefusal, readCredential, refuseAddress } from './authenticate.ts';
import { workspaceOfKey } from './store.ts';

/** A key that was sent as a password over SMTP; a wrong one counts against the client address. */
export async function checkPassword(
  services: Pick<Services, 'sql'>,
  password: string,
  address: string,
): Promise<Credential | AppError> {
  const credential = readPassword(password, address);
  const refusal = credential instanceof AppError ? credential : await checkKey(services, credential);
  if (refusal) return (await refuseAddress(services, address, refusal)).error;
  return credential;
}

/** The workspace of a key that was sent as a password over SMTP; a wrong one counts against the client address. */
export async function workspaceOfPassword(
  services: Pick<Services, 'sql'>,
  password: string,
  address: string,
): Promise<string | AppError> {
  const credential = readPassword(password, address);
  const found = credential instanceof AppError ? credential : await workspaceOfKey(services.sql, credential);
  if (found instanceof AppError) return (await refuseAddress(services, address, found)).error;
  if (typeof found === 'string') return (await refuseAddress(services, address, keyRefusal(found))).error;
  return found.workspace_id;
}

function readPassword(password: string, address: string): Credential | AppError {
  const credential = readCredential(password, address);
  if (!(credential instanceof AppError)) return credential;
  return new AppError('malformed_key', 'The password must be an API key, pr_live_ or pr_test_ with 64 hex digits.');
}
