// Writes docs/schema.graphql, the GraphQL schema that the next version is compared with. Refuses to write changes that
// break clients of the previous version, unless --breaking is given.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { breakingChangesOf, schemaText } from '@postrider/admin/schema';

export const schemaFile = fileURLToPath(new URL('../docs/schema.graphql', import.meta.url));

if (import.meta.main) {
  const next = schemaText();
  const breaks = existsSync(schemaFile) ? breakingChangesOf(readFileSync(schemaFile, 'utf8'), next) : [];
  for (const line of breaks) console.error(line);
  if (breaks.length > 0 && !process.argv.includes('--breaking')) {
    console.error('Not written: clients of GraphQL would break. Keep what is gone, or say --breaking.');
    process.exitCode = 1;
  } else writeFileSync(schemaFile, next);
}
