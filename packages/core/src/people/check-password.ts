import type { Services } from '../context.ts';
import { personEmail } from './email.ts';
import { verifyPassword } from './password.ts';
import { userByEmail } from './store.ts';

// Costs as much as a real comparison, so that an unknown e-mail address answers no faster than a known one.
const NOBODY = `scrypt$131072$8$1$${Buffer.alloc(16).toString('base64')}$${Buffer.alloc(32).toString('base64')}`;

/** Whether e-mail address and password belong to an operator. */
export async function verifyOperator(
  services: Pick<Services, 'sql'>,
  email: string,
  password: string,
): Promise<boolean> {
  const user = await userByEmail(services.sql, personEmail(email) ?? '');
  const matches = await verifyPassword(password, user?.password_hash ?? NOBODY);
  return matches && user?.operator === true;
}
