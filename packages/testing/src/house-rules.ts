import { readSource, type SourceText } from './source-text.ts';

export interface TreeFile {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Looks at the whole tree and answers `file:line what is wrong` for every place that breaks the rule. */
export type HouseRule = (files: readonly TreeFile[]) => string[];

const isCode = (path: string) => /\.(?:ts|tsx|mts|js|jsx|mjs|cjs)$/.test(path);
const isTest = (path: string) => /\.test\.tsx?$/.test(path) || /(?:^|\/)test\//.test(path);
const isStore = (path: string) => /(?:^|[/-])store\.ts$/.test(path);
const isClock = (path: string) => /(?:^|\/)clock\.ts$/.test(path);
const inAny = (path: string, folders: readonly string[]) => folders.some((folder) => path.startsWith(folder));
const isMigration = (path: string) => /(?:^|\/)migrations\/[^/]+$/.test(path);

const sources = new WeakMap<TreeFile, SourceText>();
function sourceOf(file: TreeFile): SourceText {
  const known = sources.get(file);
  if (known) return known;
  const read = readSource(file.text);
  sources.set(file, read);
  return read;
}

function at(file: TreeFile, index: number, complaint: string): string {
  return `${file.path}:${file.text.slice(0, index).split('\n').length} ${complaint}`;
}

function findAll(file: TreeFile, text: string, pattern: RegExp, complaint: string): string[] {
  return [...text.matchAll(pattern)].map((match) => at(file, match.index, `${match[0].trim()}: ${complaint}`));
}

/** A rule that looks for a pattern in one view of every code file that it covers. */
function inSource(
  covers: (path: string) => boolean,
  view: keyof SourceText,
  pattern: RegExp,
  complaint: string,
): HouseRule {
  return (files) =>
    files
      .filter((file) => isCode(file.path) && covers(file.path))
      .flatMap((file) => findAll(file, sourceOf(file)[view], pattern, complaint));
}

const both =
  (...rules: readonly HouseRule[]): HouseRule =>
  (files) =>
    rules.flatMap((rule) => rule(files));

// Tests may look at rows, because what they assert is what is stored.
const mayHoldSql = (path: string) =>
  isStore(path) ||
  isMigration(path) ||
  isTest(path) ||
  inAny(path, ['packages/db/', 'packages/queue/', 'packages/testing/', 'bench/']);
const SQL_TEMPLATE = /\b(?:sql|tx)(?:<[^`;]*>)?`|\.unsafe\(/g;
const SQL_WORDS = [
  String.raw`select\s[^\x60'"]*?\sfrom\s`,
  String.raw`insert\s+into\s`,
  String.raw`delete\s+from\s`,
  String.raw`update\s+\w+\s+set\s`,
  String.raw`(?:create|alter|drop)\s+(?:table|index|function|schema)\s`,
  String.raw`with\s+\w+\s+as\s+\(`,
].join('|');
// In lower or upper case, not capitalised: "Select a domain from the list" is a sentence.
const SQL_STRING = new RegExp(
  String.raw`(?<=[\x60'"])\s*(?:${SQL_WORDS}|${SQL_WORDS.replace(/(?<!\\)\b[a-z]{2,}/g, (word) => word.toUpperCase())})`,
  'g',
);

// Other things are cancelled as well, so only what is seen to be a query counts: a template, a text, or a name for one.
const CANCELLED_QUERY = /(?:`|\.\s*unsafe\((?:[^()]|\([^()]*\))*\))(?:\s*\.\s*\w+\([^()]*\))*\s*\.\s*cancel\s*\(/g;
const NAMED_QUERY =
  /\b(?:const|let|var)\s+(\w+)\s*(?::[^=;]+)?=\s*(?:\w+\s*\.\s*)*(?:(?:sql|tx)(?:<[^`;]*>)?`|unsafe\()/g;
const UNSAFE_WHEN_LOST = 'the driver is not safe with it when a connection is lost';

const cancelledByName: HouseRule = (files) =>
  files
    .filter(({ path }) => isCode(path))
    .flatMap((file) => {
      const { bare } = sourceOf(file);
      const names = new Set([...bare.matchAll(NAMED_QUERY)].map((match) => match[1]));
      return [...names].flatMap((name) =>
        findAll(file, bare, new RegExp(`(?<![\\w$.])${name}\\s*\\??\\.\\s*cancel\\s*\\(`, 'g'), UNSAFE_WHEN_LOST),
      );
    });

const mayReadEnvironment = (path: string) =>
  ['apps/server/src/main.ts', 'packages/cli/src/main.ts', 'vitest.config.ts'].includes(path) ||
  inAny(path, ['scripts/', 'bench/', 'packages/testing/']);

const bannedNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'service', 'manager', 'base']);

const fileNames: HouseRule = (files) =>
  files.flatMap(({ path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (isMigration(path) && name.endsWith('.sql')) {
      return /^\d{4}_[a-z0-9]+(?:_[a-z0-9]+)*\.sql$/.test(name)
        ? []
        : [`${path}:1 a migration is NNNN_what_it_does.sql`];
    }
    if (!isCode(path) && !/\.(?:sql|css)$/.test(name)) return [];
    const [stem = ''] = name.split('.');
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(stem)) return [`${path}:1 file names are kebab-case`];
    const banned = stem.split('-').find((word) => bannedNames.has(word));
    return banned ? [`${path}:1 ${banned} says nothing; name what the file knows or does`] : [];
  });

const EXPORT_LINE = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+(['"]) *\1;?/;

const indexFiles: HouseRule = (files) =>
  files
    .filter(({ path }) => /(?:^|\/)index\.ts$/.test(path))
    .flatMap((file) => {
      let rest = sourceOf(file).bare.trimStart();
      for (;;) {
        const line = EXPORT_LINE.exec(rest);
        if (!line) break;
        rest = rest.slice(line[0].length).trimStart();
      }
      return rest === '' ? [] : [at(file, file.text.length - rest.length, 'index.ts only exports from other files')];
    });

type Fields = Readonly<Record<string, unknown>>;
type Versions = Readonly<Record<string, string>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function versionsOf(value: unknown): Versions {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, version]) => [name, String(version)]));
}

interface Manifest {
  readonly name: string;
  /** Of every kind: run time, development, optional and peer. */
  readonly dependencies: Versions;
  readonly overrides: Fields;
}

function manifestOf(file: TreeFile): Manifest {
  const fields = fieldsOf(JSON.parse(file.text));
  return {
    name: String(fields.name),
    dependencies: {
      ...versionsOf(fields.dependencies),
      ...versionsOf(fields.devDependencies),
      ...versionsOf(fields.optionalDependencies),
      ...versionsOf(fields.peerDependencies),
    },
    overrides: fieldsOf(fields.overrides),
  };
}

const isManifest = ({ path }: TreeFile) => /^(?:(?:apps|packages)\/[^/]+\/)?package\.json$/.test(path);
const EXACT_VERSION = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;

const exactVersions: HouseRule = (files) =>
  files.filter(isManifest).flatMap((file) => {
    const { dependencies, overrides } = manifestOf(file);
    const wanted = [...Object.entries(dependencies), ...leavesOf(overrides)];
    return wanted
      .filter(([, version]) => !EXACT_VERSION.test(version))
      .map(([name, version]) =>
        at(file, Math.max(0, file.text.indexOf(`"${name}"`)), `${name} is "${version}", not one exact version`),
      );
  });

function leavesOf(overrides: Fields): [string, string][] {
  return Object.entries(overrides).flatMap(([name, value]): [string, string][] => {
    // npm's reference to a direct dependency is as exact as that dependency.
    if (typeof value === 'string') return value.startsWith('$') ? [] : [[name, value]];
    return leavesOf(fieldsOf(value));
  });
}

/** The module specifiers of a file, with where they stand. */
function importsOf(file: TreeFile): { specifier: string; index: number }[] {
  const found = sourceOf(file).bare.matchAll(/\b(?:from\s*|import\s*|import\s*\(\s*)(['"])( *)\1/g);
  return [...found].map((match) => {
    const length = (match[2] ?? '').length;
    const index = match.index + match[0].length - 1 - length;
    return { specifier: file.text.slice(index, index + length), index };
  });
}

function packageOf(specifier: string): string | null {
  if (/^(?:[./#]|node:|virtual:)/.test(specifier)) return null;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const declaredImports: HouseRule = (files) => {
  const manifests = new Map(files.filter(isManifest).map((file) => [file.path, manifestOf(file)]));
  const root = manifests.get('package.json');
  const declaredBy = (manifest: Manifest | undefined) => Object.keys(manifest?.dependencies ?? {});
  return files
    .filter((file) => isCode(file.path))
    .flatMap((file) => {
      const workspace = /^(?:apps|packages)\/[^/]+\//.exec(file.path)?.[0];
      const manifest = manifests.get(`${workspace ?? ''}package.json`);
      const declared = new Set([...declaredBy(manifest), manifest?.name]);
      // Test tools are the root's. That tests use the testing package is not declared, because core would then
      // depend on a package that depends on core.
      if (isTest(file.path) || workspace === 'packages/testing/') {
        for (const name of [...declaredBy(root), '@postrider/testing']) declared.add(name);
      }
      return importsOf(file).flatMap(({ specifier, index }) => {
        const name = packageOf(specifier);
        if (name === null || declared.has(name)) return [];
        if (!workspace && name.startsWith('@postrider/')) return [];
        return [at(file, index, `${name} is not declared in ${workspace ?? ''}package.json`)];
      });
    });
};

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

const lockAddresses: HouseRule = (files) => {
  const lock = lockOf(files);
  if (!lock) return [];
  return lock.packages
    .filter(({ resolved }) => /^(?:https?|git\+\w+):/.test(resolved))
    .map(({ path }) => at(lock.file, lock.file.text.indexOf(`"${path}"`), `${path} is locked with a download address`));
};

/** npm drops a platform package it cannot find from the lock without a word, and `npm ci` then fails elsewhere. */
const lockIsWhole: HouseRule = (files) => {
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

interface Floor {
  readonly name: string;
  /** null: the package may not be there at all. */
  readonly floor: string | null;
  readonly why: string;
  /** A copy below the floor that is accepted, with the reason. */
  readonly accepted?: { readonly under: string; readonly other_major_than: number; readonly why: string };
}

/** The lowest version of a package that has no published weakness which matters here; nested copies count. */
export const advisoryFloor: readonly Floor[] = [
  {
    name: 'nodemailer',
    floor: '10.5.0',
    why: 'address parser rewritten in 10.1.4 to 10.4.1 (GHSA-2x7j-588g-ccc2, GHSA-wmmp-3585-3rmp, GHSA-cc9r-2j5m-2m83)',
    accepted: {
      under: 'node_modules/mx-connect/',
      other_major_than: 10,
      why: 'mx-connect loads only the MTA-STS part of the mailauth that brings it',
    },
  },
  { name: 'mailparser', floor: '3.9.31', why: 'textToHtml script injection, addresses made up from encoded words' },
  { name: 'smtp-server', floor: '3.21.6', why: 'unbounded command line, control characters in the envelope' },
  { name: 'mailauth', floor: '7.1.0', why: 'strict alignment passed as relaxed, crafted property keys' },
  { name: 'pg-boss', floor: '12.35.0', why: 'LISTEN recovery, fetch index' },
  { name: '@trpc/server', floor: '11.8.0', why: 'CVE-2025-68130 prototype pollution' },
  { name: '@escape.tech/graphql-armor', floor: '3.2.0', why: 'GHSA-733v-p3h5-qpq7 cost limit bypass' },
  { name: 'hono', floor: '4.13.5', why: 'GHSA-9vqf-7f2p-gf9v body limit bypass, GHSA-2234-fmw7-43wr, CVE-2026-47674' },
  { name: 'fastify', floor: '5.12.0', why: 'CVE-2025-32442, CVE-2026-25223, CVE-2026-33806 validation skipped' },
  { name: 'ip', floor: null, why: 'calls private addresses public; use node:net and an own table' },
];

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

const aboveAdvisories: HouseRule = (files) => {
  const lock = lockOf(files);
  if (!lock) return [];
  return advisoryFloor.flatMap(({ name, floor, why, accepted }) =>
    lock.packages
      .filter(({ path, version }) => {
        if (!path.endsWith(`node_modules/${name}`)) return false;
        if (floor === null) return true;
        const other_major = accepted !== undefined && Number.parseInt(version, 10) !== accepted.other_major_than;
        return !(other_major && path.includes(accepted.under)) && isBelow(version, floor);
      })
      .map(({ path, version }) => {
        const complaint = `${path} ${version} is ${floor ? `below ${floor}` : 'banned'}: ${why}`;
        return at(lock.file, lock.file.text.indexOf(`"${path}"`), complaint);
      }),
  );
};

// A package host in a file is one machine's habit, and npm would follow it everywhere.
const registryHosts: HouseRule = (files) =>
  files.flatMap((file) => [
    ...findAll(
      file,
      file.text,
      /\bregistry\.(?:npmjs\.org|yarnpkg\.com|npmmirror\.com)\b/g,
      'no package host is named in a file',
    ),
    ...findAll(file, file.text, /\bhttps?:\/\/[^\s"'`)]+\.tgz\b/g, 'no package is named by its download address'),
    ...findAll(
      file,
      file.path.endsWith('.npmrc') ? file.text : '',
      /^.*\bregistry\s*=.*$/gm,
      'the registry is the machine’s choice',
    ),
  ]);

const isGuide = (path: string) => /^(?:README|CONTRIBUTING)\.md$|^docs\/[^/]+\.md$/.test(path);
const FROM_ROOT = /^(?:apps|bench|docs|packages|scripts)\/[\w./-]+$/;
const TAIL_OF_PATH = /^(?:[a-z][\w-]*\/)*[a-z][\w.-]*\.(?:ts|tsx|mjs|sql)$/;

/** A path from the root names a file or a folder; a shorter one, such as `messages/judge.ts`, the end of some path. */
const namedPaths: HouseRule = (files) => {
  const known = new Set(
    files.flatMap(({ path }) => path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))),
  );
  const tails = new Set(
    files.flatMap(({ path }) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))),
  );
  const exists = (name: string) => (FROM_ROOT.test(name) ? known.has(name.replace(/\/$/, '')) : tails.has(name));
  return files
    .filter(({ path }) => isGuide(path))
    .flatMap((file) => {
      const prose = file.text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '));
      return [...prose.matchAll(/`([^`]+)`/g)].flatMap((span) =>
        (span[1] ?? '')
          .split(/\s+/)
          .filter((word) => FROM_ROOT.test(word) || TAIL_OF_PATH.test(word))
          // A name such as NNNN-title.md stands for many.
          .filter((word) => !/NNNN/.test(word) && !exists(word))
          .map((word) => at(file, span.index, `${word} does not exist`)),
      );
    });
};

export const houseRules = {
  'SQL stands in stores, migrations and the packages made for it': both(
    inSource((path) => !mayHoldSql(path), 'bare', SQL_TEMPLATE, 'SQL belongs in a store.ts'),
    inSource((path) => !mayHoldSql(path), 'code', SQL_STRING, 'SQL belongs in a store.ts'),
  ),
  'no query is cancelled, or read by a cursor of the driver': both(
    inSource(() => true, 'bare', /\.\s*cursor\s*\(/g, UNSAFE_WHEN_LOST),
    inSource(() => true, 'bare', CANCELLED_QUERY, UNSAFE_WHEN_LOST),
    cancelledByName,
  ),
  'time comes from a clock': inSource(
    (path) => !isClock(path) && !isTest(path) && !path.startsWith('packages/testing/'),
    'bare',
    /(?<![\w.$])Date(?:\.now\b|\(\s*\))|\bnew\s+Date\s*[;,)\]}]/g,
    'ask a Clock, or the database for clock_now()',
  ),
  'only a main reads the environment': both(
    inSource((path) => !mayReadEnvironment(path), 'bare', /\bprocess\s*\??\.\s*env\b/g, 'take it from config'),
    (files) =>
      files
        .filter(({ path }) => isCode(path) && !mayReadEnvironment(path))
        .flatMap((file) =>
          importsOf(file)
            .filter(({ specifier }) => specifier === 'node:process')
            .map(({ index }) => at(file, index, 'node:process: take it from config')),
        ),
  ),
  'no test is mocked, skipped or run alone': inSource(
    () => true,
    'bare',
    /\bvi\s*\.\s*(?:doMock|mock)\b|\b(?:it|test|describe|suite|bench)(?:\s*\.\s*\w+)*\s*\.\s*(?:only|skip|skipIf|todo|fails)\b/g,
    'every test runs, against our real modules',
  ),
  'nothing is left as a note to finish later': both(
    inSource(() => true, 'comments', /\b(?:TO[D]O|FIX[M]E|XX[X])\b/g, 'finish it or leave it out'),
    (files) =>
      files
        .filter(({ path }) => path.endsWith('.sql'))
        .flatMap((file) => findAll(file, file.text, /\b(?:TO[D]O|FIX[M]E|XX[X])\b/g, 'finish it or leave it out')),
  ),
  'the type checker is never silenced': both(
    inSource(() => true, 'comments', /@ts-(?:ignore|expect-error|nocheck)\b/g, 'fix the type'),
    inSource(
      (path) => /\.tsx?$/.test(path),
      'bare',
      /(?::|\bas|\bextends|=>|\|)\s*any\b(?!\s*[(.])|[<,]\s*any\s*(?=[>,[])/g,
      'unknown and a schema',
    ),
  ),
  'files are named for what they know or do': fileNames,
  'index files only export': indexFiles,
  'every version is exact': exactVersions,
  'every import is declared by its workspace': declaredImports,
  'the lockfile names no download address': lockAddresses,
  'the lockfile has every optional package': lockIsWhole,
  'no dependency is below its advisory floor': aboveAdvisories,
  'no file names a package host': registryHosts,
  'the guides name paths that exist': namedPaths,
} as const satisfies Record<string, HouseRule>;

export type HouseRuleName = keyof typeof houseRules;
