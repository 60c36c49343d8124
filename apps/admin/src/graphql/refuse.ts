import { type AppError, httpStatus } from '@postrider/core';
import { graphqlError } from './errors.ts';

/** An answer before anything of the document was looked at, in the form of a result. */
export function refuse(
  error: AppError,
  request_id: string,
  headers: Readonly<Record<string, string>>,
  status: number = httpStatus[error.code],
): Response {
  const { message, extensions } = graphqlError(error);
  return new Response(JSON.stringify({ errors: [{ message, extensions: { ...extensions, requestId: request_id } }] }), {
    status,
    headers: {
      'content-type': 'application/graphql-response+json; charset=utf-8',
      ...(error.code === 'unauthorized' && { 'www-authenticate': 'Bearer realm="postrider"' }),
      ...headers,
    },
  });
}
