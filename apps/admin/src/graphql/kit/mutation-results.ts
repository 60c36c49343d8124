import { AppError, type ErrorCode, type ErrorDetail, errorCodes } from '@postrider/core';
import type { ObjectRef } from '@pothos/core';
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

const ErrorCodeEnum = enumOf('ErrorCode', errorCodes);

const ApiError = builder.interfaceRef<Refusal>('ApiError').implement({
  description: 'The same error as in REST. code and reason are the same in every API. Branch on reason.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeEnum, resolve: ({ error }) => error.code }),
    reason: t.string({ resolve: ({ error }) => error.reason }),
    message: t.string({
      description: 'How to fix it.',
      resolve: ({ error }) => rewordMessage(error.message, error.reason),
    }),
    docsUrl: t.field({
      type: 'URL',
      resolve: ({ error }, _, { ctx }) => `${ctx.public_url}/errors/${error.reason}`,
    }),
    requestId: t.id({ resolve: (_, __, { ctx }) => ctx.request_id }),
  }),
});

const FieldIssue = builder.objectRef<ErrorDetail>('FieldIssue').implement({
  fields: (t) => ({
    path: t.stringList({
      description: 'The path of the field within the input.',
      resolve: ({ param, reason }) => pathOf(param, reason),
    }),
    reason: t.exposeString('reason'),
    message: t.string({ resolve: ({ reason, message }) => rewordMessage(message, reason) }),
  }),
});

const InvalidInputError = builder.objectRef<Refusal>('InvalidInputError').implement({
  interfaces: [ApiError],
  fields: (t) => ({
    fields: t.field({ type: [FieldIssue], resolve: ({ error }) => error.facts.details ?? [] }),
  }),
});

const ForbiddenError = builder.objectRef<Refusal>('ForbiddenError').implement({
  interfaces: [ApiError],
  fields: (t) => ({
    requiredScope: t.string({ nullable: true, resolve: ({ error }) => error.facts.required_scope ?? null }),
  }),
});

const NotFoundError = builder.objectRef<Refusal>('NotFoundError').implement({ interfaces: [ApiError] });

const StateError = builder.objectRef<Refusal>('StateError').implement({
  description: 'The request is valid, but the current state does not allow it.',
  interfaces: [ApiError],
  fields: (t) => ({
    currentState: t.string({
      nullable: true,
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

/** Declares the union <name>: the payload or an error. Mutations with the same payload share one union. */
export function resultOf<T extends object>(name: string, payload: ObjectRef<Schema, T>) {
  return builder.unionType(name, {
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
