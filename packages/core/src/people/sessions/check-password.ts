import { personEmail } from '../../fields/email.ts';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { type UserRow, userByEmail } from '../store.ts';
import { beginTry } from './login-tries.ts';
import { passwordsWaiting, verifyPassword } from './password.ts';

// Each check takes about a third of a second; a longer queue would exceed the clients' timeouts.
const MOST_WAITING = 20;

export interface Login {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

export function wrongPassword(): AppError {
  return new AppError('invalid_login', 'Wrong email or password.');
}

/** For a signed-in user, who gave no email address. */
export function notYourPassword(): AppError {
  return new AppError('invalid_login', 'The password is not right.');
}

/**
 * Finds the user of an email and password. Unknown emails and wrong passwords take the same time and answer the same.
 */
export async function checkPassword(
  services: Pick<Services, 'sql'>,
  login: Login,
  refusal = wrongPassword,
): Promise<UserRow> {
  const { password, address } = login;
  if (passwordsWaiting() >= MOST_WAITING) {
    throw new AppError('login_rate', 'Too many people sign in at this moment; try again in a minute.');
  }
  const email = personEmail(login.email);
  const attempt = await beginTry(services, { email: email ?? login.email, address });
  const user = email === null ? null : await userByEmail(services.sql, email);
  const matches = await verifyPassword(password, user?.password_hash ?? null);
  if (user === null || !matches) {
    throw refusal();
  }
  await attempt.forgive();
  return user;
}
