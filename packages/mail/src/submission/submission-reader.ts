import { createThreadReader, type ThreadReader } from '../parsing/thread-reader.ts';
import type { Submission } from './read-submission.ts';

// A mail of the largest size, decoded and encoded again.
const MAX_HEAP_MB = 256;
const DEADLINE_MS = 5000;
const THREADS = 2;

export type SubmissionReader = Pick<ThreadReader<readonly string[], Submission>, 'read' | 'stop'> & {
  /** How many messages it reads at one time. */
  readonly threads: number;
};

/** Reads submitted messages in two threads, so that one that hangs does not stop the others. */
export function createSubmissionReader(deadline_ms = DEADLINE_MS): SubmissionReader {
  const thread = new URL('./submission-thread.ts', import.meta.url);
  const readers = Array.from({ length: THREADS }, () => ({
    reader: createThreadReader<readonly string[], Submission>({ thread, max_heap_mb: MAX_HEAP_MB, deadline_ms }),
    busy: 0,
  }));
  return {
    threads: THREADS,
    async read(raw, recipients) {
      const free = readers.reduce((least, one) => (one.busy < least.busy ? one : least));
      free.busy += 1;
      try {
        return await free.reader.read(raw, recipients);
      } finally {
        free.busy -= 1;
      }
    },
    async stop() {
      await Promise.all(readers.map(({ reader }) => reader.stop()));
    },
  };
}
