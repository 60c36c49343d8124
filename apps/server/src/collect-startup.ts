import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects the garbage of the start once, before there is traffic that the pause could delay. A process at rest would
 * keep it, because nothing makes its heap grow.
 */
export function collectStartup(): void {
  setFlagsFromString('--expose-gc');
  // The cast is safe because the flag defines this function in every new context.
  const collect = runInNewContext('gc') as () => void;
  collect();
}
