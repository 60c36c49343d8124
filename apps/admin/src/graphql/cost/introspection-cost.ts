import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

// Introspection has no complexity of its own because we do not build the fields of __Schema and __Type. Its cost is the
// number of entries in its lists, which is known from the schema.

type ListName =
  | 'types'
  | 'directives'
  | 'fields'
  | 'args'
  | 'inputFields'
  | 'enumValues'
  | 'possibleTypes'
  | 'interfaces';
type Sizes = Readonly<Record<ListName, number>>;

interface SchemaSizes {
  /** The average over all types. Exact for a list under `types`. */
  readonly average: Sizes;
  /** The maximum over all types, for a type that is unknown until execution. */
  readonly most: Sizes;
}

const sizesOf = new WeakMap<GraphQLSchema, SchemaSizes>();

/** Returns the number of entries in all lists that a selection under __schema or __type returns. */
export function introspectedEntries(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  selection: SelectionSetNode | undefined,
): number {
  const { average, most: max } = measured(schema);
  const known = new Map<SelectionSetNode, Map<Sizes, number>>();
  const under = (set: SelectionSetNode, sizes: Sizes): number => {
    const before = known.get(set)?.get(sizes);
    if (before !== undefined) return before;
    let entries = 0;
    for (const one of set.selections) {
      if (one.kind !== Kind.FIELD) {
        const inner = one.kind === Kind.FRAGMENT_SPREAD ? fragments.get(one.name.value) : one;
        if (inner) entries += under(inner.selectionSet, sizes);
        continue;
      }
      const name = one.name.value;
      const size = name in sizes ? sizes[name as ListName] : null;
      // The average is exact only directly below the list of all types.
      const next = name === 'types' || (sizes === average && size !== null && name !== 'possibleTypes') ? average : max;
      const below = one.selectionSet ? under(one.selectionSet, next) : 0;
      entries += size === null ? below : size * (1 + below);
    }
    const bySizes = known.get(set) ?? new Map<Sizes, number>();
    known.set(set, bySizes.set(sizes, entries));
    return entries;
  };
  return selection ? under(selection, max) : 0;
}

/** Returns the fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
  return fragments;
}

function measured(schema: GraphQLSchema): SchemaSizes {
  const before = sizesOf.get(schema);
  if (before) return before;
  const types = Object.values(schema.getTypeMap());
  const counts = types.map((type) => {
    const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
    return {
      fields: fields.length,
      args: fields.map((field) => field.args.length),
      inputFields: isInputObjectType(type) ? Object.keys(type.getFields()).length : 0,
      enumValues: isEnumType(type) ? type.getValues().length : 0,
      possibleTypes: isInterfaceType(type) || isUnionType(type) ? schema.getPossibleTypes(type).length : 0,
      interfaces: isObjectType(type) || isInterfaceType(type) ? type.getInterfaces().length : 0,
    };
  });
  const directives = schema.getDirectives();
  const args = [...counts.flatMap((one) => one.args), ...directives.map((one) => one.args.length)];
  const sizes = (pick: (values: readonly number[]) => number): Sizes => ({
    types: types.length,
    directives: directives.length,
    fields: pick(counts.map((one) => one.fields)),
    args: pick(args),
    inputFields: pick(counts.map((one) => one.inputFields)),
    enumValues: pick(counts.map((one) => one.enumValues)),
    possibleTypes: pick(counts.map((one) => one.possibleTypes)),
    interfaces: pick(counts.map((one) => one.interfaces)),
  });
  const list_sizes = {
    average: sizes((values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)),
    most: sizes((values) => values.reduce((max, value) => Math.max(max, value), 0)),
  };
  sizesOf.set(schema, list_sizes);
  return list_sizes;
}
