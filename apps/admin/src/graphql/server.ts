import { AppError, type Log, type Services } from '@postrider/core';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { graphqlError } from './errors.ts';
import { limitCost, limitForm } from './limits.ts';
import type { GraphqlContext } from './request-context.ts';
import { schema } from './schema.ts';

export const MOST_BYTES = 100 * 1024;

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
    maxRequestBodySize: MOST_BYTES,
    // 1,024 documents, the oldest of which is forgotten for each one more; with what validation said of them.
    parserAndValidationCache: true,
    maskedErrors: { maskError: (error) => publicError(error, services.log) },
    plugins: [limitForm, limitCost(services), naming],
  });
}

/**
 * Every error names its request, under which the log tells more. Errors are copied, because those of a document
 * that is remembered are remembered with it.
 */
const naming: Plugin<object, GraphqlContext> = {
  onExecutionResult({ result, context, setResult }) {
    if (!result || Symbol.asyncIterator in result || !result.errors) return;
    const requestId = context.ctx.request_id;
    const errors = result.errors.map((error) => withExtensions(error, { ...asCoded(error), requestId }));
    setResult({ ...result, errors });
  },
};

/** What the parser, the validator or the reader of variables refused has no reason yet. */
function asCoded({ extensions }: GraphQLError): Record<string, unknown> {
  return extensions.reason === undefined
    ? { ...extensions, code: 'invalid_request', reason: 'invalid_query' }
    : { ...extensions };
}

function withExtensions(error: GraphQLError, extensions: Record<string, unknown>, message = error.message) {
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions,
  });
}

/** What the caller did wrong is told; anything else only that it failed, and the log tells the rest. */
function publicError(error: unknown, log: Log): Error {
  const cause = causeOf(error);
  if (cause instanceof GraphQLError) return cause === error || !(error instanceof GraphQLError) ? cause : error;
  const told = cause instanceof AppError ? graphqlError(cause) : unexpected(cause, log);
  return error instanceof GraphQLError ? withExtensions(error, told.extensions, told.message) : told;
}

function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function unexpected(error: unknown, log: Log): GraphQLError {
  log.error({ err: error }, 'a field failed');
  return graphqlError(
    new AppError('unexpected', 'Something failed on our side; retry, and quote the requestId if it keeps failing.'),
  );
}
