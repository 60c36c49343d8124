import {
  buildSchema,
  type DocumentNode,
  findBreakingChanges,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';
import { schema } from './schema.ts';

/** Returns the schema as SDL. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Returns the breaking changes between two schemas, one per line. */
export function breakingChangesOf(before: string, after: string): string[] {
  return findBreakingChanges(buildSchema(before), buildSchema(after)).map(
    ({ type, description }) => `${type}: ${description}`,
  );
}

/** Parses a document for scripts, which do not depend on graphql. */
export function parseDocument(text: string): DocumentNode {
  return parse(text);
}
