import { parentPort } from 'node:worker_threads';
import { readReturnedMail } from '../src/bounce/returned-mail.ts';

// A reader thread that hangs, runs out of memory or exits when a message says so.
parentPort?.on('message', ({ raw, about: from }: { readonly raw: Uint8Array; readonly about: string }) => {
  const text = Buffer.from(raw).toString('latin1');
  if (text.includes('X-Hostile: hang')) for (;;);
  if (text.includes('X-Hostile: memory'))
    for (const garbage: number[][] = []; ; ) garbage.push(new Array(100_000).fill(1));
  if (text.includes('X-Hostile: end')) process.exit(1);
  parentPort?.postMessage(readReturnedMail(Buffer.from(raw), from));
});
parentPort?.postMessage('started');
