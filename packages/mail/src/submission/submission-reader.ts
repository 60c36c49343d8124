import { createThreadReader, type ThreadReader } from '../parsing/thread-reader.ts';
import type { Submission } from './read-submission.ts';

// A mail of the largest size, decoded and encoded again.
const MAX_HEAP_MB = 256;
const DEADLINE_MS = 20_000;

export type SubmissionReader = ThreadReader<readonly string[], Submission>;

/** Reads submitted mail in a thread. */
export function createSubmissionReader(): SubmissionReader {
  const thread = new URL('./submission-thread.ts', import.meta.url);
  return createThreadReader({ thread, max_heap_mb: MAX_HEAP_MB, deadline_ms: DEADLINE_MS });
}
