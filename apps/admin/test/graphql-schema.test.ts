import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { breakingChangesOf, schemaText } from '../src/index.ts';

const snapshot = readFileSync(new URL('../../../docs/schema.graphql', import.meta.url), 'utf8');

describe('docs/schema.graphql', () => {
  it('matches the current schema (regenerate with node scripts/write-schema.ts)', () => {
    expect(snapshot).toBe(schemaText());
  });

  it('is still supported by the current schema', () => {
    expect(breakingChangesOf(snapshot, schemaText())).toEqual([]);
  });

  it('allows a breaking change to be detected', () => {
    const narrower = snapshot
      .replace('  messageIdHeader: String!\n', '')
      .replace('  tags: [String!]!\n', '  tags: [String!]\n');

    expect(breakingChangesOf(snapshot, narrower)).toEqual([
      expect.stringContaining('Message.messageIdHeader was removed'),
      expect.stringContaining('Message.tags changed type'),
    ]);
  });
});
