import { AppError, type Log, type Services } from '@postrider/core';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { graphqlError } from './errors.ts';
import type { GraphqlContext } from './request-context.ts';
import { schema } from './schema.ts';

/** The GraphQL server: it gets a context, and answers over HTTP as the specification of that says. */
export function createGraphqlServer(services: Services) {
  return createYoga<GraphqlContext>({
    schema,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: 100 * 1024,
    maskedErrors: { maskError: (error) => publicError(error, services.log) },
    plugins: [naming],
  });
}

/** Every error names its request, under which the log tells more. */
const naming: Plugin<object, GraphqlContext> = {
  onExecutionResult({ result, context }) {
    if (!result || Symbol.asyncIterator in result) return;
    for (const error of result.errors ?? []) error.extensions.requestId = context.ctx.request_id;
  },
};

/** What the caller did wrong is told; anything else only that it failed, and the log tells the rest. */
function publicError(error: unknown, log: Log): Error {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  const told = asGraphqlError(original, log);
  if (!(error instanceof GraphQLError) || told === error) return told;
  return new GraphQLError(told.message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions: told.extensions,
  });
}

function asGraphqlError(error: unknown, log: Log): GraphQLError {
  if (error instanceof AppError) return graphqlError(error);
  if (error instanceof GraphQLError) return error;
  log.error({ err: error }, 'a field failed');
  return graphqlError(
    new AppError('unexpected', 'Something failed on our side; retry, and quote the requestId if it keeps failing.'),
  );
}
