import {
  buildSchema,
  type DocumentNode,
  findBreakingChanges,
  lexicographicSortSchema,
  parse,
  printSchema,
} from 'graphql';
import { schema } from './schema.ts';

/** The schema as SDL. */
export function schemaText(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

/** Breaking changes between two schemas, one line each. */
export function breakingChangesOf(before: string, after: string): string[] {
  return findBreakingChanges(buildSchema(before), buildSchema(after)).map(
    ({ type, description }) => `${type}: ${description}`,
  );
}

/** For scripts, which do not depend on graphql. */
export function parseDocument(text: string): DocumentNode {
  return parse(text);
}
