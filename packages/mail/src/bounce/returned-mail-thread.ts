import { parentPort } from 'node:worker_threads';
import { readReturnedMail } from './dsn.ts';

// The thread of returned-mail-reader.ts: one answer for each mail.
parentPort?.on('message', ({ raw }: { readonly raw: Uint8Array }) => {
  readReturnedMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)).then(
    (mail) => parentPort?.postMessage(mail),
    (error: unknown) => parentPort?.postMessage({ kind: 'unreadable', why: String(error).slice(0, 200) }),
  );
});
