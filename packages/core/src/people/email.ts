import { parseMailbox } from '@postrider/mail';

/** The one spelling in which people's e-mail addresses are stored and compared; null for what is none. */
export function personEmail(text: string): string | null {
  const parsed = parseMailbox(text.trim());
  if (!parsed.ok || parsed.mailbox.name !== null) return null;
  return `${parsed.mailbox.local.toLowerCase()}@${parsed.mailbox.domain}`;
}
