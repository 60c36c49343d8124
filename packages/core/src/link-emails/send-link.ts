import { sendSealed } from '../accept/index.ts';
import { instanceSender, type Sender } from '../alarms/index.ts';
import { createContext } from '../create-context.ts';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';

export interface LinkEmail {
  readonly to: string;
  readonly subject: string;
  /** The sentences above and below the link. */
  readonly before: string;
  readonly after: string;
  readonly label: string;
  readonly url: string;
  /** The workspace whose admins may see the link in their test inbox; null if no admin may. */
  readonly workspace_id: string | null;
}

export type SentAs = 'emailed' | 'captured' | 'unsent';

/**
 * Returns the sender for an email with a link that signs its recipient in; null if the instance cannot send one.
 * Captured email is readable by the admins of the sending workspace, so it must be theirs.
 */
export async function usableSender(
  services: Pick<Services, 'config' | 'sql'>,
  workspace_id: string | null,
): Promise<Sender | null> {
  const sender = await instanceSender(services);
  return sender?.captured && sender.workspace_id !== workspace_id ? null : sender;
}

/** Emails a link from the sender of instance-wide alerts. Its content is sealed. */
export async function sendLink(services: Services, email: LinkEmail): Promise<SentAs> {
  const sender = await usableSender(services, email.workspace_id);
  if (sender === null) return 'unsent';
  const { to, subject, before, after, label, url } = email;
  try {
    const actor = { kind: 'system', workspace_id: sender.workspace_id } as const;
    await sendSealed(
      { ...createContext(services, actor), actor },
      {
        from: sender.from,
        to: [to],
        subject,
        text: `${before}\n\n${url}\n\n${after}\n`,
        html: `<p>${escaped(before)}</p><p><a href="${escaped(url)}">${escaped(label)}</a></p><p>${escaped(after)}</p>`,
        tags: ['account'],
      },
    );
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    services.log.warn({ reason: error.reason, workspace_id: sender.workspace_id }, 'an account email was rejected');
    return 'unsent';
  }
  return sender.captured ? 'captured' : 'emailed';
}

/** Returns a name that people chose, on one line and of limited length. */
export function plainName(name: string): string {
  return name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 100);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}
