import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { signOnPool, type UnsignedPart } from './signature.ts';
import { createSigningThreads } from './signing-threads.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');

const messages = (count: number): UnsignedPart[][] =>
  Array.from({ length: count }, (_, index) => [
    { text: `mail ${index} for RSA`, key: rsa.privateKey },
    { text: `mail ${index} for Ed25519`, key: ed25519.privateKey },
  ]);
const onPool = (all: readonly UnsignedPart[][]) => Promise.all(all.map((mail) => signOnPool(mail)));

describe('signing threads', () => {
  it('give each of many emails its own signatures', async () => {
    const threads = createSigningThreads({ count: 2 });
    const batches = messages(150);
    const signed = await Promise.all(batches.map((mail) => threads.sign(mail)));
    expect(signed).toEqual(await onPool(batches));
    expect(threads.running()).toBe(2);
  });

  it('reject an email whose key cannot sign, without affecting others in its batch', async () => {
    const threads = createSigningThreads({ count: 1 });
    const [first, last] = messages(2) as [UnsignedPart[], UnsignedPart[]];
    const broken = [{ text: 'mail', key: rsa.publicKey }];
    const [one, failed, other] = await Promise.allSettled([first, broken, last].map((mail) => threads.sign(mail)));
    expect(failed).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('key') } });
    expect([one, other]).toMatchObject(
      (await onPool([first, last])).map((value) => ({ status: 'fulfilled', value: value as string[] })),
    );
  });

  for (const [label, program] of [
    ['that end', 'process.exit(1)'],
    [
      'that break at a batch',
      'import("node:worker_threads").then((w) => w.parentPort.on("message", () => { throw Error() }))',
    ],
    ['that cannot be started', 'import "./nowhere"'],
  ] as const) {
    it(`${label} leave no email unsigned`, async () => {
      const threads = createSigningThreads({ count: 2, thread: new URL(`data:text/javascript,${program}`) });
      const batches = messages(20);
      expect(await Promise.all(batches.map((mail) => threads.sign(mail)))).toEqual(await onPool(batches));
    });
  }

  it('stop when there is no work, and restart when more arrives', async () => {
    const threads = createSigningThreads({ count: 2, idle_ms: 20 });
    const batches = messages(3);
    await Promise.all(batches.map((mail) => threads.sign(mail)));
    await vi.waitFor(() => expect(threads.running()).toBe(0));
    expect(await Promise.all(batches.map((mail) => threads.sign(mail)))).toEqual(await onPool(batches));
  });
});
