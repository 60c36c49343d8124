import { hash } from 'node:crypto';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { addressSubject } from '../../usage/index.ts';
import { countAttempt, forgetTries, forgiveAttempt, type Tries } from './login-failures-store.ts';

const MAX_PER_ACCOUNT_AND_NETWORK = 20;
// Only an account whose password is being guessed from many networks reaches this.
const MAX_PER_ACCOUNT = 200;
// Many users may share one address.
const MAX_PER_NETWORK = 60;
const MAX_PER_PROOF = 20;

/**
 * Who is signing in. A known device and a session have their own counts, so that wrong passwords from elsewhere do not
 * lock out a user at their own desk.
 */
export type LoginSource =
  | { readonly kind: 'stranger'; readonly email: string | null; readonly address: string }
  | { readonly kind: 'device'; readonly token_hash: Buffer }
  | { readonly kind: 'session'; readonly id: string };

/** A sign-in attempt that counts as failed until it is forgiven. */
export interface LoginAttempt {
  forgive(): Promise<void>;
}

interface Subjects {
  /** Cleared by a success. */
  readonly own: string | null;
  /** Shared with others, who may be guessing: a success refunds only its own attempt. */
  readonly shared: readonly string[];
  readonly limits: ReadonlyMap<string, number>;
}

/**
 * Counts an attempt across all processes; throws above a limit. Known and unknown emails count the same. Only a hash of
 * the email is stored, because people type passwords into the wrong field.
 */
export async function beginAttempt({ sql }: Pick<Services, 'sql'>, source: LoginSource): Promise<LoginAttempt> {
  const { own, shared, limits } = subjectsOf(source);
  const attempts = await countAttempt(sql, [...limits.keys()]);
  const exceeded = attempts.filter(({ subject, failed }) => failed > (limits.get(subject) ?? 0));
  if (exceeded.length > 0) throw tooManyAttempts(exceeded, 'failed sign-ins');
  return {
    async forgive() {
      if (own !== null) await forgetTries(sql, own);
      await forgiveAttempt(sql, shared);
    },
  };
}

export function tooManyAttempts(exceeded: readonly Tries[], noun: string): AppError {
  const minutes = Math.max(1, ...exceeded.map(({ minutes_left }) => minutes_left));
  return new AppError('login_rate', `Too many ${noun}. Try again in ${minutes} min.`, {
    retry_after_seconds: minutes * 60,
  });
}

function subjectsOf(source: LoginSource): Subjects {
  if (source.kind !== 'stranger') {
    const own = source.kind === 'device' ? `device ${source.token_hash.toString('base64url')}` : `session ${source.id}`;
    return { own, shared: [], limits: new Map([[own, MAX_PER_PROOF]]) };
  }
  const network = `address ${addressSubject(source.address)}`;
  if (source.email === null) return { own: null, shared: [network], limits: new Map([[network, MAX_PER_NETWORK]]) };
  const account = `account ${hash('sha256', source.email, 'base64url')}`;
  const own = `${account} ${network}`;
  return {
    own,
    shared: [account, network],
    limits: new Map([
      [own, MAX_PER_ACCOUNT_AND_NETWORK],
      [account, MAX_PER_ACCOUNT],
      [network, MAX_PER_NETWORK],
    ]),
  };
}
