import { randomUUID } from 'node:crypto';
import type { Sql } from '@postrider/db';
import { AppError } from '../operation/errors.ts';
import { deleteStream, insertStream, renewStream } from './stream-store.ts';

export const MAX_KEY_STREAMS = 20;
export const MAX_WORKSPACE_STREAMS = 200;
// Three renewal intervals: a dead process frees its slot after at most 90 seconds.
const LEASE_SECONDS = 90;

export interface OpenStream {
  renew(): Promise<void>;
  close(): Promise<void>;
}

/** Takes one of the stream slots of a key or session and of its workspace, counted across all processes. */
export async function openStream(
  sql: Sql,
  { key_id, workspace_id }: { readonly key_id: string; readonly workspace_id: string },
): Promise<OpenStream> {
  const stream = { key_id, workspace_id, id: randomUUID(), seconds: LEASE_SECONDS };
  const max = { of_key: MAX_KEY_STREAMS, of_workspace: MAX_WORKSPACE_STREAMS };
  const full = await insertStream(sql, stream, max);
  if (full === 'key')
    throw new AppError('too_many_streams', `The key has ${max.of_key} open streams. Close one or use another key.`);
  if (full === 'workspace')
    throw new AppError('too_many_streams', `The workspace has ${max.of_workspace} open streams. Close one first.`);
  return { renew: () => renewStream(sql, stream), close: () => deleteStream(sql, stream) };
}
