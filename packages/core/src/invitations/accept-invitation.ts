import type { Sql, Tx } from '@postrider/db';
import { recordAudit } from '../audit/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import {
  type Arrival,
  beginAttempt,
  chosenPassword,
  grantOperator,
  hashPassword,
  hashToken,
  inPasswordPlace,
  insertMember,
  insertUser,
  lockEmail,
  lockKnown,
  memberExists,
  originOf,
  replaceCredential,
  type SignInOutcome,
  settledElsewhere,
  signIn,
  type UserRow,
  visitorContext,
} from '../people/index.ts';
import { addressSubject, requireRoomInPlan } from '../usage/index.ts';
import type { InvitedRole } from './invited-roles.ts';
import { invitationByToken, type OpenedRow, takeInvitation } from './store.ts';

export interface OpenedInvitation {
  readonly email: string;
  readonly role: InvitedRole;
  readonly invited_by: string;
  /** Null for an operator. */
  readonly workspace_name: string | null;
  /** Whether accepting sets a password; otherwise the person keeps theirs. */
  readonly needs_password: boolean;
}

/** Returns what a link invites to. Throws if it can no longer be accepted. */
export async function readInvitation(services: Pick<Services, 'sql'>, token: string): Promise<OpenedInvitation> {
  const row = requirePending(await invitationByToken(services.sql, hashToken(token)));
  const { email, role, invited_by, workspace_name } = row;
  return { email, role, invited_by, workspace_name, needs_password: await needsPassword(services.sql, row) };
}

/**
 * Accepts an invitation and uses it up. A person without a settled account chooses a password and is signed in; null
 * means that the account existed and keeps its credential. The rules are those of an immediate invitation.
 */
export async function acceptInvitation(
  services: Services,
  token: string,
  password: string,
  arrival: Arrival,
): Promise<SignInOutcome | null> {
  const attempt = await beginAttempt(services, { kind: 'stranger', email: null, address: arrival.address });
  const token_hash = hashToken(token);
  const opened = requirePending(await invitationByToken(services.sql, token_hash));
  const password_hash = (await needsPassword(services.sql, opened))
    ? await hashed(services, password, arrival.address)
    : null;
  const signed_in = await services.sql.begin(async (tx) => {
    await lockEmail(tx, opened.email);
    if (!(await takeInvitation(tx, token_hash))) throw closed(await invitationByToken(tx, token_hash));
    const person = await admit(services, tx, opened, password_hash, arrival);
    await grant(tx, opened, person.user.id);
    const { id: user_id, email } = person.user;
    const workspace_id = opened.workspace_id ?? INSTANCE;
    const ctx = visitorContext(services, person.user, workspace_id, arrival);
    const { role, id: invitation_id } = opened;
    const action = role === 'operator' ? 'operator.added' : 'member.added';
    await recordAudit(tx, ctx, [{ action, target_id: user_id, diff: { email, role, invitation_id }, workspace_id }]);
    return person.kept ? null : signIn(services, tx, person.user, arrival, false);
  });
  await attempt.forgive();
  return signed_in;
}

async function hashed(services: Services, password: string, address: string): Promise<string> {
  const chosen = chosenPassword(password);
  return inPasswordPlace(services, addressSubject(address), () => hashPassword(chosen));
}

/** Returns whether the account keeps its credential, because no admin of a workspace has seen it. */
function keepsCredential(row: OpenedRow, known: { settled: boolean; vouched: boolean } | null): boolean {
  return row.role !== 'operator' && known !== null && known.settled && known.vouched;
}

async function needsPassword(sql: Sql, row: OpenedRow): Promise<boolean> {
  return sql.begin(async (tx) => !keepsCredential(row, await knownOf(tx, row)));
}

async function knownOf(tx: Tx, row: OpenedRow) {
  const known = await lockKnown(tx, row.email, row.workspace_id ?? row.id);
  if (known === null) return null;
  const settled = known.operator || known.somewhere;
  if (row.role === 'operator') {
    if (known.operator) throw new AppError('operator_exists', `${row.email} is already an operator.`);
  } else {
    if (known.here) throw memberExists(row.email);
    if (settled && !row.vouched) throw settledElsewhere(row.email);
  }
  return { ...known, settled };
}

/** Creates the user, replaces a credential that an admin may have seen, or keeps the user as it is. */
async function admit(
  services: Services,
  tx: Tx,
  row: OpenedRow,
  password_hash: string | null,
  arrival: Arrival,
): Promise<{ readonly user: UserRow; readonly kept: boolean }> {
  const known = await knownOf(tx, row);
  if (known && keepsCredential(row, known)) return { user: known, kept: true };
  // The account changed while the password was being hashed, or was not.
  if (password_hash === null) throw changedMeanwhile();
  const { vouched, email } = row;
  const operator = row.role === 'operator';
  if (known) {
    await replaceCredential(services, tx, known.id, { password_hash, vouched }, originOf(arrival));
    return { user: { ...known, password_hash, vouched, operator: known.operator || operator }, kept: false };
  }
  const user = { id: newId('user', services.clock.now()), email, password_hash, operator, vouched };
  await insertUser(tx, { ...user, operator: false });
  return { user, kept: false };
}

async function grant(tx: Tx, { workspace_id, role, email }: OpenedRow, user_id: string): Promise<void> {
  if (role === 'operator' || workspace_id === null) {
    await grantOperator(tx, user_id);
    return;
  }
  await requireRoomInPlan(tx, workspace_id, 'members');
  if (!(await insertMember(tx, { workspace_id, user_id, role }))) throw memberExists(email);
}

function requirePending(row: OpenedRow | null): OpenedRow {
  if (row?.status === 'pending') return row;
  throw closed(row);
}

const endings: Readonly<Record<OpenedRow['status'], string>> = {
  accepted: 'This invitation was already used. Sign in instead, or ask for a new one.',
  revoked: 'This invitation was revoked or replaced by a newer one.',
  expired: 'This invitation has expired. Ask for a new one.',
  pending: 'This invitation cannot be accepted right now. Try again.',
};

function closed(row: OpenedRow | null): AppError {
  return new AppError('invitation_closed', endings[row?.status ?? 'revoked']);
}

function changedMeanwhile(): AppError {
  return new AppError('invitation_closed', endings.pending);
}
