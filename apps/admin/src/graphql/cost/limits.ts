import { EnvelopArmorPlugin } from '@escape.tech/graphql-armor';
import { AppError, httpStatus, isoTime, retryAfterHeader, type Services } from '@postrider/core';
import { chargeQuery, type QueryRefunds, spenderOf } from '@postrider/core/usage';
import { type DocumentNode, type ExecutionArgs, GraphQLError, getOperationAST, type ValidationContext } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { graphqlError } from '../kit/graphql-error.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import type { KnownQueries } from '../known/known-queries.ts';
import { type CostMeter, MAX_ENTRIES } from './cost-meter.ts';
import { dryRunOf, mayRunDry } from './dry-run.ts';
import { formOf, formProblem } from './form.ts';
import { costOf, type QueryCost } from './query-cost.ts';

export const MAX_POINTS = 2000;
const MAX_FIELDS = 200;
const MAX_DEPTH = 12;
const MAX_ALIASES = 20;
const MAX_DIRECTIVES = 20;
const MAX_TOKENS = 1000;

function tooComplex(message: string): GraphQLError {
  const error = graphqlError(new AppError('query_too_complex', message));
  error.extensions.http = { status: 400 };
  return error;
}

/** Replaces Armor's rejections with our own error, which is thrown so that validation stops. */
const rejection = {
  propagateOnRejection: false,
  onReject: [
    (_context: ValidationContext | null, error: GraphQLError) => {
      throw tooComplex(error.message.replace(/^Syntax Error: /, ''));
    },
  ],
};

/** Enforces static limits on a document before its cost is computed. */
export const limitForm = EnvelopArmorPlugin({
  // The caller is already authenticated and may see the schema.
  blockFieldSuggestion: { enabled: false },
  costLimit: { enabled: false },
  maxTokens: { n: MAX_TOKENS, ...rejection },
  maxAliases: { n: MAX_ALIASES, ...rejection },
  maxDirectives: { n: MAX_DIRECTIVES, ...rejection },
  maxDepth: { n: MAX_DEPTH, flattenFragments: true, ...rejection },
});

/** Enforces the limits that need no schema, before validation rules follow the fragments. */
export const limitSize: Plugin = {
  onValidate({ params, setResult }) {
    // The cast is safe because only parsed documents are validated.
    const problem = formProblem(formOf(params.documentAST as DocumentNode));
    if (problem !== null) setResult([tooComplex(problem)]);
  },
};

/** Returns the points that a request costs, or an error if it exceeds a limit. */
export function pointsOf(cost: QueryCost): number | GraphQLError {
  if (cost.breadth > MAX_FIELDS)
    return tooComplex(`The document has ${cost.breadth} fields and fragments. The maximum is ${MAX_FIELDS}.`);
  if (cost.introspected > MAX_ENTRIES)
    return tooComplex(
      `The document requests ${Math.ceil(cost.introspected)} introspection entries. The maximum is ${MAX_ENTRIES}.`,
    );
  const points = costly(cost);
  if (points <= MAX_POINTS) return points;
  return tooComplex(
    `The request costs ${points} points. The maximum is ${MAX_POINTS}. Request smaller pages or fewer fields.`,
  );
}

function costly({ points }: QueryCost): number {
  return Math.max(1, Math.ceil(points));
}

/** Returns `extensions.cost` of a response. */
export function costExtension(cost: CostMeter) {
  const { charged, requested, actual, remaining } = cost;
  return { requested, actual, limit: charged.window.limit, remaining, resetAt: isoTime(charged.reset_at_ms) };
}

/** Computes the cost of a document, charges the key's budget, and refunds unused points. */
export function limitCost(
  services: Services,
  refunds: QueryRefunds,
  known: KnownQueries,
): Plugin<YogaInitialContext, GraphqlContext> {
  /** Returns the errors that prevent execution, or null if there are none. */
  const admit = async (args: ExecutionArgs): Promise<readonly GraphQLError[] | null> => {
    const { schema, document, operationName, variableValues, contextValue } = args;
    // The server creates the context, but envelop loses its type.
    const { cost, ctx, params } = contextValue as GraphqlContext & YogaInitialContext;
    const query_cost = costOf(schema, document, operationName, variableValues ?? {}, contextValue as object);
    if ('errors' in query_cost) return query_cost.errors.map(unreadable);
    const dry = dryRunOf(schema, document, operationName, variableValues ?? {});
    if (dry) {
      cost.reported = costly(query_cost);
      args.document = dry;
      return null;
    }
    const points = pointsOf(query_cost);
    if (typeof points !== 'number') return [points];
    if (points > 1) {
      const charged = await chargeQuery(services.sql, spenderOf(ctx.actor), points - 1);
      cost.charged = charged;
      if ('error' in charged) return [throttled(charged.error, services.clock.now())];
    }
    if (!mayRunDry(document)) known.note(params.query, document);
    cost.requested = points;
    services.metrics.observe(
      'graphql_cost_points',
      [getOperationAST(document, operationName)?.operation ?? 'query'],
      points,
    );
    cost.begin(query_cost);
    return null;
  };
  return {
    async onExecute({ args, setResultAndStopExecution }) {
      const errors = await admit(args);
      if (errors) setResultAndStopExecution({ errors });
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const errors = await admit(args);
      if (errors) setResultAndStopExecution({ errors });
    },
    onExecutionResult({ result, context, setResult }) {
      if (!result || Symbol.asyncIterator in result) return;
      const { cost, ctx } = context;
      cost.answered = true;
      refunds.give(spenderOf(ctx.actor), cost.spared);
      // The first exceeded limit fails the request. Data from the other lists is not worth sending.
      const response = cost.excess ? { errors: [graphqlError(cost.excess)], data: null } : result;
      setResult({ ...response, extensions: { ...result.extensions, cost: costExtension(cost) } });
    },
  };
}

/** Converts a variable or argument coercion error. Nothing has run yet, so the whole request is a 400. */
function unreadable(error: GraphQLError): GraphQLError {
  const { nodes = null, message, extensions } = error;
  return new GraphQLError(message, { nodes, extensions: { ...extensions, http: { status: 400 } } });
}

function throttled(refusal: AppError, now_ms: number): GraphQLError {
  const error = graphqlError(refusal);
  error.extensions.http = { status: httpStatus[refusal.code], headers: retryAfterHeader(refusal, now_ms) };
  return error;
}
