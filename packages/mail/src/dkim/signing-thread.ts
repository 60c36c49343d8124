import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { signHere } from './signature.ts';

/** Keys are sent separately from the texts, because most of a batch shares them and each is expensive to send. */
export interface Batch {
  readonly keys: readonly KeyObject[];
  /** For each message, its texts, each with the index of its key. */
  readonly mails: readonly (readonly (readonly [text: string, key: number])[])[];
}

/** For each message, its signatures, or why there are none. */
export type SignedBatch = readonly (readonly string[] | { readonly error: string })[];

// The thread of signing-threads.ts: one response per batch.
parentPort?.on('message', ({ keys, mails }: Batch) => {
  const signed: SignedBatch = mails.map((texts) => {
    try {
      return texts.map(([text, key]) => signHere({ text, key: keys[key] as KeyObject }));
    } catch (error) {
      return { error: String(error) };
    }
  });
  parentPort?.postMessage(signed);
});
