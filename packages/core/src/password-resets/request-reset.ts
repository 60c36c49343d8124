import { hash } from 'node:crypto';
import { recordAudit } from '../audit/index.ts';
import { createContext } from '../create-context.ts';
import { personEmail } from '../fields/email.ts';
import { sendLink, usableSender } from '../link-emails/index.ts';
import { INSTANCE } from '../operation/access.ts';
import type { Services } from '../operation/context.ts';
import {
  type Arrival,
  countAttempt,
  hashToken,
  lockUser,
  newToken,
  tooManyAttempts,
  userByEmail,
  workspacesOf,
} from '../people/index.ts';
import { program_name } from '../process/program.ts';
import { addressSubject } from '../usage/index.ts';
import { replaceReset } from './store.ts';

const MAX_PER_NETWORK = 20;
const MAX_PER_ACCOUNT_AND_NETWORK = 3;
// Only an account that is flooded from many networks reaches this.
const MAX_PER_ACCOUNT = 30;

export interface ResetRequest {
  /** The same for every address. */
  readonly message: string;
  /** Resolves once the email has been accepted, or there is none to send. */
  readonly done: Promise<void>;
}

/**
 * Emails a reset link if there is such a person. The response comes before the person is looked up, so neither its text
 * nor its time reveals whether there is one.
 */
export async function requestReset(
  services: Services,
  typed: string,
  arrival: Pick<Arrival, 'request_id' | 'address'>,
): Promise<ResetRequest> {
  const email = personEmail(typed);
  await countRequest(services, email ?? typed, arrival.address);
  if ((await usableSender(services, null)) === null) {
    return {
      message: `This instance can’t email reset links. An operator can set a new password on the server: ${program_name} operators reset-password EMAIL.`,
      done: Promise.resolve(),
    };
  }
  const done =
    email === null
      ? Promise.resolve()
      : emailReset(services, email, arrival).catch((error: unknown) =>
          services.log.error({ err: error }, 'failed to email a password reset'),
        );
  return {
    message: `If an account exists for ${typed.trim().slice(0, 254)}, a reset link is on its way.`,
    done,
  };
}

/** Counts the network first, so that a network above its limit adds no rows for addresses that it makes up. */
async function countRequest({ sql }: Services, email: string, address: string): Promise<void> {
  const network = `reset ${addressSubject(address)}`;
  const account = `reset ${hash('sha256', email, 'base64url')}`;
  const rounds: readonly ReadonlyMap<string, number>[] = [
    new Map([[network, MAX_PER_NETWORK]]),
    new Map([[`${account} ${network}`, MAX_PER_ACCOUNT_AND_NETWORK]]),
    new Map([[account, MAX_PER_ACCOUNT]]),
  ];
  for (const limits of rounds) {
    const counts = await countAttempt(sql, [...limits.keys()]);
    const exceeded = counts.filter(({ subject, failed }) => failed > (limits.get(subject) ?? 0));
    if (exceeded.length > 0) throw tooManyAttempts(exceeded, 'password resets');
  }
}

async function emailReset(
  services: Services,
  email: string,
  { request_id, address }: Pick<Arrival, 'request_id' | 'address'>,
): Promise<void> {
  const token = newToken();
  const is_known = await services.sql.begin(async (tx) => {
    const known = await userByEmail(tx, email);
    const user = known && (await lockUser(tx, known.id));
    const [home] = user ? await workspacesOf(tx, user, 1) : [];
    if (!user || !home) return false;
    await replaceReset(tx, user.id, hashToken(token));
    const workspace_id = user.operator ? INSTANCE : home.id;
    const actor = { kind: 'system', workspace_id } as const;
    const ctx = { ...createContext(services, actor, { request_id, address, via: 'dashboard' }), actor };
    await recordAudit(tx, ctx, [{ action: 'user.password_reset_requested', target_id: user.id, workspace_id }]);
    return true;
  });
  if (!is_known) return;
  await sendLink(services, {
    to: email,
    subject: 'Reset your Postrider password',
    before: 'Open this link to choose a new Postrider password:',
    after: 'The link works once and expires in 1 hour. If you didn’t request it, ignore this email.',
    label: 'Reset password',
    url: `${services.public_url.replace(/\/+$/, '')}/login/reset/${token}`,
    workspace_id: null,
  });
}
