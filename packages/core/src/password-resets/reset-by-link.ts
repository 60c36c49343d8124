import { recordAudit } from '../audit/index.ts';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import {
  type Arrival,
  accountChain,
  beginAttempt,
  chosenPassword,
  endSessions,
  hashPassword,
  hashToken,
  inPasswordPlace,
  lockUser,
  noteAccount,
  originOf,
  replacePasswordHash,
  type SignInOutcome,
  signIn,
  visitorContext,
} from '../people/index.ts';
import { addressSubject } from '../usage/index.ts';
import { isResetOpen, resetOwner, takeReset } from './store.ts';

/**
 * Sets a new password by an emailed link, ends every session of the person, and starts one here. Someone who reads a
 * person's email does not have their second factor, which stays.
 */
export async function resetByLink(
  services: Services,
  token: string,
  password: string,
  arrival: Arrival,
): Promise<SignInOutcome> {
  const { address } = arrival;
  const attempt = await beginAttempt(services, { kind: 'stranger', email: null, address });
  const token_hash = hashToken(token);
  // Hashing is slow, so only a link that is open reaches it.
  if (!(await isResetOpen(services.sql, token_hash))) throw linkClosed();
  const chosen = chosenPassword(password);
  const password_hash = await inPasswordPlace(services, addressSubject(address), () => hashPassword(chosen));
  const signed_in = await services.sql.begin(async (tx) => {
    // The user is locked before the link, in the same order as when a newer link replaces it.
    const owner = await resetOwner(tx, token_hash);
    const user = owner === null ? null : await lockUser(tx, owner);
    if (user === null || !(await takeReset(tx, token_hash))) throw linkClosed();
    await replacePasswordHash(tx, user.id, password_hash);
    await noteAccount(services, tx, user.id, 'password_changed', originOf(arrival));
    await endSessions(tx, user.id);
    const workspace_id = await accountChain(tx, user);
    const ctx = visitorContext(services, user, workspace_id, arrival);
    await recordAudit(tx, ctx, [
      { action: 'user.password_reset', target_id: user.id, diff: { by: 'email' }, workspace_id },
    ]);
    return signIn(services, tx, { ...user, password_hash }, arrival, false);
  });
  await attempt.forgive();
  return signed_in;
}

function linkClosed(): AppError {
  return new AppError('invalid_login', 'This reset link was used, was replaced by a newer one or has expired.');
}
