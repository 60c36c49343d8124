// npm run test:docs: runs every code block of the documentation against a running instance. Requires python3, golang-go
// and php-cli besides Node; `npm run test:docs -- sh ts` runs only those languages.
import { startDnsZone } from '@postrider/testing';
import { docPages, type Language, languages, readPage } from './doc-blocks.ts';
import { startInstance } from './instance.ts';
import { runBlocks } from './run-doc-blocks.ts';

// Readers must be able to paste the commands on any other page; commands about operations may need another machine.
const operating = new Set(
  [
    'operations',
    'backup',
    'database',
    'retention',
    'admin-actions',
    'benchmarks',
    'metrics',
    'reliability',
    'self-hosting',
    'submission',
  ].map((page) => `docs/${page}.md`),
);
const MAX_NOT_RUN = 5;

const args = process.argv.slice(2);
const selected: readonly Language[] = args.length > 0 ? languages.filter((one) => args.includes(one)) : languages;
const chosen_pages = args.filter((one) => one.endsWith('.md'));

const pages = docPages.map((page) => ({ page, ...readPage(page) }));
const problems = pages.flatMap(({ complaints }) => complaints);
const skipped = pages
  .filter(({ page }) => !operating.has(page))
  .flatMap(({ blocks }) => blocks.filter(({ marker }) => marker.kind === 'not-run'));
if (skipped.length > MAX_NOT_RUN) problems.push(`${skipped.length} blocks outside of operating are not run`);

let passed = 0;
const zone = await startDnsZone();
const instance = await startInstance({ DNS_SERVERS: zone.address });
try {
  for (const { page, blocks } of pages) {
    if (chosen_pages.length > 0 && !chosen_pages.includes(page)) continue;
    for (const { block, problem } of await runBlocks(blocks, instance, selected.length > 0 ? selected : languages)) {
      if (problem === null) passed += 1;
      else problems.push(`${page}:${block.line} ${problem}`);
    }
  }
} finally {
  await instance.stop();
  await zone.stop();
}
for (const problem of problems) console.log(problem);
console.log(`${passed} passed, ${problems.length} failed`);
process.exitCode = problems.length > 0 ? 1 : 0;
