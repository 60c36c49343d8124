import { posix } from 'node:path';
import { importGraph, importsOf, packageOf } from './imports.ts';
import { exampleOf, manifestOf, manifestsOf, workspaceOf } from './manifests.ts';
import { at, type HouseRule, isCode, isTest, sourceOf, type TreeFile } from './tree.ts';

/** Only tests import the test kit, and tests may use the root's dev dependencies. */
const KIT = 'packages/testing/';
const BUILT = 'apps/dashboard/';

export const declaredImports: HouseRule = (files) => {
  const manifests = manifestsOf(files);
  const root = manifests.get('')?.manifest;
  const ofRoot = [...Object.keys(root?.run_time ?? {}), ...Object.keys(root?.development ?? {})];
  return files
    .filter((file) => isCode(file.path))
    .flatMap((file) => {
      const example = exampleOf(file.path);
      if (example !== null) return undeclaredImports(file, files, example);
      const workspace = workspaceOf(file.path);
      const manifest = manifests.get(workspace ?? '')?.manifest;
      const declared = new Set([...Object.keys(manifest?.run_time ?? {}), manifest?.name]);
      // The dashboard is built into static files, so none of its imports exist at run time.
      if (workspace === BUILT) for (const name of Object.keys(manifest?.development ?? {})) declared.add(name);
      // Tests do not declare the test kit as a dependency: core would then depend on a package that depends on core.
      const of_tests = [...Object.keys(manifest?.development ?? {}), ...ofRoot, '@postrider/testing'];
      if (isTest(file.path) || workspace === KIT || workspace === null) for (const name of of_tests) declared.add(name);
      return importsOf(file).flatMap(({ specifier, index }) => {
        const name = packageOf(specifier);
        if (name === null || declared.has(name)) return [];
        if (workspace === null && name.startsWith('@postrider/')) return [];
        return [at(file, index, `${name} is not declared in ${workspace ?? ''}package.json`)];
      });
    });
};

/** An example has packages of its own, and none of the root's when it is copied out of the repository. */
function undeclaredImports(file: TreeFile, files: readonly TreeFile[], example: string): string[] {
  const own = files.find(({ path }) => path === `${example}package.json`);
  const { run_time = {}, development = {} } = own ? manifestOf(own) : {};
  return importsOf(file).flatMap(({ specifier, index }) => {
    const name = packageOf(specifier);
    if (name === null || name in run_time || name in development) return [];
    return [at(file, index, `${name} is not declared in ${example}package.json`)];
  });
}

export const usedDependencies: HouseRule = (files) => {
  const code = files.filter(({ path }) => isCode(path));
  return [...manifestsOf(files)].flatMap(([folder, { file, manifest }]) => {
    if (folder === '') return [];
    const own = code.filter(({ path }) => path.startsWith(folder));
    const uses = (tests: boolean, name: string) =>
      own.some(
        (one) =>
          (tests || folder === KIT || !isTest(one.path)) &&
          (importsOf(one).some(({ specifier }) => packageOf(specifier) === name) ||
            // A module may also be loaded by name, as pino loads its transports.
            new RegExp(`['"]${name}['"]`).test(sourceOf(one).code)),
      );
    const unused = [
      ...Object.keys(manifest.run_time).filter((name) => !uses(false, name)),
      ...Object.keys(manifest.development).filter((name) => !uses(true, name)),
    ];
    return unused.map((name) => at(file, file.text.indexOf(`"${name}"`), `${name} is declared and not imported`));
  });
};

interface Direction {
  readonly of: RegExp;
  readonly never: RegExp;
  readonly why: string;
}

/**
 * Forbidden dependencies between workspaces, including tests. Both sides are matched against folders such as
 * `packages/core/`.
 */
const directions: readonly Direction[] = [
  {
    of: /^(?!apps\/(?:server|dashboard)\/)/,
    never: /^apps\//,
    why: 'an app is thin, and only apps/server depends on apps; what two need belongs in a package',
  },
  {
    of: /^apps\/dashboard\//,
    never: /^(?!apps\/admin\/)/,
    why: 'a browser loads it; it takes the types of the tRPC router from apps/admin, and nothing else of ours',
  },
  { of: /^apps\/(?!server\/)|^packages\/dispatch\//, never: /^packages\/db\//, why: 'SQL lives in the stores of core' },
  { of: /^apps\/(?:rest|admin)\//, never: /^packages\/(?:queue|mail)\//, why: 'it speaks to core only' },
  { of: /^apps\/inbound\//, never: /^packages\/queue\//, why: 'jobs live in core' },
  { of: /^packages\/cli\//, never: /^packages\/mail\//, why: 'the command line sends no mail itself' },
  {
    of: /^(?!apps\/worker\/|packages\/testing\/)/,
    never: /^packages\/dispatch\//,
    why: 'the worker runs the delivery engine; the test kit drives it',
  },
  { of: /^packages\/core\//, never: /^packages\/(?!db|mail|net|queue)/, why: 'it depends on core' },
  {
    of: /^packages\/(?:mail|net)\//,
    never: /^packages\/(?!net\/)/,
    why: 'mail and net know neither the product nor the database',
  },
  { of: /^packages\/queue\//, never: /^packages\/(?!db\/)/, why: 'the queue is generic over its job catalogue' },
  { of: /^packages\/db\//, never: /^packages\//, why: 'the database package depends on nothing of ours' },
];

export const layers: HouseRule = (files) => {
  const manifests = manifestsOf(files);
  const folders = new Map([...manifests].map(([folder, { manifest }]) => [manifest.name, folder]));
  return [...manifests].flatMap(([folder, { file, manifest }]) => {
    if (folder === '') return [];
    return [...Object.keys(manifest.run_time), ...Object.keys(manifest.development)].flatMap((name) => {
      const imported = folders.get(name);
      const broken = directions.find(
        ({ of: source, never: forbidden }) =>
          imported && imported !== folder && source.test(folder) && forbidden.test(imported),
      );
      return broken ? [at(file, file.text.indexOf(`"${name}"`), `${name}: ${broken.why}`)] : [];
    });
  });
};

const owners: readonly { readonly owner: string; readonly modules: RegExp }[] = [
  { owner: 'packages/queue/', modules: /^pg-boss(?:\/|$)/ },
  { owner: 'packages/db/', modules: /^(?:postgres|pg|node-pg-migrate)(?:\/|$)/ },
];

export const ownedModules: HouseRule = (files) =>
  files
    .filter(({ path }) => isCode(path) && workspaceOf(path) !== null)
    .flatMap((file) =>
      importsOf(file).flatMap(({ specifier, index }) => {
        const owned = owners.find(({ owner, modules }) => modules.test(specifier) && !file.path.startsWith(owner));
        return owned ? [at(file, index, `only ${owned.owner} imports ${specifier}`)] : [];
      }),
    );

export const coreWithoutHttp: HouseRule = (files) =>
  files
    .filter(({ path }) => isCode(path) && path.startsWith('packages/core/'))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => /^(?:(?:node:)?https?2?|hono|@hono\/.*|hono\/.*)$/.test(specifier))
        .map(({ specifier, index }) => at(file, index, `${specifier}: core knows no HTTP, transports do`)),
    );

export const workspaceExports: HouseRule = (files) => {
  const manifests = manifestsOf(files);
  return importGraph(files).flatMap(({ file, specifier, index, target }) => {
    if (/^@postrider\//.test(specifier)) {
      return target ? [] : [at(file, index, `${specifier}: no file that this workspace exports`)];
    }
    const resolved = specifier.startsWith('.') ? posix.join(posix.dirname(file.path), specifier) : '';
    const workspace = workspaceOf(resolved);
    if (workspace === null || workspace === workspaceOf(file.path)) return [];
    const offered = Object.values(manifests.get(workspace)?.manifest.exports ?? {});
    // The root starts a main module by path.
    if (workspaceOf(file.path) === null && offered.includes(`./${resolved.slice(workspace.length)}`)) return [];
    return [at(file, index, `${specifier}: import a workspace by its name; its exports say what it offers`)];
  });
};

const DOMAIN = /^packages\/core\/src\/([^/]+)\//;

/**
 * Allows imports of another domain only through its index. Tests may import the stores of other domains, because they
 * assert the stored rows.
 */
export const domainIndexes: HouseRule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  return importGraph(files).flatMap(({ file, specifier, index, target }) => {
    const from = DOMAIN.exec(file.path)?.[1];
    const target_domain = DOMAIN.exec(target ?? '')?.[1];
    if (!file.path.startsWith('packages/core/src/') || isTest(file.path)) return [];
    if (target_domain === undefined || target_domain === from) return [];
    const entry = `packages/core/src/${target_domain}/index.ts`;
    if (target === entry || !paths.has(entry)) return [];
    return [at(file, index, `${specifier}: another domain is imported through ${target_domain}/index.ts`)];
  });
};

/**
 * Rejects import cycles. Type imports count toward cycles, because the files of a cycle can only be read, moved and
 * tested together.
 */
export const noImportCycles: HouseRule = (files) => {
  const graph = importGraph(files);
  const edges = new Map<string, Set<string>>();
  for (const { file, target } of graph) {
    if (target === null || target === file.path) continue;
    const targets = edges.get(file.path);
    if (targets) targets.add(target);
    else edges.set(file.path, new Set([target]));
  }
  const cycles = cyclesOf(edges);
  const reported = new Set<string>();
  return graph.flatMap(({ file, index, target }) => {
    const cycle = cycles.get(file.path);
    if (!cycle || target === null || target === file.path || cycles.get(target) !== cycle) return [];
    if (reported.has(file.path)) return [];
    reported.add(file.path);
    return [at(file, index, `${target} leads back here, in a cycle of ${cycle.length} files`)];
  });
};

/** Returns the strongly connected components by Tarjan's algorithm, excluding single files. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): Map<string, readonly string[]> {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const is_open = new Set<string>();
  const cycles = new Map<string, readonly string[]>();
  const visit = (node: string): number => {
    const number = numbers.size;
    let low = number;
    numbers.set(node, number);
    open.push(node);
    is_open.add(node);
    for (const next of edges.get(node) ?? []) {
      if (!numbers.has(next)) low = Math.min(low, visit(next));
      else if (is_open.has(next)) low = Math.min(low, lowest.get(next) ?? numbers.get(next) ?? low);
    }
    lowest.set(node, low);
    if (low === number) {
      const component = open.splice(open.indexOf(node));
      for (const member of component) {
        is_open.delete(member);
        if (component.length > 1) cycles.set(member, component);
      }
    }
    return low;
  };
  for (const node of edges.keys()) if (!numbers.has(node)) visit(node);
  return cycles;
}
