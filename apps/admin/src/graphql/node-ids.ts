import { type IdKind, idPrefixes } from '@postrider/core';
import { type GraphQLSchema, isObjectType } from 'graphql';

const typenames = new Map<string, string>();

/** Says which type the ids of a kind belong to. */
export function claimIds(kind: IdKind, typename: string): void {
  typenames.set(idPrefixes[kind], typename);
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
