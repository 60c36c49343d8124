import type { Mailbox } from '@postrider/mail';
import type { SendInput } from './schema.ts';

export const recipientKinds = ['to', 'cc', 'bcc'] as const;
export type RecipientKind = (typeof recipientKinds)[number];

/** One unique address of a message. A repeated address is delivered and counted once, in its first role. */
export interface Addressee {
  readonly email: string;
  readonly domain: string;
  readonly kind: RecipientKind;
  readonly suppressed: boolean;
}

export function addresseesOf(
  input: Pick<SendInput, RecipientKind>,
  suppressed: (email: string) => boolean,
): readonly Addressee[] {
  const unique = new Map<string, Addressee>();
  for (const kind of recipientKinds) {
    for (const mailbox of input[kind]) {
      if (unique.has(mailbox.email)) continue;
      unique.set(mailbox.email, {
        email: mailbox.email,
        domain: mailbox.domain,
        kind,
        suppressed: suppressed(mailbox.email),
      });
    }
  }
  return [...unique.values()];
}

/** Returns every address in a message, for the lookups that precede judging. */
export function emailsOf(input: Pick<SendInput, RecipientKind>): string[] {
  return recipientKinds.flatMap((kind) => input[kind].map((mailbox: Mailbox) => mailbox.email));
}
