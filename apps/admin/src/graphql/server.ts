import { AppError, type Log, type Services } from '@postrider/core';
import type { QueryRefunds } from '@postrider/core/usage';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { graphqlError } from './errors.ts';
import type { KnownQueries } from './known-queries.ts';
import { limitCost, limitForm } from './limits.ts';
import type { GraphqlContext } from './request-context.ts';
import { schema } from './schema.ts';

export const MOST_BYTES = 100 * 1024;

/** The GraphQL server: it gets a context, and answers over HTTP as the specification of that says. */
export function createGraphqlServer(services: Services, refunds: QueryRefunds, known: KnownQueries) {
  return createYoga<GraphqlContext>({
    schema,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: MOST_BYTES,
    // Its own would be made into one of Node's on the way out, and a stream that the client leaves would throw then.
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL, URLSearchParams },
    // 1,024 documents, the oldest of which is forgotten for each one more; with what validation said of them.
    parserAndValidationCache: true,
    maskedErrors: { maskError: publicError },
    plugins: [limitForm, limitCost(services, refunds, known), naming(services.log)],
  });
}

/**
 * Every error names its request, under which the log tells more. Errors are copied, because those of a document
 * that is remembered are remembered with it.
 */
function naming(log: Log): Plugin<object, GraphqlContext> {
  return {
    onExecutionResult({ result, context, setResult }) {
      if (!result || Symbol.asyncIterator in result || !result.errors) return;
      setResult({ ...result, errors: namedErrors(log, result.errors, context.ctx.request_id) });
    },
  };
}

export function namedErrors(log: Log, errors: readonly GraphQLError[], request_id: string): GraphQLError[] {
  for (const { originalError, path } of errors) {
    if (originalError && !(originalError instanceof GraphQLError))
      log.error({ err: originalError, request_id, path }, 'a field failed');
  }
  return errors.map((error) => copyOf(error, { ...asCoded(error), requestId: request_id }));
}

/** What the parser, the validator or the reader of variables refused has no reason yet. */
function asCoded({ extensions }: GraphQLError): Record<string, unknown> {
  return extensions.reason === undefined
    ? { ...extensions, code: 'invalid_request', reason: 'invalid_query' }
    : { ...extensions };
}

function copyOf(
  error: GraphQLError,
  extensions: Record<string, unknown>,
  { message = error.message, originalError = null }: { message?: string; originalError?: Error | null } = {},
): GraphQLError {
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    extensions,
    originalError,
  });
}

/** What the caller did wrong is told. Of anything else only that it failed; the error itself goes on to the log. */
export function publicError(error: unknown): GraphQLError {
  const cause = causeOf(error);
  if (cause instanceof GraphQLError) return error instanceof GraphQLError ? error : cause;
  const told = graphqlError(cause instanceof AppError ? cause : unexpected);
  const hidden = cause instanceof AppError ? null : cause instanceof Error ? cause : new Error(String(cause));
  return copyOf(error instanceof GraphQLError ? error : told, told.extensions, {
    message: told.message,
    originalError: hidden,
  });
}

function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

const unexpected = new AppError(
  'unexpected',
  'Something failed on our side; retry, and quote the requestId if it keeps failing.',
);
