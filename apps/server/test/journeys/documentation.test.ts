import { startDnsZone } from '@postrider/testing';
import { expect, it } from 'vitest';
import { readPage } from '../../../../scripts/doc-blocks.ts';
import { startInstance } from '../../../../scripts/instance.ts';
import { runBlocks } from '../../../../scripts/run-doc-blocks.ts';

// Those that are tried first, in what every machine has; npm run test:docs runs all pages in all languages.
const pages = ['README.md', 'packages/sdk/README.md', 'docs/sending.md', 'docs/webhooks.md'];

it('what a newcomer pastes from the documentation does what the page says', { timeout: 300_000 }, async () => {
  const zone = await startDnsZone();
  const instance = await startInstance({ DNS_SERVERS: zone.address });

  const outcomes = [];
  for (const page of pages) outcomes.push(...(await runBlocks(readPage(page).blocks, instance, ['sh', 'ts'])));

  await instance.stop();
  await zone.stop();
  expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
  expect(outcomes.length).toBeGreaterThan(20);
});
