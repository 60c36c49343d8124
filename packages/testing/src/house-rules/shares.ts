import { at, type HouseRule, isCode, isTest, type TreeFile } from './tree.ts';

const PAGE = 'docs/security.md';
const CATALOGUE = 'packages/core/src/process/metric-catalogue.ts';

interface Row {
  readonly index: number;
  readonly metric: string;
  readonly tests: readonly string[];
}

function rowsOf({ text }: TreeFile): Row[] {
  const begin = text.indexOf('| resource | bound | divided | beyond it | metric | test |');
  if (begin < 0) return [];
  const table = text.slice(begin, text.indexOf('\n\n', begin));
  let index = begin;
  return table.split('\n').flatMap((line, number) => {
    const row_index = index;
    index += line.length + 1;
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));
    if (number < 2) return [];
    const tests = [...(cells[5] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
    return [{ index: row_index, metric: cells[4] ?? '', tests }];
  });
}

/** Returns the names of the queues and places declared in the metrics catalog. */
function linesIn({ text }: TreeFile): string[] {
  const lines = /shareLines = \[([^\]]*)\]/.exec(text)?.[1] ?? '';
  const places = /type SharePlaces =([^;]*);/.exec(text)?.[1] ?? '';
  return [...`${lines}${places}`.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
}

/** Requires an existing test for every shared resource, and exactly one row for every declared queue and place. */
export const sharesListed: HouseRule = (files) => {
  const page = files.find(({ path }) => path === PAGE);
  const catalogue = files.find(({ path }) => path === CATALOGUE);
  if (!page || !catalogue) return [];
  const rows = rowsOf(page);
  const paths = new Set(files.filter(({ path }) => isTest(path)).map(({ path }) => path));
  const untested = rows
    .filter(({ tests }) => tests.length === 0 || tests.some((path) => !paths.has(path)))
    .map(({ index }) => at(page, index, 'name a test that exists'));
  const unmeasured = rows
    .filter(({ metric }) => metric.trim() === '')
    .map(({ index }) => at(page, index, 'name the metric, or why there is none'));
  const unlisted = linesIn(catalogue)
    .filter((name) => rows.filter(({ metric }) => metric.includes(`line \`${name}\``)).length !== 1)
    .map((name) => at(catalogue, catalogue.text.indexOf(`'${name}'`), `give ${name} one row of the table in ${PAGE}`));
  const unnamed = files
    .filter(({ path }) => isCode(path) && !isTest(path) && /^(?:apps|packages)\/[\w-]+\/src\//.test(path))
    .flatMap((file) =>
      [...file.text.matchAll(/new FairLine\((?!')/g)].map(({ index }) => at(file, index, 'name the line by a literal')),
    );
  return [...untested, ...unmeasured, ...unlisted, ...unnamed];
};
