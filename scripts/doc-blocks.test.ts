import { describe, expect, it } from 'vitest';
import { blocksOf, docPages, readPage } from './doc-blocks.ts';

const page = (...lines: readonly string[]) => blocksOf('docs/page.md', `# Page\n\n${lines.join('\n')}\n`);

describe('the documentation', () => {
  it.each(docPages)('has a marker that states how each code block in %s is checked', (path) => {
    expect(readPage(path).complaints).toEqual([]);
  });
});

describe('a code block', () => {
  it.each([
    ['sh run', { kind: 'run', continued: false }],
    ['ts run continued', { kind: 'run', continued: true }],
    ['ts serve 4000', { kind: 'serve', port: 4000 }],
    ['sh watch', { kind: 'watch' }],
    ['json expect', { kind: 'expect' }],
    ['json config event', { kind: 'config', drill: 'event' }],
    ['sh drill test:install', { kind: 'drill', script: 'test:install' }],
    ['sh not-run: it never ends', { kind: 'not-run', reason: 'it never ends' }],
  ])('is parsed as %s', (info, marker) => {
    const { blocks, complaints } = page(`\`\`\`${info}`, 'one', 'two', '```');

    expect(complaints).toEqual([]);
    expect(blocks).toEqual([
      { page: 'docs/page.md', line: 3, language: info.split(' ')[0], text: 'one\ntwo\n', marker },
    ]);
  });

  it('needs no marker if it is not code', () => {
    expect(page('```text', 'a tree', '```', '```mermaid', 'a --> b', '```')).toEqual({ blocks: [], complaints: [] });
  });

  it.each(['', 'sh', 'sh runs', 'sh not-run:', 'sh not-run: no', 'sql run', 'json config', 'sh drill'])(
    'cannot have the marker %j',
    (info) => {
      expect(page(`\`\`\`${info}`, 'one', '```').complaints).toEqual([expect.stringContaining('docs/page.md:3')]);
    },
  );
});
