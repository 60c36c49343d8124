import type { Tx } from '@postrider/db';
import { z } from 'zod';
import { newId } from '../fields/ids.ts';
import { timeField } from '../fields/wire.ts';
import type { ActorContext } from '../operation/context.ts';
import { scopeRefusal } from '../operation/scope-refusal.ts';
import { replaceCredential } from './replace-credential.ts';
import { newLoginLink } from './sessions/create-login-link.ts';
import { hashPassword, newPassword } from './sessions/password.ts';
import { inPasswordPlace } from './sessions/password-places.ts';
import { insertUser, type UserRow, userByEmail } from './store.ts';

/** How a new user first signs in. The link or password is shown only once. */
export const entryWays = ['login_link', 'password'] as const;
type EntryMethod = (typeof entryWays)[number];

export const entryField = z.enum(entryWays).default('login_link').meta({
  description: 'First sign-in for a new user: a link that expires in 15 minutes, or a password.',
});

export const entrySchema = z.object({
  password: z.string().nullable().meta({ description: 'Only returned here.' }),
  login_url: z.string().nullable().meta({ description: 'Works once, only returned here.' }),
  login_url_expires_at: timeField.nullable(),
});
export type Entry = z.output<typeof entrySchema>;

const none: Entry = { password: null, login_url: null, login_url_expires_at: null };

/**
 * Returns a new user's password with its hash; null if the user gets a login link. The hash is computed before the
 * transaction because hashing is slow; meanwhile, the password takes a place in the queue that counts against `owner`,
 * the inviting side.
 */
export async function preparedEntry(
  ctx: ActorContext,
  owner: string,
  entry_method: EntryMethod,
): Promise<{ password: string; password_hash: string } | null> {
  if (entry_method === 'login_link') return null;
  const password = newPassword();
  return { password, password_hash: await inPasswordPlace(ctx, owner, () => hashPassword(password)) };
}

interface AdmittedPerson {
  readonly user: UserRow;
  readonly entry: Entry;
}

/** Admits an existing user, unchanged: their credentials stay valid. */
export function knownAs(user: UserRow): AdmittedPerson {
  return { user, entry: none };
}

/** Creates a user or resets an existing one: from now on only the credential in this response is valid. */
export async function admitWithEntry(
  tx: Tx,
  ctx: ActorContext,
  email: string,
  prepared: Awaited<ReturnType<typeof preparedEntry>>,
): Promise<AdmittedPerson> {
  const password_hash = prepared?.password_hash ?? null;
  const vouched = scopeRefusal(ctx.actor, 'operator') === null;
  const fresh: UserRow = { id: newId('user', ctx.clock.now()), email, password_hash, operator: false, vouched };
  const known = (await insertUser(tx, fresh)) ? null : await userByEmail(tx, email);
  const user = known ?? fresh;
  if (known) {
    await replaceCredential(ctx, tx, known.id, { password_hash, vouched }, { address: ctx.address });
  }
  if (prepared) return { user, entry: { ...none, password: prepared.password } };
  const { url, expires_at } = await newLoginLink(tx, ctx.public_url, user.id);
  return { user, entry: { ...none, login_url: url, login_url_expires_at: expires_at } };
}
