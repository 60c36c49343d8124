import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, it } from 'vitest';
import { createWholeProgram } from '../program.ts';
import { documents } from './graphql.ts';

const schema = buildSchema(readFileSync(new URL('../../../../docs/schema.graphql', import.meta.url), 'utf8'));

it("every GraphQL document in the commands is valid in the service's schema", async () => {
  await createWholeProgram({ env: {}, print() {}, note() {}, fail() {} });

  expect(documents.length).toBeGreaterThan(30);
  for (const { text } of documents) expect(validate(schema, parse(text)), text).toEqual([]);
});
