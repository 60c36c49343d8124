import { sendLink } from '../link-emails/index.ts';
import type { Services } from '../operation/context.ts';
import { deviceOf, type NoticeKind, readDueNotice, settleNotice } from '../people/index.ts';
import { program_name } from '../process/program.ts';

interface NoticeText {
  readonly subject: string;
  /** Completes "Your Postrider account ADDRESS". */
  readonly event: string;
  /** Completes "If this wasn't you,". */
  readonly otherwise: string;
}

const CHANGE_PASSWORD = 'change your password, which signs out all devices';
// A changed password signs out the session that can still remove the app.
const REMOVE_FIRST = `remove or replace the app first, then change your password. If you can no longer sign in, ask an operator to run "${program_name} operators reset-sign-in" on the server`;

const texts: Readonly<Record<NoticeKind, NoticeText>> = {
  new_device: {
    subject: 'New sign-in to your Postrider account',
    event: 'was signed in to on a new device',
    otherwise: CHANGE_PASSWORD,
  },
  codes_locked: {
    subject: 'Wrong codes for your Postrider account',
    event:
      'got too many wrong codes, so codes of your authenticator app are locked for a while. Recovery codes still work',
    otherwise: 'change your password: only someone who has it, or a sign-in link of yours, can enter codes',
  },
  recovery_code_used: {
    subject: 'Recovery code used for your Postrider account',
    event: 'was opened with a recovery code',
    otherwise: `replace your recovery codes, then ${CHANGE_PASSWORD}`,
  },
  recovery_codes_renewed: {
    subject: 'Recovery codes of your Postrider account replaced',
    event: 'has new recovery codes, and the earlier ones no longer work',
    otherwise: `replace them again, then ${CHANGE_PASSWORD}`,
  },
  factor_added: {
    subject: 'Authenticator app added to your Postrider account',
    event: 'now requires codes of an authenticator app that was just added',
    otherwise: REMOVE_FIRST,
  },
  factor_removed: {
    subject: 'Authenticator app removed from your Postrider account',
    event: 'no longer requires codes of an authenticator app',
    otherwise: `add your app again, then ${CHANGE_PASSWORD}`,
  },
  password_changed: {
    subject: 'Your Postrider password was changed',
    event: 'has a new password',
    otherwise: 'reset your password on the sign-in page',
  },
  sign_in_reset: {
    subject: 'Your Postrider sign-in was reset',
    event: 'has a new credential. Your earlier password, authenticator app and recovery codes no longer work',
    otherwise: 'ask an operator what happened',
  },
};

/** Emails a notice to the owner of an account. The account page shows it in any case. */
export async function sendAccountNotice(
  services: Services,
  { notice_id }: { readonly notice_id: number },
): Promise<void> {
  const notice = await readDueNotice(services.sql, notice_id);
  if (notice === null) return;
  const { kind, email, address, user_agent, created_at } = notice;
  const { subject, event, otherwise } = texts[kind];
  const device = user_agent && deviceOf(user_agent);
  const time = `${created_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const outcome = await sendLink(services, {
    to: email,
    subject,
    before: `Your Postrider account ${email} ${event}. ${[device, address, time].filter(Boolean).join(', ')}.`,
    url: `${services.public_url.replace(/\/+$/, '')}/settings/account`,
    label: 'Open account settings',
    after: `If this was you, there is nothing to do. If it wasn’t, ${otherwise}.`,
    // No workspace's admins may see it in their test inbox.
    workspace_id: null,
  });
  await settleNotice(services.sql, notice_id, outcome);
}
