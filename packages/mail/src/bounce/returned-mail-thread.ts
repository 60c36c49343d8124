import { parentPort } from 'node:worker_threads';
import { readReturnedMail } from './returned-mail.ts';

// The thread of returned-mail-reader.ts: says that it has started, then one response per message.
parentPort?.on('message', ({ raw, about: from }: { readonly raw: Uint8Array; readonly about: string }) => {
  try {
    parentPort?.postMessage(readReturnedMail(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), from));
  } catch (error) {
    parentPort?.postMessage({ kind: 'unreadable', why: String(error).slice(0, 200), lost: false });
  }
});
parentPort?.postMessage('started');
