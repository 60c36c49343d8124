import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { signHere } from './signature.ts';

/** Keys are sent apart from the texts, because most of a batch shares them and each is costly to send. */
export interface Batch {
  readonly keys: readonly KeyObject[];
  /** For each mail its texts, each with the index of its key. */
  readonly mails: readonly (readonly (readonly [text: string, key: number])[])[];
}

/** For each mail its signatures, or why there are none. */
export type SignedBatch = readonly (readonly string[] | { readonly error: string })[];

// The thread of signing-threads.ts: one answer for each batch.
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
