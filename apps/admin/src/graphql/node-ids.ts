import { AppError, type IdKind, idPrefixes } from '@postrider/core';
import { type GraphQLSchema, isObjectType } from 'graphql';

export const MOST_NODES = 100;

const typenames = new Map<string, string>();
const searches = new Map<string, number>();

/** Says which type the ids of a kind belong to, and what a search costs where no key leads to them. */
export function claimIds(kind: IdKind, typename: string, search_points = 0): void {
  typenames.set(idPrefixes[kind], typename);
  if (search_points > 0) searches.set(idPrefixes[kind], search_points);
}

/**
 * What finding some nodes costs: a point each, and the searches that serve all ids of a kind at once. They are texts
 * when the price is told, before the plugin reads them; only its types do not know.
 */
export function costOfNodes(given: readonly (string | { readonly id: string })[]) {
  const ids = given.map((one) => (typeof one === 'string' ? one : one.id));
  if (ids.length > MOST_NODES)
    throw new AppError('query_too_complex', `nodes takes ${MOST_NODES} ids at most, and ${ids.length} are given.`);
  let field = ids.length;
  for (const [prefix, points] of searches) if (ids.some((id) => id.startsWith(prefix))) field += points;
  return { field, multiplier: ids.length };
}

/** The type that an id belongs to by its prefix, or null. */
export function typenameOf(id: string): string | null {
  return typenames.get(id.slice(0, id.indexOf('_') + 1)) ?? null;
}

/** The plugin answers the id of every node by a promise; ours are at hand. */
export function answerIdsAtOnce(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node')) continue;
    const { id } = type.getFields();
    if (id) id.resolve = (node: { readonly id: string }) => node.id;
  }
  return schema;
}
