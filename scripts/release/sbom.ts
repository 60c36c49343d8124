import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../image/buildah.ts';

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly object[];
}

interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly identifier: string;
}

interface Bill {
  readonly metadata: { readonly component: { readonly name: string } };
  readonly components: readonly Component[];
}

/**
 * Returns the release's bill of materials in CycloneDX: what npm reads from the lockfile, the packages whose code the
 * built dashboard contains, and Node. It has no time and no random number, so that two builds are the same.
 */
export function billOfMaterials(): string {
  const args = ['sbom', '--package-lock-only', '--omit=dev', '--omit=optional', '--sbom-format=cyclonedx'];
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { serialNumber: _, metadata, components, ...bill } = JSON.parse(output) as Bill & { serialNumber: string };
  const { timestamp: __, ...facts } = metadata as Bill['metadata'] & { timestamp: string };
  const own = { ...facts.component, name: 'postrider', type: 'application' };
  const node = { type: 'platform', name: 'node', version: process.versions.node, licenses: licensed('MIT') };
  const all = [...components, ...bundledPackages().map(componentOf), node];
  return `${JSON.stringify({ ...bill, metadata: { ...facts, component: own }, components: all }, null, 2)}\n`;
}

/** Returns the packages whose code is in the built dashboard, as its build lists them. */
export function bundledPackages(): BundledPackage[] {
  return JSON.parse(readFileSync(join(root, 'apps/dashboard/dist/licenses.json'), 'utf8')) as BundledPackage[];
}

function componentOf({ name, version, identifier }: BundledPackage): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', name, version, purl, licenses: licensed(identifier) };
}

function licensed(id: string): object[] {
  return [{ license: { id } }];
}
