import { randomUUID } from 'node:crypto';
import type { Sql } from '@postrider/db';
import { AppError } from '../operation/errors.ts';
import { deleteStream, insertStream, renewStream } from './stream-store.ts';

export const MOST_STREAMS = 20;
// Three renewals: a dead process frees its slot after at most 90 seconds.
const LEASE_SECONDS = 90;

export interface OpenStream {
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** Takes one of the stream slots of a key, counted over all processes. */
export async function openStream(sql: Sql, key_id: string): Promise<OpenStream> {
  const stream = { key_id, id: randomUUID(), seconds: LEASE_SECONDS };
  if (!(await insertStream(sql, stream, MOST_STREAMS))) {
    throw new AppError('too_many_streams', `The key has ${MOST_STREAMS} open streams. Close one or use another key.`);
  }
  return { renew: () => renewStream(sql, stream), close: () => deleteStream(sql, stream) };
}
