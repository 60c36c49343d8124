import { type AppError, httpStatus } from '@postrider/core';
import { graphqlError } from '../kit/graphql-error.ts';

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns a GraphQL result for an error that occurred before the document was parsed. */
export function refusalOf(
  error: AppError,
  request_id: string,
  headers: Readonly<Record<string, string>>,
  status: number = httpStatus[error.code],
): Refusal {
  const { message, extensions } = graphqlError(error);
  return {
    status,
    headers: {
      'content-type': 'application/graphql-response+json; charset=utf-8',
      ...(error.code === 'unauthorized' && { 'www-authenticate': 'Bearer realm="postrider"' }),
      ...headers,
    },
    body: JSON.stringify({ errors: [{ message, extensions: { ...extensions, requestId: request_id } }] }),
  };
}

export function refuse(...params: Parameters<typeof refusalOf>): Response {
  const { body, ...init } = refusalOf(...params);
  return new Response(body, init);
}
