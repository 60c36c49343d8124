import type { KeyObject } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { signHere } from './signature.ts';

/**
 * Keys are sent separately from the texts, because most texts of a batch share them and each key is expensive to send.
 */
export interface Batch {
  readonly keys: readonly KeyObject[];
  /** The texts of each message, each with the index of its key. */
  readonly messages: readonly (readonly (readonly [text: string, key: number])[])[];
}

/** The signatures of each message, or the error that prevented them. */
export type SignedBatch = readonly (readonly string[] | { readonly error: string })[];

// The thread of signing-threads.ts: one response per batch.
parentPort?.on('message', ({ keys, messages }: Batch) => {
  const signed: SignedBatch = messages.map((texts) => {
    try {
      return texts.map(([text, key]) => signHere({ text, key: keys[key] as KeyObject }));
    } catch (error) {
      return { error: String(error) };
    }
  });
  parentPort?.postMessage(signed);
});
