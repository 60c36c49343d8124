import type { Services } from '../context.ts';
import { AppError } from '../errors.ts';
import { personEmail } from './email.ts';
import { beginTry } from './login-tries.ts';
import { passwordsWaiting, verifyPassword } from './password.ts';
import { type UserRow, userByEmail } from './store.ts';

// Each takes about a third of a second, so whoever comes later would have given up by their turn.
const MOST_WAITING = 20;

/** What somebody signs in with. */
export interface Login {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

export function wrongPassword(): AppError {
  return new AppError('invalid_login', 'E-mail address and password do not belong together.');
}

/** The same to somebody who is signed in: there is no address that could be wrong. */
export function notYourPassword(): AppError {
  return new AppError('invalid_login', 'The password is not right.');
}

/** Whose e-mail address and password these are. Refusals take the same time and say the same, known or not. */
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
