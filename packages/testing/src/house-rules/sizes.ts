import { parseSync } from 'rolldown/utils';
import { at, type HouseRule, isCode, isTest, sourceOf, type TreeFile } from './tree.ts';

const FUNCTION_LINES = 120;
const FOLDER_FILES = 25;

const inSources = (path: string) => /^(?:apps|packages)\/[^/]+\/src\//.test(path) && isCode(path) && !isTest(path);

const isFunction = (type: unknown) =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';

/** Returns the start and end of every function in a file, including nested ones. */
function functionsOf(file: TreeFile): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('type' in value && isFunction(value.type) && 'start' in value && 'end' in value) {
      ranges.push({ start: Number(value.start), end: Number(value.end) });
    }
    for (const child of Object.values(value)) walk(child);
  };
  walk(parseSync(file.path, file.text).program.body);
  return ranges;
}

const linesOf = (text: string) => text.split('\n').length;

/** Returns whether any pair of brackets, or any string, is too long for a function. */
function mayHoldLongFunction(file: TreeFile): boolean {
  const { bare, strings } = sourceOf(file);
  const opened: number[] = [];
  let line = 1;
  for (const [char] of bare.matchAll(/[(){}[\]\n]/g)) {
    if (char === '\n') line += 1;
    else if ('({['.includes(char)) opened.push(line);
    else if (line - (opened.pop() ?? line) >= FUNCTION_LINES - 1) return true;
  }
  return linesOf(strings.trim()) > FUNCTION_LINES && /=>\s*\w*`/.test(bare);
}

export const functionLength: HouseRule = (files) =>
  files
    // Parsing dominates the time of this rule.
    .filter((file) => inSources(file.path) && linesOf(file.text) > FUNCTION_LINES && mayHoldLongFunction(file))
    .flatMap((file) =>
      functionsOf(file).flatMap(({ start, end }) => {
        const lines = linesOf(file.text.slice(start, end));
        return lines > FUNCTION_LINES
          ? [at(file, start, `a function of ${lines} lines; ${FUNCTION_LINES} at most`)]
          : [];
      }),
    );

export const folderSize: HouseRule = (files) => {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    if (!inSources(path)) continue;
    const folder = path.slice(0, path.lastIndexOf('/'));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES)
    .map(([folder, count]) => `${folder}:1 holds ${count} source files; ${FOLDER_FILES} at most`);
};
