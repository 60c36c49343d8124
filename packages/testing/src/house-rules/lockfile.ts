import { fieldsOf } from './manifests.ts';
import { at, type HouseRule, type TreeFile } from './tree.ts';

interface LockedPackage {
  readonly path: string;
  readonly version: string;
  readonly resolved: string;
  readonly optional: readonly string[];
}

function lockOf(files: readonly TreeFile[]): { file: TreeFile; packages: LockedPackage[] } | null {
  const file = files.find(({ path }) => path === 'package-lock.json');
  if (!file) return null;
  const entries = Object.entries(fieldsOf(fieldsOf(JSON.parse(file.text)).packages));
  const packages = entries.map(([path, value]): LockedPackage => {
    const { version, resolved, optionalDependencies } = fieldsOf(value);
    return {
      path,
      version: String(version ?? ''),
      resolved: String(resolved ?? ''),
      optional: Object.keys(fieldsOf(optionalDependencies)),
    };
  });
  return { file, packages };
}

export const lockAddresses: HouseRule = (files) => {
  const lock = lockOf(files);
  if (!lock) return [];
  return lock.packages
    .filter(({ resolved }) => /^(?:https?|git\+\w+):/.test(resolved))
    .map(({ path }) => at(lock.file, lock.file.text.indexOf(`"${path}"`), `${path} is locked with a download address`));
};

/**
 * Requires a complete lockfile. npm silently drops a platform package from the lockfile if it cannot find the package,
 * and `npm ci` then fails elsewhere.
 */
export const lockIsWhole: HouseRule = (files) => {
  const lock = lockOf(files);
  if (!lock) return [];
  const isLocked = (name: string) => lock.packages.some(({ path }) => path.endsWith(`node_modules/${name}`));
  return lock.packages.flatMap(({ path, optional }) =>
    optional
      .filter((name) => !isLocked(name))
      .map((name) => {
        const complaint = `${name}, optional of ${path || 'the root'}, is not locked`;
        return at(lock.file, lock.file.text.indexOf(`"${name}"`), complaint);
      }),
  );
};

/** The lowest version of a package without a known vulnerability that matters here; nested copies count. */
interface Floor {
  readonly package: string;
  /** null: the package must not be installed at all. */
  readonly floor: string | null;
  readonly advisory: string;
  /** Accepted copies below the floor, with the reason. */
  readonly accepted?: { readonly under: string; readonly other_major_than: number; readonly why: string };
}

function floorsOf(files: readonly TreeFile[]): readonly Floor[] {
  const file = files.find(({ path }) => path === 'advisories.json');
  if (!file) throw new Error('advisories.json is not there');
  const list: unknown = JSON.parse(file.text);
  if (!Array.isArray(list)) throw new Error('advisories.json is no list');
  return list.map((entry: unknown): Floor => {
    const { package: name, floor, advisory, accepted, ...unknown } = fieldsOf(entry);
    const fits = typeof name === 'string' && (typeof floor === 'string' || floor === null);
    if (!fits || typeof advisory !== 'string' || Object.keys(unknown).length > 0) {
      throw new Error(`advisories.json: ${JSON.stringify(entry)} is not { package, floor, advisory, accepted? }`);
    }
    if (accepted === undefined) return { package: name, floor, advisory };
    const { under, other_major_than, why: reason } = fieldsOf(accepted);
    if (typeof under !== 'string' || typeof other_major_than !== 'number' || typeof reason !== 'string') {
      throw new Error(`advisories.json: ${JSON.stringify(accepted)} is not { under, other_major_than, why }`);
    }
    return { package: name, floor, advisory, accepted: { under, other_major_than, why: reason } };
  });
}

function isBelow(version: string, floor: string): boolean {
  const [core = '', prerelease] = version.split('-');
  const have = core.split('.').map(Number);
  const need = floor.split('.').map(Number);
  for (let index = 0; index < 3; index++) {
    const difference = (have[index] ?? 0) - (need[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return prerelease !== undefined;
}

export const aboveAdvisories: HouseRule = (files) => {
  const lock = lockOf(files);
  if (!lock) return [];
  return floorsOf(files).flatMap(({ package: name, floor, advisory, accepted }) =>
    lock.packages
      .filter(({ path, version }) => {
        if (!path.endsWith(`node_modules/${name}`)) return false;
        if (floor === null) return true;
        const other_major = accepted !== undefined && Number.parseInt(version, 10) !== accepted.other_major_than;
        return !(other_major && path.includes(accepted.under)) && isBelow(version, floor);
      })
      .map(({ path, version }) => {
        const complaint = `${path} ${version} is ${floor ? `below ${floor}` : 'banned'}: ${advisory}`;
        return at(lock.file, lock.file.text.indexOf(`"${path}"`), complaint);
      }),
  );
};
