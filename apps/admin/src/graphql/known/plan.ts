import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import type { GraphqlContext } from '../kit/request-context.ts';

type Args = Record<string, unknown>;
type Resolve = (source: unknown, args: Args, g: GraphqlContext, info: GraphQLResolveInfo) => unknown;

/** How a field's value is serialized. */
type Shape = { readonly required: boolean } & (
  | { readonly kind: 'leaf'; readonly serialize: (value: unknown) => unknown }
  | { readonly kind: 'object'; readonly steps: readonly Step[] }
  | { readonly kind: 'list'; readonly of: Shape }
);

interface Step {
  readonly key: string;
  /** The index among all steps of the plan. */
  readonly index: number;
  readonly resolve: Resolve;
  readonly shape: Shape;
  readonly argsOf: (variables: Args) => Args;
  readonly info: Omit<GraphQLResolveInfo, 'variableValues'>;
}

/** A validated single-query document, with everything that stays the same between runs. */
export interface Plan {
  readonly name: string | null;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  readonly takes_variables: boolean;
  readonly steps: readonly Step[];
  readonly count: number;
  /** The number of selections visited to build the plan. */
  readonly visited_nodes: number;
}

/** Thrown when a plan cannot run the query. Full execution reports why. */
export class PlanFailed extends Error {}

/**
 * Creates a plan, which resolves fields, types, and arguments once rather than for every row, as full execution does.
 * Returns null for multiple operations, directives, introspection, and abstract types.
 */
export function planOf(schema: GraphQLSchema, document: DocumentNode): Plan | null {
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const root = schema.getQueryType();
  if (!operation || operations.length > 1 || operation.operation !== OperationTypeNode.QUERY || !root) return null;
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  const takes_variables = (operation.variableDefinitions?.length ?? 0) > 0;
  let count = 0;
  let visited_nodes = 0;

  const stepsOf = (type: GraphQLObjectType, selections: readonly SelectionSetNode[]): Step[] => {
    const byKey = new Map<string, [FieldNode, ...FieldNode[]]>();
    // All merged selection sets share one set of visited fragments, as in CollectFields of the specification.
    const visited = new Set<string>();
    for (const selection of selections) collect(type, selection, byKey, visited);
    return [...byKey].map(([key, nodes]) => stepOf(type, key, nodes));
  };

  const collect = (
    type: GraphQLObjectType,
    { selections }: SelectionSetNode,
    collected: Map<string, FieldNode[]>,
    visited: Set<string>,
  ): void => {
    for (const one of selections) {
      visited_nodes += 1;
      if (one.directives && one.directives.length > 0) throw new PlanFailed();
      if (one.kind === Kind.FIELD) {
        const key = one.alias?.value ?? one.name.value;
        const before = collected.get(key);
        if (before) before.push(one);
        else collected.set(key, [one]);
        continue;
      }
      if (one.kind === Kind.FRAGMENT_SPREAD) {
        if (visited.has(one.name.value)) continue;
        visited.add(one.name.value);
      }
      const fragment = one.kind === Kind.FRAGMENT_SPREAD ? fragments.get(one.name.value) : one;
      if (!fragment || (fragment.directives && fragment.directives.length > 0)) throw new PlanFailed();
      const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
      const applies =
        !condition || condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
      if (applies) collect(type, fragment.selectionSet, collected, visited);
    }
  };

  const stepOf = (type: GraphQLObjectType, key: string, nodes: readonly [FieldNode, ...FieldNode[]]): Step => {
    const [node] = nodes;
    const field = type.getFields()[node.name.value];
    // __proto__ would set the prototype of the result object.
    if (!field || key === '__proto__') throw new PlanFailed();
    const constant = takes_variables ? null : getArgumentValues(field, node, {});
    const index = count++;
    return {
      key,
      index,
      // The schema types a field's source as `any`.
      resolve: (field.resolve ?? defaultFieldResolver) as Resolve,
      argsOf: (variables) => constant ?? getArgumentValues(field, node, variables),
      shape: shapeOf(field.type, nodes),
      info: {
        fieldName: field.name,
        fieldNodes: nodes,
        returnType: field.type,
        parentType: type,
        // The path is the same for every row, because none of our resolvers read the list index.
        path: { prev: undefined, key, typename: type.name },
        schema,
        fragments: Object.fromEntries(fragments),
        rootValue: undefined,
        operation,
      },
    };
  };

  const shapeOf = (type: GraphQLOutputType, nodes: readonly FieldNode[], required = false): Shape => {
    if (isNonNullType(type)) return shapeOf(type.ofType, nodes, true);
    if (isListType(type)) return { kind: 'list', required, of: shapeOf(type.ofType, nodes) };
    if (isLeafType(type)) return { kind: 'leaf', required, serialize: (value) => type.serialize(value) };
    if (!isObjectType(type)) throw new PlanFailed();
    const selections = nodes.flatMap((node) => node.selectionSet ?? []);
    return { kind: 'object', required, steps: stepsOf(type, selections) };
  };

  try {
    const steps = stepsOf(root, [operation.selectionSet]);
    return { name: operation.name?.value ?? null, document, schema, takes_variables, steps, count, visited_nodes };
  } catch (error) {
    if (error instanceof PlanFailed) return null;
    throw error;
  }
}

type Target = Record<string | number, unknown> | unknown[];

class Run {
  readonly g: GraphqlContext;
  readonly variables: Args;
  readonly done: Promise<void>;
  readonly #args: Args[];
  readonly #infos: GraphQLResolveInfo[];
  readonly #finish: () => void;
  readonly #fail: (error: unknown) => void;
  #waiting = 1;

  constructor(count: number, g: GraphqlContext, variables: Args) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.g = g;
    this.variables = variables;
    this.done = promise;
    // Nothing awaits this promise if the first rows fail synchronously.
    promise.catch(() => undefined);
    this.#finish = resolve;
    this.#fail = reject;
    this.#args = new Array(count);
    this.#infos = new Array(count);
  }

  begin(steps: readonly Step[], source: unknown): Record<string, unknown> {
    const target: Record<string, unknown> = {};
    for (const step of steps) {
      const { index, shape, key } = step;
      this.#args[index] ??= step.argsOf(this.variables);
      this.#infos[index] ??= { ...step.info, variableValues: this.variables };
      this.#settle(shape, step.resolve(source, this.#args[index], this.g, this.#infos[index]), target, key);
    }
    return target;
  }

  /**
   * Sets a value now or when its promise resolves. The key is reserved immediately to preserve the document's order.
   */
  #settle(shape: Shape, value: unknown, target: Target, key: string | number): void {
    // A target is an array or an object, and each key matches its type.
    const place = target as Record<string | number, unknown>;
    if (!(value instanceof Promise)) {
      place[key] = this.#complete(shape, value);
      return;
    }
    place[key] = undefined;
    this.#waiting += 1;
    value.then((result: unknown) => {
      try {
        place[key] = this.#complete(shape, result);
        this.left();
      } catch (error) {
        this.#fail(error);
      }
    }, this.#fail);
  }

  #complete(shape: Shape, value: unknown): unknown {
    if (value === null || value === undefined) {
      if (shape.required) throw new PlanFailed();
      return null;
    }
    if (value instanceof Error) throw value;
    if (shape.kind === 'leaf') return shape.serialize(value) ?? failed();
    if (shape.kind === 'object') return this.begin(shape.steps, value);
    if (!Array.isArray(value)) throw new PlanFailed();
    const entries: unknown[] = new Array(value.length);
    for (const [index, one] of value.entries()) this.#settle(shape.of, one, entries, index);
    return entries;
  }

  left(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#finish();
  }
}

function failed(): never {
  throw new PlanFailed();
}

/** Runs a plan. Rejects if anything fails, without error paths. */
export async function runPlan(
  { steps, count, schema, document, takes_variables }: Plan,
  g: GraphqlContext,
  inputs: Args,
): Promise<Record<string, unknown>> {
  const variables = takes_variables ? readVariables(schema, document, inputs) : {};
  const run = new Run(count, g, variables);
  const data = run.begin(steps, undefined);
  run.left();
  await run.done;
  return data;
}

function readVariables(schema: GraphQLSchema, { definitions }: DocumentNode, inputs: Args): Args {
  const operation = definitions.find((one) => one.kind === Kind.OPERATION_DEFINITION);
  const read = getVariableValues(schema, operation?.variableDefinitions ?? [], inputs);
  return read.coerced ?? failed();
}
