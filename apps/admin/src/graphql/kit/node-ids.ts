import { AppError, type IdKind, idPrefixes } from '@postrider/core';
import { type GraphQLSchema, isObjectType } from 'graphql';

export const MAX_NODES = 100;

const typenames = new Map<string, string>();
const searches = new Map<string, number>();

/** Registers the type for a kind of ID, and the cost of a search if no index covers it. */
export function claimIds(kind: IdKind, typename: string, search_points = 0): void {
  typenames.set(idPrefixes[kind], typename);
  if (search_points > 0) searches.set(idPrefixes[kind], search_points);
}

/**
 * Returns the cost of node lookups: one point per ID, plus a search for each kind of ID that no index covers. The IDs
 * are still plain strings when the cost is computed, before the plugin decodes them, although the plugin's types do not
 * say so.
 */
export function nodesCost(nodes: readonly (string | { readonly id: string })[]) {
  const ids = nodes.map((one) => (typeof one === 'string' ? one : one.id));
  if (ids.length > MAX_NODES)
    throw new AppError('query_too_complex', `nodes accepts up to ${MAX_NODES} IDs, but got ${ids.length}.`);
  let field = ids.length;
  for (const [prefix, points] of searches) if (ids.some((id) => id.startsWith(prefix))) field += points;
  return { field, multiplier: ids.length };
}

/** Returns the type that an ID's prefix identifies, or null if the prefix is unknown. */
export function typenameOf(id: string): string | null {
  return typenames.get(id.slice(0, id.indexOf('_') + 1)) ?? null;
}

/** Resolves node IDs synchronously, whereas the plugin resolves each one through a promise. */
export function batchIdLookups(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === 'Node')) continue;
    const { id } = type.getFields();
    if (id) id.resolve = (node: { readonly id: string }) => node.id;
  }
  return schema;
}
