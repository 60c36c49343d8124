import { posix } from 'node:path';
import { manifestsOf } from './manifests.ts';
import { isCode, sourceOf, type TreeFile } from './tree.ts';

interface Import {
  readonly specifier: string;
  /** The position of the specifier in the text. */
  readonly index: number;
}

const imports = new WeakMap<TreeFile, readonly Import[]>();

/** Returns a file's module specifiers, including those of type imports. */
export function importsOf(file: TreeFile): readonly Import[] {
  const known = imports.get(file);
  if (known) return known;
  const matches = sourceOf(file).bare.matchAll(/\b(?:from\s*|import\s*|import\s*\(\s*)(['"])( *)\1/g);
  const list = [...matches].map((match) => {
    const length = (match[2] ?? '').length;
    const index = match.index + match[0].length - 1 - length;
    return { specifier: file.text.slice(index, index + length), index };
  });
  imports.set(file, list);
  return list;
}

/** Returns the package of a specifier, or null for a relative path and for built-in modules of Node or a bundler. */
export function packageOf(specifier: string): string | null {
  if (/^(?:[./#]|node:|virtual:)/.test(specifier)) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

export interface ResolvedImport extends Import {
  readonly file: TreeFile;
  /** The resolved file; null for an external package or a missing file. */
  readonly target: string | null;
}

const graphs = new WeakMap<readonly TreeFile[], readonly ResolvedImport[]>();

/** Returns every import of every code file, resolved as Node does: relative paths, and exports of workspaces. */
export function importGraph(files: readonly TreeFile[]): readonly ResolvedImport[] {
  const known = graphs.get(files);
  if (known) return known;
  const paths = new Set(files.map(({ path }) => path));
  const exported = new Map(
    [...manifestsOf(files)].map(([folder, { manifest }]) => [manifest.name, { folder, exports: manifest.exports }]),
  );
  const targetOf = (from: string, specifier: string): string | null => {
    const name = packageOf(specifier);
    if (name === null) {
      return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier.replace(/[?#].*$/, '')) : null;
    }
    const workspace = exported.get(name);
    const exported_path = workspace && exportedPath(workspace.exports, `.${specifier.slice(name.length)}`);
    return exported_path ? posix.join(workspace.folder, exported_path) : null;
  };
  const graph = files
    .filter(({ path }) => isCode(path))
    .flatMap((file) =>
      importsOf(file).map((item) => {
        const target = targetOf(file.path, item.specifier);
        return { ...item, file, target: target !== null && paths.has(target) ? target : null };
      }),
    );
  graphs.set(files, graph);
  return graph;
}

function exportedPath(exports: Readonly<Record<string, string>>, subpath: string): string | null {
  const exact = exports[subpath];
  if (exact !== undefined) return exact;
  for (const [pattern, path] of Object.entries(exports)) {
    const [before = '', after] = pattern.split('*');
    if (after === undefined || !subpath.startsWith(before) || !subpath.endsWith(after)) continue;
    return path.replace('*', subpath.slice(before.length, subpath.length - after.length));
  }
  return null;
}
