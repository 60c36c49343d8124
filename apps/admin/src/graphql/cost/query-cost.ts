import { AppError } from '@postrider/core';
import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { graphqlError } from '../kit/graphql-error.ts';
import { fragmentsOf, introspectedEntries } from './introspection-cost.ts';

export interface QueryCost {
  readonly points: number;
  /**
   * The number of selections, with each fragment counted everywhere it is spread. Under introspection, list entries are
   * counted.
   */
  readonly breadth: number;
  /** The number of list entries that introspection returns. */
  readonly introspected: number;
  /** The cost per entry of a page, keyed by the field that selects the page. */
  readonly per_entry: ReadonlyMap<FieldNode, number>;
}

interface Sums {
  readonly points: number;
  readonly breadth: number;
  readonly introspected: number;
}

const NOTHING: Sums = { points: 0, breadth: 0, introspected: 0 };
/** The number of introspection entries that cost as much as one object. Each entry is only a few names. */
const ENTRIES_PER_OBJECT = 100;
const MAX_ERRORS = 50;

type Weight = number | { readonly field?: number; readonly multiplier?: number };
type Weigh = Weight | ((args: Record<string, unknown>, context: object, field: unknown) => Weight);

/**
 * Computes the cost of an operation before execution from the `complexity` of each field. Returns the errors if the
 * cost cannot be computed: execution would drop the failing field and run the others without charging for them.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation_name: string | null | undefined,
  inputs: Readonly<Record<string, unknown>>,
  /** The resolvers' context. Time-dependent complexities read its clock. */
  context: object,
): QueryCost | { readonly errors: readonly GraphQLError[] } {
  const operation = getOperationAST(document, operation_name);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) return { errors: [new GraphQLError('Set operationName to one operation in the document.')] };
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], inputs, { maxErrors: MAX_ERRORS });
  if (!variables.coerced) return { errors: variables.errors };
  try {
    return walk(document, operation, root, variables.coerced, schema, context);
  } catch (error) {
    // An argument that cannot be coerced, such as null for a variable with a default.
    if (error instanceof GraphQLError) return { errors: [error] };
    // An argument that exceeds a limit.
    if (error instanceof AppError) return { errors: [graphqlError(error)] };
    throw error;
  }
}

function walk(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  root: GraphQLNamedType,
  variables: Record<string, unknown>,
  schema: GraphQLSchema,
  context: object,
): QueryCost {
  const fragments = fragmentsOf(document);
  const per_entry = new Map<FieldNode, number>();
  // Memoized per type. Otherwise, nested fragments would make a small document exponential.
  const known = new Map<SelectionSetNode, Map<GraphQLNamedType, Sums>>();

  const ofSelection = (selection: SelectionSetNode, type: GraphQLNamedType): Sums => {
    const before = known.get(selection)?.get(type);
    if (before) return before;
    const sums = selection.selections
      .map((one) => (one.kind === Kind.FIELD ? ofField(one, type) : ofFragment(one, type)))
      .reduce(sumOf, NOTHING);
    const types = known.get(selection) ?? new Map<GraphQLNamedType, Sums>();
    known.set(selection, types.set(type, sums));
    return sums;
  };

  const ofFragment = (
    node: Extract<SelectionSetNode['selections'][number], { kind: Kind.FRAGMENT_SPREAD | Kind.INLINE_FRAGMENT }>,
    type: GraphQLNamedType,
  ): Sums => {
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    if (!fragment) return NOTHING;
    const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
    return sumOf(ONE, ofSelection(fragment.selectionSet, condition ?? type));
  };

  const ofField = (node: FieldNode, type: GraphQLNamedType): Sums => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return ofIntrospection(node);
    const { own, multiplier } = weightOf(field, node, variables, context);
    if (!node.selectionSet) return { ...ONE, points: own };
    const below = ofSelection(node.selectionSet, getNamedType(field.type));
    per_entry.set(node, below.points);
    return { ...below, points: own + below.points * multiplier, breadth: 1 + below.breadth };
  };

  const ofIntrospection = ({ selectionSet }: FieldNode): Sums => {
    const introspected = introspectedEntries(schema, fragments, selectionSet);
    return { points: introspected / ENTRIES_PER_OBJECT, breadth: 1, introspected };
  };

  return { ...ofSelection(operation.selectionSet, root), per_entry };
}

const ONE: Sums = { ...NOTHING, breadth: 1 };

function sumOf(left: Sums, right: Sums): Sums {
  return {
    points: left.points + right.points,
    breadth: left.breadth + right.breadth,
    introspected: left.introspected + right.introspected,
  };
}

function weightOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Record<string, unknown>,
  context: object,
): { readonly own: number; readonly multiplier: number } {
  // The builder sets this on every field.
  const weigh = field.extensions.complexity as Weigh | undefined;
  const weight = typeof weigh === 'function' ? weigh(getArgumentValues(field, node, variables), context, field) : weigh;
  if (typeof weight === 'number') return { own: Math.max(0, weight), multiplier: 1 };
  return { own: Math.max(0, weight?.field ?? 1), multiplier: Math.max(0, weight?.multiplier ?? 1) };
}
