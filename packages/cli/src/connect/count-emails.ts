import type { EmailLogsQuery, Postrider } from '@postrider/sdk';

const MAX_COUNT = 10_000;

export interface EmailCount {
  readonly count: number;
  /** The count in words, such as "at least 10000 emails". */
  readonly words: string;
}

/** Counts the messages of a filter page by page, because a filtered page before the last one may be short. */
export async function countEmails(client: Postrider, filter: EmailLogsQuery): Promise<EmailCount> {
  let count = 0;
  let has_more = false;
  for await (const page of client.email.logs({ ...filter, limit: 100 }).pages()) {
    count += page.data.length;
    has_more = page.next_cursor !== null;
    if (count >= MAX_COUNT) break;
  }
  return { count, words: `${has_more ? 'at least ' : ''}${count} ${count === 1 ? 'email' : 'emails'}` };
}
