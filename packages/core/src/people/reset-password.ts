import type { Services } from '../context.ts';
import { hashPassword, newPassword } from './password.ts';
import { replacePasswordHash } from './store.ts';

/** Gives an operator a new password, known only to whoever asked; null where nobody has this e-mail address. */
export async function resetPassword(services: Pick<Services, 'sql'>, email: string): Promise<string | null> {
  const password = newPassword();
  const replaced = await replacePasswordHash(services.sql, email, await hashPassword(password));
  return replaced ? password : null;
}
