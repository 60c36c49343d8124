import { personEmail } from '../../fields/email.ts';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { addressSubject } from '../../usage/index.ts';
import { type UserRow, userByEmail } from '../store.ts';
import { isKnownDevice } from './device-store.ts';
import { beginAttempt, type LoginSource } from './login-tries.ts';
import { verifyPassword } from './password.ts';
import { inPasswordPlace } from './password-places.ts';

export interface Login {
  readonly email: string;
  readonly password: string;
  readonly from: Visitor;
}

/** The origin of a password: a browser that may be a known device, or an existing session. */
export type Visitor =
  | { readonly session_id: string }
  | { readonly address: string; readonly device_hash: Buffer | null };

export function wrongPassword(): AppError {
  return new AppError('invalid_login', 'Wrong email or password.');
}

/**
 * Returns the error for a wrong password of a signed-in user. It does not mention the email address, because the user
 * did not enter one.
 */
export function notYourPassword(): AppError {
  return new AppError('invalid_login', 'Wrong password.');
}

/**
 * Finds the user with an email and password. Unknown emails and wrong passwords take the same time and return the same
 * error.
 */
export async function checkPassword(
  services: Pick<Services, 'sql' | 'metrics'>,
  login: Login,
  refusal = wrongPassword,
): Promise<UserRow> {
  const email = personEmail(login.email);
  const source = await sourceOf(services, login, email);
  return inPasswordPlace(services, ownerOf(source), async () => {
    const attempt = await beginAttempt(services, source);
    const user = email === null ? null : await userByEmail(services.sql, email);
    const matches = await verifyPassword(login.password, user?.password_hash ?? null);
    if (user === null || !matches) throw refusal();
    await attempt.forgive();
    return user;
  });
}

async function sourceOf(
  { sql }: Pick<Services, 'sql'>,
  { email: typed, from }: Login,
  email: string | null,
): Promise<LoginSource> {
  if ('session_id' in from) return { kind: 'session', id: from.session_id };
  const { address, device_hash } = from;
  if (device_hash !== null && email !== null && (await isKnownDevice(sql, device_hash, email)))
    return { kind: 'device', token_hash: device_hash };
  return { kind: 'stranger', email: email ?? typed, address };
}

function ownerOf(source: LoginSource): string {
  if (source.kind === 'session') return source.id;
  return source.kind === 'device' ? source.token_hash.toString('base64url') : addressSubject(source.address);
}
