import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Returns whether a document may be a dry run, which can depend on its variables. */
export function mayRunDry(document: DocumentNode): boolean {
  return dryRuns(document).length > 0;
}

/**
 * Returns the document of a dry run, reduced to viewer.rateLimit, or null if the operation is not a dry run. Only a
 * query can be a dry run. Other operations in the document are ignored.
 */
export function dryRunOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation_name: string | null | undefined,
  variables: Readonly<Record<string, unknown>>,
): DocumentNode | null {
  const operation = getOperationAST(document, operation_name);
  if (operation?.operation !== OperationTypeNode.QUERY) return null;
  const single: DocumentNode = { ...document, definitions: [operation, ...fragmentsOf(document, operation)] };
  const defaults = defaultsOf(operation);
  const is_dry_run = dryRuns(single).some((field) => {
    const value = field.arguments?.find(({ name }) => name.value === 'dryRun')?.value;
    if (value?.kind === Kind.BOOLEAN) return value.value;
    if (value?.kind !== Kind.VARIABLE) return false;
    return (variables[value.name.value] ?? defaults.get(value.name.value)) === true;
  });
  if (!is_dry_run) return null;
  const types = new TypeInfo(schema);
  const fields_by_type: Readonly<Record<string, string>> = { Query: 'viewer', Viewer: 'rateLimit' };
  return visit(
    single,
    visitWithTypeInfo(types, {
      Field(field) {
        const only = fields_by_type[types.getParentType()?.name ?? ''];
        return only === undefined || field.name.value === only ? undefined : null;
      },
    }),
  );
}

function dryRuns(document: DocumentNode): FieldNode[] {
  const fields: FieldNode[] = [];
  visit(document, {
    Field(field) {
      const has_dry_run = field.arguments?.some(({ name }) => name.value === 'dryRun') ?? false;
      if (field.name.value === 'rateLimit' && has_dry_run) fields.push(field);
    },
  });
  return fields;
}

/** Returns the fragments that an operation uses, directly or transitively. */
function fragmentsOf(document: DocumentNode, operation: OperationDefinitionNode): Set<FragmentDefinitionNode> {
  const byName = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) byName.set(one.name.value, one);
  const used = new Set<FragmentDefinitionNode>();
  const follow = (node: OperationDefinitionNode | FragmentDefinitionNode): void => {
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = byName.get(name.value);
        if (!fragment || used.has(fragment)) return;
        used.add(fragment);
        follow(fragment);
      },
    });
  };
  follow(operation);
  return used;
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode): Map<string, unknown> {
  return new Map(
    variableDefinitions.map(({ variable, defaultValue }) => [
      variable.name.value,
      defaultValue?.kind === Kind.BOOLEAN && defaultValue.value,
    ]),
  );
}
