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
import type { Connection } from '../kit/connections.ts';
import { pageSize } from '../kit/page-size.ts';
import type { GraphqlContext } from '../kit/request-context.ts';

/** Wraps every connection to credit missing entries, and every list to count its entries. */
export function countShortPages(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (!resolve) continue;
      const named_type = getNamedType(field.type);
      if (isCounted(field.type, named_type)) {
        field.resolve = (parent, args, g: GraphqlContext, info) => {
          const note = (list: unknown) => {
            if (Array.isArray(list)) g.cost.noteEntries(list.length);
            return list;
          };
          const list: unknown = resolve(parent, args, g, info);
          return list instanceof Promise ? list.then(note) : note(list);
        };
      }
      if (!named_type.name.endsWith('Connection')) continue;
      field.resolve = async (parent, args: Readonly<Record<string, unknown>>, g: GraphqlContext, info) => {
        const recordHeld = (count: number) => g.cost.recordShortPage(info.fieldNodes[0], pageSize(args) - count);
        try {
          // A field of a connection type resolves to a connection or null.
          const page = (await resolve(parent, args, g, info)) as Connection<unknown> | null;
          if (page) recordHeld(page.edges.length);
          return page;
        } catch (error) {
          // Arguments are validated before anything is read. Any other failure may have read a lot and is charged.
          if (error instanceof AppError && error.code === 'invalid_request') recordHeld(0);
          throw error;
        }
      };
    }
  }
  return schema;
}

/** Returns whether a list contains objects. Time series points do not count because core limits them. */
function isCounted(type: GraphQLOutputType, named_type: GraphQLNamedType): boolean {
  return isListType(getNullableType(type)) && !isLeafType(named_type) && named_type.name !== 'StatPoint';
}
