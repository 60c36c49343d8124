import { startDnsZone } from '@postrider/testing';
import { freePort } from '@postrider/testing/free-port';
import { expect, it } from 'vitest';
import { docPages, readPage } from '../../../../scripts/doc-blocks.ts';
import { startInstance } from '../../../../scripts/instance.ts';
import { runBlocks } from '../../../../scripts/run-doc-blocks.ts';

// The time limit for the languages available on every machine. npm run test:docs also runs the other languages.
const TIMEOUT_MS = 600_000;

it('every shell and TypeScript code block works as its page says (newcomer N18)', {
  timeout: TIMEOUT_MS,
}, async () => {
  const zone = await startDnsZone();
  const instance = await startInstance({ DNS_SERVERS: zone.address, SUBMISSION_PORT: String(await freePort()) });

  const outcomes = [];
  for (const page of docPages) outcomes.push(...(await runBlocks(readPage(page).blocks, instance, ['sh', 'ts'])));

  await instance.stop();
  await zone.stop();
  expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(60);
});
