import { sendLink } from '../link-emails/index.ts';
import type { Services } from '../operation/context.ts';
import { deviceOf, type NoticeKind, readDueNotice, settleNotice } from '../people/index.ts';

interface NoticeText {
  readonly subject: string;
  /** Completes "Your Postrider account ADDRESS: ". */
  readonly event: string;
  readonly otherwise: string;
}

const CHANGE_PASSWORD = 'change your password and end all other sessions';

const texts: Readonly<Record<NoticeKind, NoticeText>> = {
  new_device: {
    subject: 'New sign-in to your Postrider account',
    event: 'was signed in to on a new device',
    otherwise: CHANGE_PASSWORD,
  },
  codes_locked: {
    subject: 'Wrong codes for your Postrider account',
    event: 'got your right password and then five wrong codes. Codes are locked for 15 minutes; recovery codes work',
    otherwise: 'change your password: someone else knows it',
  },
  recovery_code_used: {
    subject: 'Recovery code used for your Postrider account',
    event: 'was opened with a recovery code',
    otherwise: `${CHANGE_PASSWORD}, then replace your recovery codes`,
  },
  factor_added: {
    subject: 'Authenticator app added to your Postrider account',
    event: 'now asks for codes of an authenticator app',
    otherwise: `${CHANGE_PASSWORD}, then remove the app`,
  },
  factor_removed: {
    subject: 'Authenticator app removed from your Postrider account',
    event: 'no longer asks for codes of an authenticator app',
    otherwise: `${CHANGE_PASSWORD}, then add your app again`,
  },
  password_changed: {
    subject: 'Your Postrider password was changed',
    event: 'has a new password',
    otherwise: 'reset your password on the sign-in page',
  },
};

/** Emails a notice to the owner of an account. Where the instance cannot send, the account page shows it. */
export async function sendAccountNotice(
  services: Services,
  { notice_id }: { readonly notice_id: number },
): Promise<void> {
  const notice = await readDueNotice(services.sql, notice_id);
  if (notice === null) return;
  const { kind, email, address, user_agent, created_at } = notice;
  const { subject, event, otherwise } = texts[kind];
  const device = (user_agent && deviceOf(user_agent)) ?? 'An unknown device';
  const time = `${created_at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const outcome = await sendLink(services, {
    to: email,
    subject,
    before: `Your Postrider account ${email} ${event}. ${device}, ${address ?? 'unknown network'}, ${time}.`,
    url: `${services.public_url.replace(/\/+$/, '')}/settings/account`,
    label: 'Open account settings',
    after: `If this was you, there is nothing to do. If not, ${otherwise}.`,
    // Admins of no workspace may read it in their test inbox.
    workspace_id: null,
  });
  await settleNotice(services.sql, notice_id, outcome);
}
