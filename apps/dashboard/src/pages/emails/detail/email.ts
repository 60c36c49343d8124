import type { Outputs } from '../../../api/trpc.ts';

export type Email = Outputs['emails']['get'];
export type Recipient = Email['recipients'][number];
export type Attempt = Email['attempts'][number];
export type Waiting = NonNullable<Recipient['waiting']>;

/** Returns the domain of a mailbox such as Shop <hello@example.com>. */
export function domainIn(mailbox: string): string {
  return /@([^\s>]+)>?\s*$/.exec(mailbox)?.[1]?.toLowerCase() ?? '';
}
