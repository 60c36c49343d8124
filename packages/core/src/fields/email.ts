import { parseMailbox } from '@postrider/mail';

/** Normalizes a user's email address; returns null if it is not one. */
export function personEmail(text: string): string | null {
  const parsed = parseMailbox(text.trim());
  if (!parsed.ok || parsed.mailbox.name !== null) return null;
  return `${parsed.mailbox.local.toLowerCase()}@${parsed.mailbox.domain}`;
}
