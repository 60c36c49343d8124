import { createThreadReaders, type Unreadable } from '../parsing/thread-reader.ts';
import type { ReadMail } from './read-mail.ts';

// Enough for a decoded message of the maximum size.
const MAX_HEAP_MB = 256;
const DEADLINE_MS = 10_000;
const THREADS = 2;

export interface CaptureReader {
  /** How many messages the reader reads concurrently. */
  readonly threads: number;
  read(raw: Buffer): Promise<ReadMail | Unreadable>;
}

type ReadSuccess = { readonly kind: 'read'; readonly mail: ReadMail };

/** Creates a reader that parses captured messages in threads, which start with the first message. */
export function createCaptureReader(): CaptureReader {
  const thread = new URL('./capture-thread.ts', import.meta.url);
  const readers = createThreadReaders<null, ReadSuccess>(THREADS, {
    thread,
    max_heap_mb: MAX_HEAP_MB,
    deadline_ms: DEADLINE_MS,
  });
  return {
    threads: THREADS,
    async read(raw) {
      const result = await readers.read(raw, null);
      if (result.kind === 'unreadable') return result;
      // A buffer arrives from another thread as a plain byte array.
      const attachments = result.mail.attachments.map(({ content, ...rest }) => ({
        ...rest,
        content: Buffer.from(content),
      }));
      return { ...result.mail, attachments };
    },
  };
}
