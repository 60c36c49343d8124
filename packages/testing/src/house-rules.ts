import { graphsAreDrawn } from './house-rules/architecture-graph.ts';
import { dialogsInUrl, pollingListed, proceduresCalled } from './house-rules/dashboard.ts';
import {
  coreWithoutHttp,
  declaredImports,
  domainIndexes,
  layers,
  noImportCycles,
  ownedModules,
  usedDependencies,
  workspaceExports,
} from './house-rules/directions.ts';
import { importsOf } from './house-rules/imports.ts';
import { aboveAdvisories, lockAddresses, lockIsWhole } from './house-rules/lockfile.ts';
import { fieldsOf, isExact, isManifest, manifestOf } from './house-rules/manifests.ts';
import { boundNames, nounNames } from './house-rules/names.ts';
import { noticesAgree } from './house-rules/notices.ts';
import { sharesListed } from './house-rules/shares.ts';
import { folderSize, functionLength } from './house-rules/sizes.ts';
import { subjectFirst } from './house-rules/titles.ts';
import { at, both, findAll, type HouseRule, inSource, isCode, isTest, sourceOf } from './house-rules/tree.ts';
import { fewGenitives, noWhatClauses, plainComments, uncountedMail } from './house-rules/voice.ts';
import { plainWords } from './house-rules/words.ts';

const isStore = (path: string) => /(?:^|[/-])store\.ts$/.test(path);
const isClock = (path: string) => /(?:^|\/)clock\.ts$/.test(path);
const inAny = (path: string, folders: readonly string[]) => folders.some((folder) => path.startsWith(folder));
const isMigration = (path: string) => /(?:^|\/)migrations\/[^/]+$/.test(path);

// Tests may query rows, because they assert the stored data.
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
// The keywords are in lower or upper case, but not capitalized: "Select a domain from the list" is a sentence.
const SQL_STRING = new RegExp(
  String.raw`(?<=[\x60'"])\s*(?:${SQL_WORDS}|${SQL_WORDS.replace(/(?<!\\)\b[a-z]{2,}/g, (word) => word.toUpperCase())})`,
  'g',
);

const mayReadEnvironment = (path: string) =>
  [
    'apps/server/src/main.ts',
    'packages/cli/src/main.ts',
    // A library has no main.ts, and the SDK's documentation says that its settings come from the environment.
    'packages/sdk/src/environment.ts',
    'vitest.config.ts',
  ].includes(path) || inAny(path, ['scripts/', 'bench/', 'examples/', 'packages/testing/']);

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

const exactVersions: HouseRule = (files) =>
  files.filter(isManifest).flatMap((file) => {
    const { run_time, development, overrides } = manifestOf(file);
    const dependencies = [...Object.entries(run_time), ...Object.entries(development), ...leavesOf(overrides)];
    return dependencies
      .filter(([, version]) => !isExact(version))
      .map(([name, version]) =>
        at(file, Math.max(0, file.text.indexOf(`"${name}"`)), `${name} is "${version}", not one exact version`),
      );
  });

function leavesOf(overrides: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(overrides).flatMap(([name, value]): [string, string][] => {
    // npm's $reference to a direct dependency is as exact as the dependency itself.
    if (typeof value === 'string') return value.startsWith('$') ? [] : [[name, value]];
    return leavesOf(fieldsOf(value));
  });
}

// Rejects registry hosts: a registry host in a file is machine-specific, and npm would use it everywhere.
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
const PATH_TAIL = /^(?:[a-z][\w-]*\/)*[a-z][\w.-]*\.(?:ts|tsx|mjs|sql)$/;

/**
 * Requires that named paths exist: a path from the root must exist, and a shorter path, such as `messages/judge.ts`,
 * must be the end of an existing path.
 */
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
          .filter((word) => FROM_ROOT.test(word) || PATH_TAIL.test(word))
          // A name such as NNNN-title.md is a pattern.
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
  'the tables of pg-boss are named in packages/queue': inSource(
    (path) => !isTest(path) && !isMigration(path) && !inAny(path, ['packages/queue/', 'packages/testing/', 'bench/']),
    'code',
    /\bpgboss\s*\./g,
    'packages/queue exports a function or a fragment for it',
  ),
  'the planner is steered in planner.ts': inSource(
    (path) =>
      mayHoldSql(path) &&
      !isTest(path) &&
      !isMigration(path) &&
      !inAny(path, ['bench/', 'packages/testing/']) &&
      path !== 'packages/db/src/planner.ts',
    'code',
    /\boffset 0\b|\bcollate "POSIX"|\b(?:enable_\w+|plan_cache_mode)\b/g,
    'a fragment of packages/db/src/planner.ts says why',
  ),
  'time comes from a clock': inSource(
    (path) => !isClock(path) && !isTest(path) && !inAny(path, ['packages/testing/', 'examples/']),
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
  'a test title begins with its subject': subjectFirst,
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
  'every dependency of a workspace is imported': usedDependencies,
  'workspaces depend on each other in one direction': layers,
  'only the owner of a driver imports it': ownedModules,
  'core imports no HTTP': coreWithoutHttp,
  'a workspace is imported through its exports': workspaceExports,
  'a domain of core is imported through its index': domainIndexes,
  'no import cycle, types included': noImportCycles,
  'no function is longer than 120 lines': functionLength,
  'no folder holds more than 25 source files': folderSize,
  'the dashboard polls only what its list names': pollingListed,
  'every tRPC procedure has a caller': proceduresCalled,
  'a dialog of the dashboard is opened by its URL': dialogsInUrl,
  'variables and types are named by nouns': nounNames,
  'bounds are named MAX_ and MIN_, defaults DEFAULT_': boundNames,
  'prose uses plain words': plainWords,
  'comments use the words of the trade': plainComments,
  'the documentation and the interfaces say email': uncountedMail,
  'sentences of the interfaces begin with a noun or a verb': noWhatClauses,
  'the documentation uses noun compounds': fewGenitives,
  'the lockfile names no download address': lockAddresses,
  'the lockfile has every optional package': lockIsWhole,
  'the notices name the locked packages and their licenses': noticesAgree,
  'no dependency is below its advisory floor': aboveAdvisories,
  'no file names a package host': registryHosts,
  'every shared resource has a row with its test': sharesListed,
  'the guides name paths that exist': namedPaths,
  'the page of packages draws the imports as they are': graphsAreDrawn,
} as const satisfies Record<string, HouseRule>;

export type HouseRuleName = keyof typeof houseRules;
