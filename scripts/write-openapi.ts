// Writes docs/openapi.json, the document of /v1 that the next version is compared with. Refuses to write changes that
// break clients of the previous version, unless --breaking is given.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '@postrider/rest';
import { breakingChanges } from '@postrider/testing';

export const openApiFile = fileURLToPath(new URL('../docs/openapi.json', import.meta.url));

export function openApiText(): string {
  return `${JSON.stringify(openApiDocument('http://localhost:3000'), null, 2)}\n`;
}

if (import.meta.main) {
  const next = openApiText();
  const breaks = breakingChanges(JSON.parse(readFileSync(openApiFile, 'utf8')), JSON.parse(next));
  for (const line of breaks) console.error(line);
  if (breaks.length > 0 && !process.argv.includes('--breaking')) {
    console.error('Not written: clients of /v1 would break. Keep what is gone, or say --breaking.');
    process.exitCode = 1;
  } else writeFileSync(openApiFile, next);
}
