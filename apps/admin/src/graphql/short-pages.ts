import { AppError } from '@postrider/core';
import {
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Connection } from './connections.ts';
import { pageSize } from './page-size.ts';
import type { GraphqlContext } from './request-context.ts';

/**
 * Lets every connection of a schema note what its page did not hold, or that it was refused, so that its cost can be
 * given back, and every list how much it holds.
 */
export function countShortPages(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (!resolve) continue;
      const named = getNamedType(field.type);
      if (isCounted(field.type, named)) {
        field.resolve = (parent, args, g: GraphqlContext, info) => {
          const note = (list: unknown) => {
            if (Array.isArray(list)) g.cost.noteEntries(list.length);
            return list;
          };
          const list: unknown = resolve(parent, args, g, info);
          return list instanceof Promise ? list.then(note) : note(list);
        };
      }
      if (!named.name.endsWith('Connection')) continue;
      field.resolve = async (parent, args: Readonly<Record<string, unknown>>, g: GraphqlContext, info) => {
        const noteHeld = (count: number) => g.cost.noteShortPage(info.fieldNodes[0], pageSize(args) - count);
        try {
          // Whatever has a connection's type resolves to a connection, or to nothing.
          const page = (await resolve(parent, args, g, info)) as Connection<unknown> | null;
          if (page) noteHeld(page.edges.length);
          return page;
        } catch (error) {
          // Arguments are judged before anything is read. Whatever else fails may have read a lot, and is paid for.
          if (error instanceof AppError && error.code === 'invalid_request') noteHeld(0);
          throw error;
        }
      };
    }
  }
  return schema;
}

/** Lists of objects. Points of a series are plain numbers, of which the core bounds how many an answer has. */
function isCounted(type: GraphQLOutputType, named: GraphQLNamedType): boolean {
  return isListType(getNullableType(type)) && !isLeafType(named) && named.name !== 'StatPoint';
}
