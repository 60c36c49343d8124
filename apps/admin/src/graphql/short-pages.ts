import { type GraphQLSchema, getNamedType, isObjectType } from 'graphql';
import type { Connection } from './connections.ts';
import type { GraphqlContext } from './request-context.ts';

const DEFAULT_PAGE = 20;

/** Lets every connection of a schema note what its page did not hold, so that its cost can be given back. */
export function countShortPages(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (!resolve || !getNamedType(field.type).name.endsWith('Connection')) continue;
      field.resolve = (parent, args: { readonly first?: number | null }, g: GraphqlContext, info) => {
        const note = (page: Connection<unknown> | null) => {
          if (page) g.cost.noteShortPage(info.fieldNodes[0], (args.first ?? DEFAULT_PAGE) - page.edges.length);
          return page;
        };
        // Whatever has a connection's type resolves to a connection, or to nothing.
        const page = resolve(parent, args, g, info) as Connection<unknown> | null | Promise<Connection<unknown> | null>;
        return page instanceof Promise ? page.then(note) : note(page);
      };
    }
  }
  return schema;
}
