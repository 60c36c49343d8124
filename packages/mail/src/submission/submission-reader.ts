import { createThreadReaders, type ThreadReader } from '../parsing/thread-reader.ts';
import type { SubmissionResult } from './read-submission.ts';

// Enough to decode and re-encode a message of the maximum size.
const MAX_HEAP_MB = 256;
const DEADLINE_MS = 5000;
const THREADS = 2;

export type SubmissionReader = Pick<ThreadReader<readonly string[], SubmissionResult>, 'read' | 'stop'> & {
  /** How many messages the reader reads concurrently. */
  readonly threads: number;
};

/** Creates a reader that parses submitted messages in two threads. */
export function createSubmissionReader(deadline_ms = DEADLINE_MS): SubmissionReader {
  const thread = new URL('./submission-thread.ts', import.meta.url);
  const options = { thread, max_heap_mb: MAX_HEAP_MB, deadline_ms };
  return { threads: THREADS, ...createThreadReaders<readonly string[], SubmissionResult>(THREADS, options) };
}
