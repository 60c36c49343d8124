import { signOnPool, type UnsignedPart } from './signature.ts';
import { createSigningThreads } from './signing-threads.ts';

const FEW = 2;

// One set of threads for the whole process.
const threads = createSigningThreads();
let under_way = 0;

/**
 * Signs off the event loop, so that one process uses every core: a few messages on the thread pool, many in batches.
 */
export async function signElsewhere(mail: readonly UnsignedPart[]): Promise<readonly string[]> {
  under_way += 1;
  try {
    return await (under_way > FEW ? threads.sign(mail) : signOnPool(mail));
  } finally {
    under_way -= 1;
  }
}
