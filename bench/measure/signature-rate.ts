import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Measures RSA-2048 signatures per second on all CPUs with OpenSSL, the library that Node uses too. */
export function signatureRate(seconds: number): number {
  const args = ['speed', '-multi', String(availableParallelism()), '-seconds', String(seconds), 'rsa2048'];
  const printed = execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  const rate = Number(/^rsa\s+2048 bits\s+\S+s\s+\S+s\s+([\d.]+)/m.exec(printed)?.[1]);
  if (!(rate > 0)) throw new Error(`openssl speed answered what is not understood:\n${printed}`);
  return rate;
}
