import { parseSync } from 'rolldown/utils';
import { at, type HouseRule, inSource, isCode, sourceOf, type TreeFile } from './tree.ts';

/** Participles that say how a value was obtained instead of what it is. Words of the trade, such as sent, are fine. */
const participles = new Set(
  [
    'answered asked begun brought chosen counted drawn ended found given gone heard judged kept made meant named',
    'refused said seen shown taken told tried wanted watched written',
  ].flatMap((line) => line.split(' ')),
);
const PARTICIPLE = new RegExp(`\\b(?:${[...participles].join('|')})\\b`, 'i');

const MAX_PER_10_000_LINES = 5;
const WORST = 10;

interface Binding {
  readonly name: string;
  readonly start: number;
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const nodesIn = (value: unknown): Node[] =>
  Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];

/** Returns the names that a pattern binds, including destructured names. */
function namesIn(pattern: Node): Binding[] {
  switch (pattern.type) {
    case 'Identifier':
      return [{ name: String(pattern.name), start: Number(pattern.start) }];
    case 'ObjectPattern':
      return nodesIn(pattern.properties).flatMap(namesIn);
    case 'Property':
      return nodesIn(pattern.value).flatMap(namesIn);
    case 'ArrayPattern':
      return nodesIn(pattern.elements).flatMap(namesIn);
    case 'AssignmentPattern':
      return nodesIn(pattern.left).flatMap(namesIn);
    case 'RestElement':
      return nodesIn(pattern.argument).flatMap(namesIn);
    default:
      return [];
  }
}

/** Returns the variables, parameters, functions and types that a file declares. */
function bindingsOf(file: TreeFile): Binding[] {
  const bindings: Binding[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isNode(value)) {
      const { type } = value;
      if (type === 'VariableDeclarator' || type === 'FunctionDeclaration' || /^TS(?:TypeAlias|Interface)/.test(type)) {
        bindings.push(...nodesIn(value.id).flatMap(namesIn));
      }
      if (/Function/.test(type)) bindings.push(...nodesIn(value.params).flatMap(namesIn));
    }
    for (const child of Object.values(value)) walk(child);
  };
  walk(parseSync(file.path, file.text).program.body);
  return bindings;
}

/** Requires a noun as the name of a variable: rows, request, notice. */
export const nounNames: HouseRule = (files) => {
  const code = files.filter(({ path }) => isCode(path));
  const lines = code.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  const participial = code
    // Parsing dominates the time of this rule.
    .filter((file) => PARTICIPLE.test(sourceOf(file).bare))
    .flatMap((file) =>
      bindingsOf(file).flatMap(({ name, start }) =>
        participles.has(name.toLowerCase()) ? [at(file, start, `${name}: name what it holds`)] : [],
      ),
    );
  return participial.length * 10_000 <= MAX_PER_10_000_LINES * lines ? [] : participial.slice(0, WORST);
};

/** Requires MAX_ and MIN_ for bounds, DEFAULT_ for defaults, and POLL_MS and INTERVAL_MS for intervals. */
export const boundNames: HouseRule = inSource(
  () => true,
  'bare',
  /\b(?:MOST|LEAST|USUAL|SELDOM|LOOK_MS)(?:_\w+)?\b/g,
  'say MAX_, MIN_, DEFAULT_ or POLL_',
);
