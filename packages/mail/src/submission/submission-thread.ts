import { parentPort } from 'node:worker_threads';
import { readSubmission } from './read-submission.ts';

// The thread of submission-reader.ts: says that it has started, then one response per message.
parentPort?.on('message', ({ raw, about }: { readonly raw: Uint8Array; readonly about: readonly string[] }) => {
  readSubmission(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), about).then(
    (submission) => parentPort?.postMessage(submission),
    (error: unknown) => parentPort?.postMessage({ kind: 'unreadable', why: String(error).slice(0, 200), lost: false }),
  );
});
parentPort?.postMessage('started');
