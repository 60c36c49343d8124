import { parentPort } from 'node:worker_threads';
import { readReturnedMail } from '../src/bounce/returned-mail.ts';

// A thread in which a mail has found a way to hang it, to fill its memory or to end it.
parentPort?.on('message', ({ raw, about: from }: { readonly raw: Uint8Array; readonly about: string }) => {
  const text = Buffer.from(raw).toString('latin1');
  if (text.includes('X-Hostile: hang')) for (;;);
  if (text.includes('X-Hostile: memory'))
    for (const garbage: number[][] = []; ; ) garbage.push(new Array(100_000).fill(1));
  if (text.includes('X-Hostile: end')) process.exit(1);
  parentPort?.postMessage(readReturnedMail(Buffer.from(raw), from));
});
