import type { TreeFile } from './tree.ts';

type Fields = Readonly<Record<string, unknown>>;
type Versions = Readonly<Record<string, string>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function versionsOf(value: unknown): Versions {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, version]) => [name, String(version)]));
}

export interface Manifest {
  readonly name: string;
  /** Packages that the product may import: runtime, optional and peer dependencies. */
  readonly run_time: Versions;
  /** Packages that tests may import in addition. */
  readonly development: Versions;
  readonly overrides: Fields;
  readonly exports: Versions;
}

const manifests = new WeakMap<TreeFile, Manifest>();
export function manifestOf(file: TreeFile): Manifest {
  const known = manifests.get(file);
  if (known) return known;
  const fields = fieldsOf(JSON.parse(file.text));
  const manifest = {
    name: String(fields.name),
    run_time: {
      ...versionsOf(fields.dependencies),
      ...versionsOf(fields.optionalDependencies),
      ...versionsOf(fields.peerDependencies),
    },
    development: versionsOf(fields.devDependencies),
    overrides: fieldsOf(fields.overrides),
    exports: versionsOf(fields.exports),
  };
  manifests.set(file, manifest);
  return manifest;
}

export const isManifest = ({ path }: TreeFile) => /^(?:(?:apps|packages)\/[^/]+\/)?package\.json$/.test(path);

const EXACT_VERSION = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;

export function isExact(version: string): boolean {
  return EXACT_VERSION.test(version);
}

/** Returns the workspace of a path, such as `packages/core/`, or null for the root. */
export function workspaceOf(path: string): string | null {
  return /^(?:apps|packages)\/[^/]+\//.exec(path)?.[0] ?? null;
}

/** Returns the folder of the example that a path belongs to, such as `examples/nextjs/`, or null. */
export function exampleOf(path: string): string | null {
  return /^examples\/[^/]+\//.exec(path)?.[0] ?? null;
}

/** Returns the workspace manifests by folder, with the root's under the empty string. */
export function manifestsOf(files: readonly TreeFile[]): Map<string, { file: TreeFile; manifest: Manifest }> {
  return new Map(
    files
      .filter(isManifest)
      .map((file) => [file.path.replace(/package\.json$/, ''), { file, manifest: manifestOf(file) }]),
  );
}
