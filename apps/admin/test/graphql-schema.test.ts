import { readFileSync } from 'node:fs';
import { buildSchema, isInputObjectType, isInterfaceType, isObjectType, isSpecifiedScalarType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { breakingChangesOf, schemaText } from '../src/graphql/schema-text.ts';

const snapshot = readFileSync(new URL('../../../docs/schema.graphql', import.meta.url), 'utf8');

describe('docs/schema.graphql', () => {
  it('matches the current schema (regenerate with node scripts/write-schema.ts)', () => {
    expect(snapshot).toBe(schemaText());
  });

  it('describes every type, field, argument and input field', () => {
    expect(undescribedIn(schemaText())).toEqual([]);
  });

  it('is still supported by the current schema', () => {
    expect(breakingChangesOf(snapshot, schemaText())).toEqual([]);
  });

  it('allows a breaking change to be detected', () => {
    const narrower = snapshot
      .replace(/ {2}"{3}[^"]*"{3}\n {2}messageIdHeader: String!\n/, '')
      .replace('  tags: [String!]!\n', '  tags: [String!]\n');

    expect(breakingChangesOf(snapshot, narrower)).toEqual([
      expect.stringContaining('Message.messageIdHeader was removed'),
      expect.stringContaining('Message.tags changed type'),
    ]);
  });
});

/** Returns the places without a description, such as Message.recipients(status). */
function undescribedIn(text: string): string[] {
  const places: (readonly [name: string, description: string | null | undefined])[] = [];
  for (const type of Object.values(buildSchema(text).getTypeMap())) {
    if (type.name.startsWith('__') || isSpecifiedScalarType(type)) continue;
    places.push([type.name, type.description]);
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        places.push([`${type.name}.${field.name}`, field.description]);
    }
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      places.push([`${type.name}.${field.name}`, field.description]);
      for (const arg of field.args) places.push([`${type.name}.${field.name}(${arg.name})`, arg.description]);
    }
  }
  return places.flatMap(([name, description]) => (description?.trim() ? [] : [name]));
}
