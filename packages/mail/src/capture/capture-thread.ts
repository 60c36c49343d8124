import { parentPort } from 'node:worker_threads';
import { readMail } from './read-mail.ts';

// The thread of capture-reader.ts: says that it has started, then one response per message.
parentPort?.on('message', ({ raw }: { readonly raw: Uint8Array }) => {
  readMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)).then(
    (mail) => parentPort?.postMessage({ kind: 'read', mail }),
    (error: unknown) => parentPort?.postMessage({ kind: 'unreadable', why: String(error).slice(0, 200), lost: false }),
  );
});
parentPort?.postMessage('started');
