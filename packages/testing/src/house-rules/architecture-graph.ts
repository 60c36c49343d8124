import { importGraph } from './imports.ts';
import { manifestsOf, workspaceOf } from './manifests.ts';
import { at, type HouseRule, isTest, type TreeFile } from './tree.ts';

export const GRAPH_PAGE = 'docs/packages.md';

const COMMAND = '`node scripts/draw-architecture.ts`';

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the product's import graph, excluding tests; `nodeOf` returns the node of a file. */
function graphOf(files: readonly TreeFile[], nodeOf: (path: string) => string | null): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path } of files) {
    const node = isTest(path) ? null : nodeOf(path);
    if (node !== null && !graph.has(node)) graph.set(node, new Set());
  }
  for (const { file, target } of importGraph(files)) {
    const from = isTest(file.path) ? null : nodeOf(file.path);
    const target_node = target === null ? null : nodeOf(target);
    if (from !== null && target_node !== null && from !== target_node) graph.get(from)?.add(target_node);
  }
  return new Map([...graph].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function packagesDrawn(files: readonly TreeFile[]): string {
  const names = new Map([...manifestsOf(files)].map(([folder, { manifest }]) => [folder, manifest.name]));
  const graph = graphOf(files, (path) => {
    const workspace = workspaceOf(path);
    // Only tests use the test kit, and it imports everything.
    return workspace === null || workspace === 'packages/testing/' ? null : workspace;
  });
  const idOf = (folder: string) => (names.get(folder) ?? folder).replace(/^@[^/]+\//, '');
  const nodes = [...graph.keys()].map((folder) => `  ${idOf(folder)}["${folder.replace(/\/$/, '')}"]`);
  const arrows = [...graph].flatMap(([from, targets]) =>
    [...targets].sort().map((target) => `  ${idOf(from)} --> ${idOf(target)}`),
  );
  return ['```mermaid', 'flowchart TD', ...nodes, ...arrows, '```'].join('\n');
}

function coreDrawn(files: readonly TreeFile[]): string {
  const graph = graphOf(files, (path) => {
    const inside = /^packages\/core\/src\/(?:([^/]+)\/.+|[^/]+)\.ts$/.exec(path);
    // The package's index would import every folder.
    return inside && path !== 'packages/core/src/index.ts' ? (inside[1] ?? 'src') : null;
  });
  const users = (folder: string) => [...graph.values()].filter((targets) => targets.has(folder)).length;
  const rows = [...graph].map(
    ([folder, targets]) => `| \`${folder}\` | ${[...targets].sort().join(', ') || '-'} | ${users(folder)} |`,
  );
  return ['| Folder of core | imports | imported by |', '| --- | --- | --- |', ...rows].join('\n');
}

const blocks: readonly { readonly name: string; readonly draw: (files: readonly TreeFile[]) => string }[] = [
  { name: 'packages', draw: packagesDrawn },
  { name: 'core', draw: coreDrawn },
];

/** Returns the page with each graph between its markers redrawn from the imports. */
export function withGraphs(page: string, files: readonly TreeFile[]): string {
  return blocks.reduce((text, { name, draw }) => {
    const BEGIN = `<!-- ${name}: written by ${COMMAND} -->\n`;
    const END = `<!-- ${name} end -->`;
    const begin = text.indexOf(BEGIN);
    const end = text.indexOf(END);
    if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
    return `${text.slice(0, begin + BEGIN.length)}\n${draw(files)}\n\n${text.slice(end)}`;
  }, page);
}

export const graphsAreDrawn: HouseRule = (files) => {
  const page = files.find(({ path }) => path === GRAPH_PAGE);
  if (!page) return [];
  const page_text = withGraphs(page.text, files);
  if (page_text === page.text) return [];
  const lines = page.text.split('\n');
  const differs = page_text.split('\n').findIndex((line, index) => line !== lines[index]);
  return [at(page, lines.slice(0, differs).join('\n').length + 1, `not as the imports are; run ${COMMAND}`)];
};
