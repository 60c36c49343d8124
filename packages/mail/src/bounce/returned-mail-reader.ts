import { createThreadReader, type Unreadable } from '../parsing/thread-reader.ts';
import type { ReturnedMail } from './returned-kinds.ts';

export type ReadResult = ReturnedMail | Unreadable;

export interface ReturnedMailReaderOptions {
  /** The time limit for one message. A thread that takes longer is terminated. */
  readonly deadline_ms?: number;
  readonly max_heap_mb?: number;
  /** The program that a thread runs. */
  readonly thread?: URL;
}

export interface ReturnedMailReader {
  /** Reads a returned message. `from` is the envelope sender, empty for the null sender. */
  read(raw: Buffer, from?: string): Promise<ReadResult>;
  /** Returns the number of threads replaced because a message crashed or blocked them. */
  replaced(): number;
  stop(): Promise<void>;
}

const THREAD = new URL('./returned-mail-thread.ts', import.meta.url);

/** Creates a reader that parses returned messages in a thread. */
export function createReturnedMailReader(options: ReturnedMailReaderOptions = {}): ReturnedMailReader {
  const reader = createThreadReader<string, ReturnedMail>({ thread: THREAD, ...options });
  return { ...reader, read: (raw, from = '') => reader.read(raw, from) };
}
