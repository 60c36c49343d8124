// npm run test:docs: runs every code block of the documentation and every program in examples against a running
// instance. Requires python3, golang-go and php-cli besides Node; `npm run test:docs -- sh ts` runs only those languages.
import { startDnsZone } from '@postrider/testing';
import { freePort } from '@postrider/testing/free-port';
import { docPages, type Language, languages, readPage } from './doc-blocks.ts';
import { startInstance } from './instance.ts';
import { type Reference, runReferenceSamples } from './reference-samples.ts';
import { runBlocks } from './run-doc-blocks.ts';
import { examples, runExample } from './run-examples.ts';
import { openApiText } from './write-openapi.ts';

/** On all pages together. */
const MAX_NOT_RUN = 8;

const args = process.argv.slice(2);
const selected: readonly Language[] = args.length > 0 ? languages.filter((one) => args.includes(one)) : languages;
const chosen_pages = args.filter((one) => docPages.includes(one) || one === 'api' || one === 'examples');

const unknown = args.filter((one) => !selected.includes(one as Language) && !chosen_pages.includes(one));
if (unknown.length > 0) throw new Error(`neither a language nor a page: ${unknown.join(', ')}`);

const pages = docPages.map((page) => ({ page, ...readPage(page) }));
const problems = pages.flatMap(({ complaints }) => complaints);
const skipped = pages.flatMap(({ blocks }) => blocks.filter(({ marker }) => marker.kind === 'not-run'));
if (skipped.length > MAX_NOT_RUN) problems.push(`${skipped.length} blocks are not run`);

let passed = 0;
const zone = await startDnsZone();
const instance = await startInstance({ DNS_SERVERS: zone.address, SUBMISSION_PORT: String(await freePort()) });
try {
  for (const { page, blocks } of pages) {
    if (chosen_pages.length > 0 && !chosen_pages.includes(page)) continue;
    for (const { block, problem } of await runBlocks(blocks, instance, selected.length > 0 ? selected : languages, {
      with_examples: true,
    })) {
      if (problem === null) passed += 1;
      else problems.push(`${page}:${block.line} ${problem}`);
    }
  }
  if (chosen_pages.length === 0 || chosen_pages.includes('api')) {
    const reference = JSON.parse(openApiText()) as Reference;
    const outcome = await runReferenceSamples(reference, instance, zone, selected.length > 0 ? selected : languages);
    passed += outcome.passed;
    problems.push(...outcome.problems);
  }
  if (chosen_pages.length === 0 || chosen_pages.includes('examples')) {
    for (const name of examples) {
      const problem = await runExample(name, instance);
      if (problem === null) passed += 1;
      else problems.push(`examples/${name} ${problem}`);
    }
  }
} finally {
  await instance.stop();
  await zone.stop();
}
for (const problem of problems) console.log(problem);
console.log(`${passed} passed, ${problems.length} failed`);
process.exitCode = problems.length > 0 ? 1 : 0;
