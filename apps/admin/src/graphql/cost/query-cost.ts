import { AppError } from '@postrider/core';
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
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

export interface QueryCost {
  readonly points: number;
  /** The number of fields with fragments expanded, without introspection. */
  readonly breadth: number;
  /** The cost of each entry of a page, by the field that selects the page. */
  readonly per_entry: ReadonlyMap<FieldNode, number>;
}

interface Sums {
  readonly points: number;
  readonly breadth: number;
}

const MOST_ERRORS = 50;

type Weight = number | { readonly field?: number; readonly multiplier?: number };
type Weigh = Weight | ((args: Record<string, unknown>, context: object, field: unknown) => Weight);

/**
 * The cost of an operation before execution, from the `complexity` of each field. If it cannot be computed, the errors:
 * execution would drop the failing field and run the others uncharged.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation_name: string | null | undefined,
  inputs: Readonly<Record<string, unknown>>,
  /** The resolvers' context; a complexity that depends on the time reads its clock. */
  context: object,
): QueryCost | { readonly errors: readonly GraphQLError[] } {
  const operation = getOperationAST(document, operation_name);
  const root = operation && schema.getRootType(operation.operation);
  if (!operation || !root) return { errors: [new GraphQLError('Name one operation of the document.')] };
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], inputs, { maxErrors: MOST_ERRORS });
  if (!variables.coerced) return { errors: variables.errors };
  try {
    return walk(document, operation, root, variables.coerced, schema, context);
  } catch (error) {
    // An argument that cannot be coerced, such as null for a variable with a default.
    if (error instanceof GraphQLError) return { errors: [error] };
    // An argument over a limit.
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
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const per_entry = new Map<FieldNode, number>();
  // Memoized per type: nested fragments would make a small document exponential.
  const known = new Map<SelectionSetNode, Map<GraphQLNamedType, Sums>>();

  const ofSelection = (selection: SelectionSetNode, type: GraphQLNamedType): Sums => {
    const before = known.get(selection)?.get(type);
    if (before) return before;
    let points = 0;
    let breadth = 0;
    for (const one of selection.selections) {
      const sums = one.kind === Kind.FIELD ? ofField(one, type) : ofFragment(one, type);
      points += sums.points;
      breadth += sums.breadth;
    }
    const sums = { points, breadth };
    const types = known.get(selection) ?? new Map<GraphQLNamedType, Sums>();
    known.set(selection, types.set(type, sums));
    return sums;
  };

  const ofFragment = (
    node: Extract<SelectionSetNode['selections'][number], { kind: Kind.FRAGMENT_SPREAD | Kind.INLINE_FRAGMENT }>,
    type: GraphQLNamedType,
  ): Sums => {
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    if (!fragment) return { points: 0, breadth: 0 };
    const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value);
    return ofSelection(fragment.selectionSet, condition ?? type);
  };

  const ofField = (node: FieldNode, type: GraphQLNamedType): Sums => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return { points: 0, breadth: 0 };
    const { own, multiplier } = weightOf(field, node, variables, context);
    if (!node.selectionSet) return { points: own, breadth: 1 };
    const below = ofSelection(node.selectionSet, getNamedType(field.type));
    per_entry.set(node, below.points);
    return { points: own + below.points * multiplier, breadth: 1 + below.breadth };
  };

  return { ...ofSelection(operation.selectionSet, root), per_entry };
}

function weightOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Record<string, unknown>,
  context: object,
): { readonly own: number; readonly multiplier: number } {
  // Set by the builder on every field.
  const weigh = field.extensions.complexity as Weigh | undefined;
  const weight = typeof weigh === 'function' ? weigh(getArgumentValues(field, node, variables), context, field) : weigh;
  if (typeof weight === 'number') return { own: weight, multiplier: 1 };
  return { own: weight?.field ?? 1, multiplier: Math.max(0, weight?.multiplier ?? 1) };
}
