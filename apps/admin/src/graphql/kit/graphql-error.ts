import { type AppError, errorFields } from '@postrider/core';
import { GraphQLError } from 'graphql';
import { camelCase } from './names.ts';

/** Creates an error for errors[], with the code and reason spelled as in REST. */
export function graphqlError(error: AppError): GraphQLError {
  const { message, details, required_scope, ...fields } = errorFields(error);
  const extensions = {
    ...fields,
    ...(details && {
      fields: details.map(({ param, ...detail }) => ({
        ...detail,
        path: pathOf(param, detail.reason),
        message: rewordMessage(detail.message, detail.reason),
      })),
    }),
    ...(required_scope && { requiredScope: required_scope }),
  };
  return new GraphQLError(rewordMessage(message, error.reason), { extensions });
}

/** Page arguments whose names differ from those in core. */
const pageArguments: Readonly<Record<string, readonly [RegExp, string]>> = {
  invalid_limit: [/^limit\b/, 'first'],
  invalid_cursor: [/^cursor\b/, 'after'],
};

export function rewordMessage(text: string, reason: string): string {
  const renamed = pageArguments[reason];
  return renamed ? text.replace(...renamed) : text;
}

/** Converts a core path such as to[3].email_id to the names in this schema. */
export function pathOf(param: string, reason: string): string[] {
  return rewordMessage(param, reason)
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map(camelCase);
}
