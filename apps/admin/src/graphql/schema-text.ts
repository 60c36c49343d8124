import {
  buildSchema,
  type DocumentNode,
  findBreakingChanges,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';
import { schema } from './schema.ts';

/** The schema as the document that clients are made from. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** What would break a client of an earlier schema, a line for each. */
export function breakingChangesOf(before: string, after: string): string[] {
  return findBreakingChanges(buildSchema(before), buildSchema(after)).map(
    ({ type, description }) => `${type}: ${description}`,
  );
}

/** For scripts, which have no graphql of their own. */
export function parseDocument(text: string): DocumentNode {
  return parse(text);
}
