// Reads the code blocks of the documentation. The word after the language says how to run a block.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The pages whose blocks are read, README first. */
export const docPages: readonly string[] = [
  'README.md',
  'packages/sdk/README.md',
  ...globSync('docs/*.md', { cwd: root }).sort(),
  ...globSync('examples/*/README.md', { cwd: root }).sort(),
];

export type Marker =
  /**
   * A block that runs and must succeed. A continued block is appended to the preceding blocks in its language, as one
   * program.
   */
  | { readonly kind: 'run'; readonly continued: boolean }
  /** A block that runs with the packages of a folder in examples. */
  | { readonly kind: 'example'; readonly example: string }
  /** A block that runs until the page ends, and listens on this port soon after its start. */
  | { readonly kind: 'serve'; readonly port: number }
  /** A block that prints events until it is stopped. */
  | { readonly kind: 'watch' }
  /** The output of the previous block; … matches anything. */
  | { readonly kind: 'expect' }
  /** A block that is parsed by the program that reads its kind of content in production. */
  | { readonly kind: 'config'; readonly drill: string }
  /** A block that a script of its own runs, such as test:install on a machine that it creates. */
  | { readonly kind: 'drill'; readonly script: string }
  | { readonly kind: 'not-run'; readonly reason: string };

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly marker: Marker;
}

export const languages = ['sh', 'ts', 'python', 'go', 'php'] as const;
export type Language = (typeof languages)[number];

// Not code: drawings, trees, and screen output.
const plain = new Set(['text', 'mermaid']);
const FENCE = /^```([^\n]*)\n([\s\S]*?)^```$/gm;

function readMarker(words: string): Marker | null {
  if (words === 'run') return { kind: 'run', continued: false };
  if (words === 'run continued') return { kind: 'run', continued: true };
  if (words === 'watch') return { kind: 'watch' };
  if (words === 'expect') return { kind: 'expect' };
  const [, example] = /^example ([a-z-]+)$/.exec(words) ?? [];
  if (example) return { kind: 'example', example };
  const [, port] = /^serve (\d+)$/.exec(words) ?? [];
  if (port) return { kind: 'serve', port: Number(port) };
  const [, drill] = /^config ([a-z]+)$/.exec(words) ?? [];
  if (drill) return { kind: 'config', drill };
  const [, script] = /^drill (test:[a-z0-9]+)$/.exec(words) ?? [];
  if (script) return { kind: 'drill', script };
  const [, reason] = /^not-run: (.{10,})$/.exec(words) ?? [];
  return reason ? { kind: 'not-run', reason } : null;
}

/** Returns the blocks of a page; reports a complaint for a missing or unknown marker. */
export function blocksOf(page: string, markdown: string): { blocks: Block[]; complaints: string[] } {
  const blocks: Block[] = [];
  const complaints: string[] = [];
  for (const { index, 1: info = '', 2: text = '' } of markdown.matchAll(FENCE)) {
    const line = markdown.slice(0, index).split('\n').length;
    const [language = '', ...words] = info.trim().split(/\s+/);
    if (plain.has(language) && words.length === 0) continue;
    const marker = readMarker(words.join(' '));
    if (marker === null || language === '') {
      complaints.push(`${page}:${line} a code block without a marker: ${info || 'no language'}`);
      continue;
    }
    if ((marker.kind === 'run' || marker.kind === 'example') && !languages.some((one) => one === language)) {
      complaints.push(`${page}:${line} nothing here runs ${language}`);
    }
    blocks.push({ page, line, language, text, marker });
  }
  return { blocks, complaints };
}

export function readPage(page: string): { blocks: Block[]; complaints: string[] } {
  return blocksOf(page, readFileSync(join(root, page), 'utf8'));
}

/** Returns the texts of a page's blocks that a script runs, in order. */
export function drillBlocks(page: string, script: string): string[] {
  return readPage(page).blocks.flatMap(({ marker, text }) =>
    marker.kind === 'drill' && marker.script === script ? [text] : [],
  );
}
