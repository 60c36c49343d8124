import type { Tx } from '@postrider/db';
import { recordAudit } from '../../audit/index.ts';
import { createContext } from '../../create-context.ts';
import type { Services, UserActor } from '../../operation/context.ts';
import { AppError } from '../../operation/errors.ts';
import { program_name } from '../../process/program.ts';
import { type CodeMethod, withCode } from '../factors/check-code.ts';
import { hasFactor } from '../factors/factor-store.ts';
import { insertPending, readPending, takePending } from '../factors/pending-store.ts';
import { readableUserAgent } from '../notices/device-of.ts';
import { noteAccount } from '../notices/note-account.ts';
import { chainOf, scopesOf } from '../roles.ts';
import { holdUser, type UserRow, workspacesOf } from '../store.ts';
import { beginSession } from './begin-session.ts';
import { checkPassword, type Login, wrongPassword } from './check-password.ts';
import { hasDevices, insertDevice, noteDeviceUse } from './device-store.ts';
import { beginAttempt } from './login-tries.ts';
import { deleteSessionOf, readLinkOwner, takeLink } from './session-store.ts';
import { hashToken, newToken } from './token.ts';

export interface Arrival {
  readonly request_id: string;
  readonly address: string;
  /** What the browser says it is. */
  readonly user_agent: string | null;
  /** The browser's current session, which the new one replaces. */
  readonly replaces: string | null;
  /** The token that identifies the browser. */
  readonly device: string | null;
}

/** Returned only to the browser. */
export type SignInOutcome =
  | {
      readonly kind: 'signed_in';
      readonly token: string;
      /** Null if the browser already has one. */
      readonly device: string | null;
    }
  /** The person has a second factor. The token names the sign-in that lacks it, for ten minutes. */
  | { readonly kind: 'code_required'; readonly token: string };

/** Starts a session by password; only this response contains its token. */
export async function login(
  services: Services,
  credentials: Omit<Login, 'from'>,
  arrival: Arrival,
): Promise<SignInOutcome> {
  const { address, device } = arrival;
  const from = { address, device_hash: device === null ? null : hashToken(device) };
  const checked = await checkPassword(services, { ...credentials, from });
  return services.sql.begin(async (tx) => {
    const user = await holdUser(tx, checked.id);
    // A password change since the check has ended the existing sessions but would miss this one.
    if (user?.password_hash !== checked.password_hash) throw wrongPassword();
    return signIn(services, tx, user, arrival, false);
  });
}

/** Starts a session by login link and consumes the link. */
export async function loginByLink(services: Services, link: string, arrival: Arrival): Promise<SignInOutcome> {
  const attempt = await beginAttempt(services, { kind: 'stranger', email: null, address: arrival.address });
  const signed_in = await services.sql.begin(async (tx) => {
    const token_hash = hashToken(link);
    // The user is locked before the link, in the same order as a password change.
    const owner = await readLinkOwner(tx, token_hash);
    const user = owner === null ? null : await holdUser(tx, owner);
    if (user === null || !(await takeLink(tx, token_hash)))
      throw new AppError(
        'invalid_login',
        `This link was used or has expired. Ask for a new one, or run ${program_name} operators login-link on the server.`,
      );
    return signIn(services, tx, user, arrival, true);
  });
  await attempt.forgive();
  return signed_in;
}

/**
 * Signs in a user whose password or link has been checked in the same transaction. Without a second factor, this starts
 * a session.
 */
export async function signIn(
  services: Services,
  tx: Tx,
  user: UserRow,
  arrival: Arrival,
  by_link: boolean,
): Promise<SignInOutcome> {
  if (!(await hasFactor(tx, user.id))) return startSession(services, tx, user, arrival, { by_link });
  const token = newToken();
  await insertPending(tx, hashToken(token), { user_id: user.id, by_link });
  return { kind: 'code_required', token };
}

/** Starts the session of a pending sign-in, and uses up its code. */
export async function loginByCode(
  services: Services,
  { pending_token, code }: { readonly pending_token: string; readonly code: string },
  arrival: Arrival,
): Promise<SignInOutcome> {
  const token_hash = hashToken(pending_token);
  const pending = await readPending(services.sql, token_hash);
  if (pending === null) {
    await beginAttempt(services, { kind: 'stranger', email: null, address: arrival.address });
    throw pendingClosed();
  }
  const { user_id, by_link } = pending;
  const source = { ...originOf(arrival), request_id: arrival.request_id, proof: token_hash.toString('base64url') };
  return withCode(services, user_id, code, source, async (tx, { user, method }) => {
    if (!(await takePending(tx, token_hash))) throw pendingClosed();
    return startSession(services, tx, user, arrival, { by_link, second_factor: method });
  });
}

function pendingClosed(): AppError {
  return new AppError('invalid_login', 'This sign-in has expired. Sign in again.');
}

async function startSession(
  services: Services,
  tx: Tx,
  user: UserRow,
  arrival: Arrival,
  { by_link, second_factor }: { readonly by_link: boolean; readonly second_factor?: CodeMethod },
): Promise<SignInOutcome> {
  const { request_id, address, replaces, device } = arrival;
  const [home] = await workspacesOf(tx, user, 1);
  if (!home) {
    throw new AppError('no_membership', 'You no longer belong to a workspace. Ask an admin to add you.');
  }
  if (replaces !== null) await deleteSessionOf(tx, hashToken(replaces));
  const { id, token } = await beginSession(tx, services.clock.now(), {
    user_id: user.id,
    workspace_id: home.id,
    by_link,
    ...originOf(arrival),
  });
  const actor: UserActor = {
    kind: 'user',
    workspace_id: home.id,
    user_id: user.id,
    session_id: id,
    email: user.email,
    scopes: scopesOf({ operator: user.operator, role: home.role }),
    factor_due: false,
  };
  const ctx = { ...createContext(services, actor, { request_id, address, via: 'dashboard' }), actor };
  // The first sign-in of an account, or after all its devices were forgotten, is no news.
  const has_devices = await hasDevices(tx, user.id);
  const device_token = await rememberDevice(tx, device, user.id);
  const new_device = has_devices && device_token !== null;
  await recordAudit(tx, ctx, [
    {
      action: 'user.signed_in',
      target_id: user.id,
      diff: {
        by: by_link ? 'link' : 'password',
        ...(second_factor && { second_factor }),
        ...(new_device && { new_device }),
      },
      workspace_id: chainOf(actor),
    },
  ]);
  if (new_device) await noteAccount(services, tx, user.id, 'new_device', originOf(arrival));
  return { kind: 'signed_in', token, device: device_token };
}

/** Returns where a visitor comes from, for people to read. */
export function originOf({ address, user_agent }: Arrival) {
  return { address, user_agent: user_agent && readableUserAgent(user_agent) };
}

/** Returns a token for a device on which the user has not signed in before. */
async function rememberDevice(tx: Tx, device: string | null, user_id: string): Promise<string | null> {
  if (device !== null && (await noteDeviceUse(tx, hashToken(device), user_id))) return null;
  const token = newToken();
  await insertDevice(tx, hashToken(token), user_id);
  return token;
}
