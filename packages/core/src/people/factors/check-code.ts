import type { Tx } from '@postrider/db';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { holdUser, type UserRow } from '../store.ts';
import { countCode, forgiveCode, minutesLocked, readFactor, useRecoveryCode, useStep } from './factor-store.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { CODE_PATTERN, stepOf, totpPurpose } from './totp.ts';

/** Wrong codes of one person from all networks. Someone who guesses already has the password. */
const LIMITS = { window: 5, day: 30 };

export type CodeMethod = 'totp' | 'recovery_code';
type Parts = Pick<Services, 'sql' | 'encryption' | 'clock'>;

export interface ProvenUser {
  readonly user: UserRow;
  readonly method: CodeMethod;
}

/**
 * Uses up a code of a person in the transaction of what it proves. Wrong codes lock only the codes of the app, and never
 * recovery codes, which are too long to guess.
 */
export async function withCode<T>(
  parts: Parts,
  user_id: string,
  code: string,
  work: (tx: Tx, proven: ProvenUser) => Promise<T>,
): Promise<T> {
  const typed = code.replace(/\s/g, '');
  const is_counted = CODE_PATTERN.test(typed);
  if (is_counted) await countTry(parts, user_id);
  const outcome = await parts.sql.begin(async (tx) => {
    // The user is locked before the factor, in the same order as when the credential is replaced.
    const user = await holdUser(tx, user_id);
    const method = user && (await useCode(tx, parts, user_id, typed));
    if (!method) return null;
    if (is_counted) await forgiveCode(tx, user_id);
    return { value: await work(tx, { user, method }) };
  });
  if (outcome === null) throw wrongCode();
  return outcome.value;
}

export function wrongCode(): AppError {
  return new AppError('invalid_code', 'Wrong code. Each code works once.');
}

async function countTry({ sql }: Parts, user_id: string): Promise<void> {
  if (await countCode(sql, user_id, LIMITS)) return;
  const minutes = await minutesLocked(sql, user_id, LIMITS);
  throw new AppError('login_rate', `Too many wrong codes. Enter a recovery code, or try again in ${minutes} min.`, {
    retry_after_seconds: minutes * 60,
  });
}

async function useCode(tx: Tx, parts: Parts, user_id: string, code: string): Promise<CodeMethod | null> {
  if (!CODE_PATTERN.test(code))
    return (await useRecoveryCode(tx, user_id, hashRecoveryCode(code))) ? 'recovery_code' : null;
  const factor = await readFactor(tx, user_id);
  if (!factor?.active_at) return null;
  const secret = parts.encryption.decrypt(factor.secret, totpPurpose(user_id));
  const step = stepOf(secret, code, parts.clock.now());
  return step !== null && (await useStep(tx, user_id, step)) ? 'totp' : null;
}
