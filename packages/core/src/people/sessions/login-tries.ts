import { hash } from 'node:crypto';
import type { Services } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { addressSubject } from '../../usage/index.ts';
import { countTry, forgiveTry } from './login-failures-store.ts';

const MOST_OF_ACCOUNT = 20;
// Many users may share one address.
const MOST_OF_ADDRESS = 60;

/** A try to sign in that counts as failed until it is forgiven. */
export interface LoginTry {
  forgive(): Promise<void>;
}

/**
 * Counts a try for its email and its client address, over all processes; throws past either limit. Known and unknown
 * emails count the same. Only a hash is stored, because people type passwords into the wrong field.
 */
export async function beginTry(
  services: Pick<Services, 'sql'>,
  from: { readonly email: string | null; readonly address: string },
): Promise<LoginTry> {
  const { sql } = services;
  const account = from.email === null ? null : `account ${hash('sha256', from.email, 'base64url')}`;
  const address = `address ${addressSubject(from.address)}`;
  const counted = await countTry(sql, account === null ? [address] : [account, address]);
  const over = counted.filter(
    ({ subject, failed }) => failed > (subject === account ? MOST_OF_ACCOUNT : MOST_OF_ADDRESS),
  );
  if (over.length > 0) {
    const minutes = Math.max(1, ...over.map(({ minutes_left }) => minutes_left));
    throw new AppError('login_rate', `Too many attempts to sign in failed; try again in ${minutes} min.`);
  }
  return { forgive: () => forgiveTry(sql, account, address) };
}
