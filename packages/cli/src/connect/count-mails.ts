import { z } from 'zod';
import type { Client } from './client.ts';

const MOST = 10_000;
const page = z.looseObject({ data: z.array(z.unknown()), next_cursor: z.string().nullable() });

export interface MailCount {
  readonly count: number;
  /** The count in words, such as "at least 10000 mails". */
  readonly words: string;
}

/** Counts the mail of a filter page by page, as a filtered page may be short before the last one. */
export async function countMails(client: Client, filter: Readonly<Record<string, string>>): Promise<MailCount> {
  let count = 0;
  let cursor: string | null = '';
  while (cursor !== null && count < MOST) {
    const query = new URLSearchParams({ ...filter, limit: '100', ...(cursor !== '' && { cursor }) });
    const found: z.output<typeof page> = await client.call('GET', `/email/logs?${query}`, page);
    count += found.data.length;
    cursor = found.next_cursor;
  }
  const words = `${cursor === null ? '' : 'at least '}${count} ${count === 1 ? 'mail' : 'mails'}`;
  return { count, words };
}
