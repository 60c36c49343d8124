import type { Tx } from '@postrider/db';
import type { z } from 'zod';
import { plainName, sendLink } from '../link-emails/index.ts';
import { requireAdministrator } from '../operation/access.ts';
import type { ActorContext } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import { membersOf } from '../people/index.ts';
import type { deliverySchema } from './invitation-entry.ts';
import { countInvitationEmails, type InvitationRow, lockInvitations, workspaceName } from './store.ts';

const MAX_EMAILS_PER_DAY = 100;

/** Returns the workspace to act on; null for the instance. */
export async function invitingSide(
  ctx: ActorContext,
  target: 'workspace' | 'instance',
  workspace_param?: string,
): Promise<string | null> {
  if (target === 'workspace') return membersOf(ctx, workspace_param);
  requireAdministrator(ctx.actor, 'instance');
  return null;
}

/** Locks and checks the daily limit, because each invitation emails an address that the workspace chooses. */
export async function requireInvitationRoom(tx: Tx, workspace_id: string | null): Promise<void> {
  await lockInvitations(tx, workspace_id);
  if ((await countInvitationEmails(tx, workspace_id)) < MAX_EMAILS_PER_DAY) return;
  throw new AppError(
    'invitation_rate',
    `At most ${MAX_EMAILS_PER_DAY} invitations can be emailed in 24 hours. Try again later.`,
    { retry_after_seconds: 3600 },
  );
}

/** Emails the link of an invitation. Returns the link as well unless only its recipient may see it. */
export async function emailInvitation(
  ctx: ActorContext,
  row: InvitationRow,
  token: string,
): Promise<z.output<typeof deliverySchema>> {
  const { email, workspace_id, invited_by } = row;
  const url = `${ctx.public_url.replace(/\/+$/, '')}/login/invitation/${token}`;
  const name = workspace_id === null ? '' : plainName(await workspaceName(ctx.sql, workspace_id));
  const place = workspace_id === null ? 'operate Postrider' : `${name} on Postrider`;
  const sentence = `${plainName(invited_by)} invited you to ${place}`;
  const sent = await sendLink(ctx, {
    to: email,
    subject: sentence,
    before: `${sentence}. Open this link to accept:`,
    after: 'The link works once and expires in 7 days. If you don’t know the sender, ignore this email.',
    label: 'Accept invitation',
    url,
    workspace_id,
  });
  return { email, sent, url: sent === 'emailed' ? null : url };
}
