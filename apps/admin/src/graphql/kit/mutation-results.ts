import { AppError, type ErrorCode, type ErrorDetail, errorCodes } from '@postrider/core';
import type { ArgBuilder, InputRef, ObjectRef } from '@pothos/core';
import { builder, type SchemaShape } from './builder.ts';
import { enumOf } from './enums.ts';
import { pathOf, rewordMessage } from './graphql-error.ts';

type Schema = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>;

/** An error as a member of a mutation's result union. */
export class Refusal {
  readonly error: AppError;

  constructor(error: AppError) {
    this.error = error;
  }
}

const ErrorCodeEnum = enumOf('ErrorCode', errorCodes, 'The kind of error, which determines the HTTP status in REST.');

const ApiError = builder.interfaceRef<Refusal>('ApiError').implement({
  description: 'The same error as in REST. code and reason are the same in every API. Branch on reason.',
  fields: (t) => ({
    code: t.field({
      type: ErrorCodeEnum,
      description: 'The kind of error, which determines the HTTP status in REST.',
      resolve: ({ error }) => error.code,
    }),
    reason: t.string({
      description: 'The exact reason, more specific than the code. New reasons may be added.',
      resolve: ({ error }) => error.reason,
    }),
    message: t.string({
      description: 'How to fix it.',
      resolve: ({ error }) => rewordMessage(error.message, error.reason),
    }),
    docsUrl: t.field({
      type: 'URL',
      description: 'The documentation of the reason.',
      resolve: ({ error }, _, { ctx }) => `${ctx.public_url}/errors/${error.reason}`,
    }),
    requestId: t.id({ description: 'The ID of the failed request.', resolve: (_, __, { ctx }) => ctx.request_id }),
  }),
});

const FieldIssue = builder.objectRef<ErrorDetail>('FieldIssue').implement({
  description: 'An invalid input field.',
  fields: (t) => ({
    path: t.stringList({
      description: 'The path of the field within the input.',
      resolve: ({ param, reason }) => pathOf(param, reason),
    }),
    reason: t.exposeString('reason', { description: 'The exact reason, as in ApiError.' }),
    message: t.string({
      description: 'How to fix this field.',
      resolve: ({ reason, message }) => rewordMessage(message, reason),
    }),
  }),
});

const InvalidInputError = builder.objectRef<Refusal>('InvalidInputError').implement({
  description: 'The input is invalid. Nothing has changed.',
  interfaces: [ApiError],
  fields: (t) => ({
    fields: t.field({
      type: [FieldIssue],
      description: 'All invalid fields.',
      resolve: ({ error }) => error.facts.details ?? [],
    }),
  }),
});

const ForbiddenError = builder.objectRef<Refusal>('ForbiddenError').implement({
  description: 'The caller lacks a permission.',
  interfaces: [ApiError],
  fields: (t) => ({
    requiredScope: t.string({
      nullable: true,
      description: 'The scope that the key lacks; null if a scope is not the cause.',
      resolve: ({ error }) => error.facts.required_scope ?? null,
    }),
  }),
});

const NotFoundError = builder
  .objectRef<Refusal>('NotFoundError')
  .implement({ description: 'The target does not exist or is not visible to the caller.', interfaces: [ApiError] });

const StateError = builder.objectRef<Refusal>('StateError').implement({
  description: 'The request is valid, but the current state does not allow it.',
  interfaces: [ApiError],
  fields: (t) => ({
    currentState: t.string({
      nullable: true,
      description: 'The state of the target, such as the status of a message; null if it is not the cause.',
      resolve: ({ error }) => {
        const state = error.facts.extra?.status ?? error.facts.extra?.state;
        return state == null ? null : String(state);
      },
    }),
  }),
});

/** The result type of each code. Null means that the error goes to errors[] instead. */
const codeType: Record<ErrorCode, string | null> = {
  invalid_request: 'InvalidInputError',
  forbidden: 'ForbiddenError',
  not_found: 'NotFoundError',
  unprocessable: 'StateError',
  unauthorized: null,
  rate_limited: null,
  internal_error: null,
};

/** Returns the argument of every mutation. */
export function inputArg<T>(t: { readonly arg: ArgBuilder<Schema> }, type: InputRef<T>) {
  return t.arg({ type, required: true, description: 'What to create or change, and the values.' });
}

/** Declares the union <name>: the payload or an error. Mutations with the same payload share one union. */
export function resultOf<T extends object>(name: string, payload: ObjectRef<Schema, T>) {
  return builder.unionType(name, {
    description: 'The payload, or the error that prevented the change.',
    types: [payload, InvalidInputError, ForbiddenError, NotFoundError, StateError],
    resolveType: (value) => (value instanceof Refusal ? (codeType[value.error.code] ?? undefined) : payload.name),
  });
}

/** Returns the payload, or the error as a member of the result. Rethrows internal errors. */
export async function outcome<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && codeType[error.code] !== null) return new Refusal(error);
    throw error;
  }
}
