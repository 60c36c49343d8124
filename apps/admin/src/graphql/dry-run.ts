import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Whether a document can ask for a dry run: what it says depends on more than its text, then. */
export function mayRunDry(document: DocumentNode): boolean {
  return dryRuns(document).length > 0;
}

/** The same document without all that a dry run does not answer; null where it is none. */
export function dryRunOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): DocumentNode | null {
  const defaults = defaultsOf(document);
  const asked = dryRuns(document).some((field) => {
    const value = field.arguments?.find(({ name }) => name.value === 'dryRun')?.value;
    if (value?.kind === Kind.BOOLEAN) return value.value;
    if (value?.kind !== Kind.VARIABLE) return false;
    return (variables[value.name.value] ?? defaults.get(value.name.value)) === true;
  });
  if (!asked) return null;
  const types = new TypeInfo(schema);
  const kept: Readonly<Record<string, string>> = { Query: 'viewer', Viewer: 'rateLimit' };
  return visit(
    document,
    visitWithTypeInfo(types, {
      Field(field) {
        const only = kept[types.getParentType()?.name ?? ''];
        return only === undefined || field.name.value === only ? undefined : null;
      },
    }),
  );
}

function dryRuns(document: DocumentNode): FieldNode[] {
  const found: FieldNode[] = [];
  visit(document, {
    Field(field) {
      const named = field.arguments?.some(({ name }) => name.value === 'dryRun') ?? false;
      if (field.name.value === 'rateLimit' && named) found.push(field);
    },
  });
  return found;
}

function defaultsOf(document: DocumentNode): Map<string, unknown> {
  const operations = document.definitions.filter(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  return new Map(
    operations
      .flatMap(({ variableDefinitions = [] }) => variableDefinitions)
      .map(({ variable, defaultValue }) => [
        variable.name.value,
        defaultValue?.kind === Kind.BOOLEAN && defaultValue.value,
      ]),
  );
}
