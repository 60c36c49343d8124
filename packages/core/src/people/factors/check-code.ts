import type { Tx } from '@postrider/db';
import { recordAudit } from '../../audit/index.ts';
import { createContext } from '../../create-context.ts';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { noteAccount } from '../notices/note-account.ts';
import type { Origin } from '../notices/notice-store.ts';
import { beginAttempt } from '../sessions/login-tries.ts';
import { holdUser, type UserRow } from '../store.ts';
import { accountChain } from '../visitor-context.ts';
import { countCode, forgiveCode, minutesLocked, readFactor, useRecoveryCode, useStep } from './factor-store.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { CODE_PATTERN, stepOf, totpPurpose, withoutSpaces } from './totp.ts';

// Of one person, from all networks. Only someone with the right password or link gets to enter a code.
const MAX_WRONG_CODES = 5;
const MAX_WRONG_CODES_PER_DAY = 30;
const LIMITS = { window: MAX_WRONG_CODES, day: MAX_WRONG_CODES_PER_DAY };

export type CodeMethod = 'totp' | 'recovery_code';
/** Who enters a code, after which proof: a session or a pending sign-in. */
export type CodeSource = Origin & { readonly request_id: string; readonly proof: string };

export interface ProvenUser {
  readonly user: UserRow;
  readonly method: CodeMethod;
}

/**
 * Checks a person's code and runs the work in the transaction that uses it up. Wrong codes lock only the codes of the app:
 * recovery codes are too long to guess.
 */
export async function withCode<T>(
  services: Services,
  user_id: string,
  code: string,
  source: CodeSource,
  work: (tx: Tx, proven: ProvenUser) => Promise<T>,
): Promise<T> {
  const text = withoutSpaces(code);
  const is_counted = CODE_PATTERN.test(text);
  const is_last = is_counted && (await countTry(services, user_id));
  const attempt = is_counted ? null : await beginAttempt(services, { kind: 'session', id: source.proof });
  const outcome = await services.sql.begin(async (tx) => {
    // The user is locked before the factor, in the same order as when the credential is replaced.
    const user = await holdUser(tx, user_id);
    const method = user && (await useCode(tx, services, user_id, text));
    if (!method) {
      if (user && is_last) await noteLock(services, tx, user, source);
      return null;
    }
    if (is_counted) await forgiveCode(tx, user_id);
    else await noteAccount(services, tx, user_id, 'recovery_code_used', source);
    return { value: await work(tx, { user, method }) };
  });
  if (outcome === null) throw wrongCode();
  await attempt?.forgive();
  return outcome.value;
}

export function wrongCode(): AppError {
  return new AppError('invalid_code', 'Wrong code. Each code works once.');
}

/** Counts a code as wrong until it turns out to be right; returns whether a wrong one locks the codes. */
async function countTry({ sql }: Services, user_id: string): Promise<boolean> {
  const count = await countCode(sql, user_id, LIMITS);
  if (count) return count.last;
  const minutes = await minutesLocked(sql, user_id, LIMITS);
  const wait = minutes > 60 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} min`;
  throw new AppError('login_rate', `Too many wrong codes. Enter a recovery code, or try again in ${wait}.`, {
    retry_after_seconds: minutes * 60,
  });
}

async function noteLock(services: Services, tx: Tx, user: UserRow, source: CodeSource): Promise<void> {
  await noteAccount(services, tx, user.id, 'codes_locked', source);
  const workspace_id = await accountChain(tx, user);
  const actor = { kind: 'system', workspace_id } as const;
  const { request_id, address } = source;
  const ctx = { ...createContext(services, actor, { request_id, address, via: 'dashboard' }), actor };
  await recordAudit(tx, ctx, [{ action: 'user.codes_locked', target_id: user.id, workspace_id }]);
}

async function useCode(
  tx: Tx,
  services: Pick<Services, 'encryption' | 'clock'>,
  user_id: string,
  code: string,
): Promise<CodeMethod | null> {
  if (!CODE_PATTERN.test(code))
    return (await useRecoveryCode(tx, user_id, hashRecoveryCode(code))) ? 'recovery_code' : null;
  const factor = await readFactor(tx, user_id);
  if (factor === null) return null;
  const secret = services.encryption.decrypt(factor.secret, totpPurpose(user_id));
  const step = await stepOf(secret, code, services.clock.now());
  return step !== null && (await useStep(tx, user_id, step)) ? 'totp' : null;
}
