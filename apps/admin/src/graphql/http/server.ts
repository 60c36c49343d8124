import { AppError, DEFAULT_BODY_BYTES, type Log, type Services } from '@postrider/core';
import type { QueryRefunds } from '@postrider/core/usage';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { limitCost, limitForm, limitSize } from '../cost/limits.ts';
import { graphqlError } from '../kit/graphql-error.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import { MAX_RESPONSE_BYTES, responseTooLarge, sizeOf } from '../kit/response-size.ts';
import type { KnownQueries } from '../known/known-queries.ts';
import { textCache } from '../known/text-cache.ts';
import { schema } from '../schema.ts';

/** Creates the GraphQL server, which follows the GraphQL-over-HTTP specification. */
export function createGraphqlServer(services: Services, refunds: QueryRefunds, known: KnownQueries) {
  return createYoga<GraphqlContext>({
    schema,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: DEFAULT_BODY_BYTES,
    // Yoga's own Response would be converted to Node's, which throws when a client disconnects from a stream.
    fetchAPI: { Request, Response, Headers, ReadableStream, TextEncoder, TextDecoder, URL, URLSearchParams },
    parserAndValidationCache: { documentCache: textCache(), errorCache: textCache() },
    maskedErrors: { maskError: publicError },
    plugins: [limitSize, limitForm, limitCost(services, refunds, known), naming(services.log)],
  });
}

/**
 * Adds the request ID to every error and replaces a response that is too large with an error. Errors are copied because
 * those of a cached document are cached with it.
 */
function naming(log: Log): Plugin<object, GraphqlContext> {
  return {
    onExecutionResult({ result, context, setResult }) {
      if (!result || Symbol.asyncIterator in result) return;
      if (sizeOf(result.data, MAX_RESPONSE_BYTES) > MAX_RESPONSE_BYTES) {
        const error = graphqlError(responseTooLarge());
        return setResult({ errors: namedErrors(log, [error], context.ctx.request_id) });
      }
      if (!result.errors) return;
      setResult({ ...result, errors: namedErrors(log, result.errors, context.ctx.request_id) });
    },
  };
}

export function namedErrors(log: Log, errors: readonly GraphQLError[], request_id: string): GraphQLError[] {
  for (const { originalError, path } of errors) {
    if (originalError && !(originalError instanceof GraphQLError))
      log.error({ err: originalError, request_id, path }, 'failed to resolve a GraphQL field');
  }
  return errors.map((error) => {
    const extensions = { ...codedExtensions(error), requestId: request_id };
    return copyOf(error, extensions, { message: withoutInput(error.message) });
  });
}

/** Removes the input objects that errors from variable coercion quote, because they may contain passwords. */
function withoutInput(message: string): string {
  if (!message.startsWith('Variable "$')) return message;
  return message
    .replace(/ got invalid value [[{].*[\]}](?=(?: at "[^"]*")?; )/s, ' got an invalid value')
    .replace(/: [[{].*[\]}]$/s, '');
}

/** Errors from the parser, the validator, and variable coercion do not have a reason yet. */
function codedExtensions({ extensions }: GraphQLError): Record<string, unknown> {
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

/**
 * Masks errors. An AppError is returned as is; anything else becomes an internal error whose cause appears only in the
 * log.
 */
export function publicError(error: unknown): GraphQLError {
  const cause = causeOf(error);
  if (cause instanceof GraphQLError) return error instanceof GraphQLError ? error : cause;
  const graphql_error = graphqlError(cause instanceof AppError ? cause : unexpected);
  const hidden = cause instanceof AppError ? null : cause instanceof Error ? cause : new Error(String(cause));
  return copyOf(error instanceof GraphQLError ? error : graphql_error, graphql_error.extensions, {
    message: graphql_error.message,
    originalError: hidden,
  });
}

function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

const unexpected = new AppError('unexpected', 'Internal error. Retry, and include the requestId if you report it.');
