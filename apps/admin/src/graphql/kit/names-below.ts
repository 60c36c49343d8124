import { type GraphQLResolveInfo, Kind, type SelectionSetNode } from 'graphql';

/** Returns whether the selection below a field contains one of these field names on any type. */
export function namesBelow(
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  names: ReadonlySet<string>,
): boolean {
  const visited = new Set<string>();
  const isNamed = ({ selections }: SelectionSetNode): boolean =>
    selections.some((one) => {
      if (one.kind === Kind.FIELD) return names.has(one.name.value) || (one.selectionSet && isNamed(one.selectionSet));
      if (one.kind === Kind.INLINE_FRAGMENT) return isNamed(one.selectionSet);
      const fragment = visited.has(one.name.value) ? undefined : fragments[one.name.value];
      visited.add(one.name.value);
      return fragment !== undefined && isNamed(fragment.selectionSet);
    });
  return fieldNodes.some((node) => node.selectionSet && isNamed(node.selectionSet));
}
