import { AppError, type ErrorCode, type ErrorDetail, errorCodes, errorFields } from '@postrider/core';
import type { ObjectRef } from '@pothos/core';
import { GraphQLError } from 'graphql';
import { builder, type SchemaShape } from './builder.ts';
import { enumOf } from './enums.ts';
import { camelCase } from './from-operation.ts';

type Schema = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>;

/** What was refused, as a member of a mutation's result. */
export class Refusal {
  readonly error: AppError;

  constructor(error: AppError) {
    this.error = error;
  }
}

const ErrorCodeEnum = enumOf('ErrorCode', errorCodes);

const ApiError = builder.interfaceRef<Refusal>('ApiError').implement({
  description: 'What a REST error says. code and reason are the same in every face; branch on reason.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeEnum, resolve: ({ error }) => error.code }),
    reason: t.string({ resolve: ({ error }) => error.reason }),
    message: t.string({
      description: 'What to change, for people.',
      resolve: ({ error }) => inOurWords(error.message, error.reason),
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
      description: 'From the input inwards.',
      resolve: ({ param, reason }) => pathOf(param, reason),
    }),
    reason: t.exposeString('reason'),
    message: t.string({ resolve: ({ reason, message }) => inOurWords(message, reason) }),
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
  description: 'What was asked for is right, and cannot be done as things stand.',
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

/** The type that tells of a code in a result; null: it is no result of the mutation, and stands in errors. */
const typeOfCode: Record<ErrorCode, string | null> = {
  invalid_request: 'InvalidInputError',
  forbidden: 'ForbiddenError',
  not_found: 'NotFoundError',
  unprocessable: 'StateError',
  unauthorized: null,
  rate_limited: null,
  internal_error: null,
};

/** Declares <name>: the payload, or what was refused. Mutations that answer the same share one. */
export function resultOf<T extends object>(name: string, payload: ObjectRef<Schema, T>) {
  return builder.unionType(name, {
    types: [payload, InvalidInputError, ForbiddenError, NotFoundError, StateError],
    resolveType: (value) => (value instanceof Refusal ? (typeOfCode[value.error.code] ?? undefined) : payload.name),
  });
}

/** The payload, or the refusal as a member of the result. Faults of ours are thrown on. */
export async function outcome<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError && typeOfCode[error.code] !== null) return new Refusal(error);
    throw error;
  }
}

/** An error as it stands in errors[], with code and reason spelled as in REST. */
export function graphqlError(error: AppError): GraphQLError {
  const { message, details, required_scope, ...fields } = errorFields(error);
  const extensions = {
    ...fields,
    ...(details && {
      fields: details.map(({ param, ...detail }) => ({
        ...detail,
        path: pathOf(param, detail.reason),
        message: inOurWords(detail.message, detail.reason),
      })),
    }),
    ...(required_scope && { requiredScope: required_scope }),
  };
  return new GraphQLError(inOurWords(message, error.reason), { extensions });
}

/** A page is asked for with arguments that the core calls otherwise. */
const pageArguments: Readonly<Record<string, readonly [RegExp, string]>> = {
  invalid_limit: [/^limit\b/, 'first'],
  invalid_cursor: [/^cursor\b/, 'after'],
};

function inOurWords(text: string, reason: string): string {
  const renamed = pageArguments[reason];
  return renamed ? text.replace(...renamed) : text;
}

/** A path such as to[3].email_id of the core, in the names of this schema. */
function pathOf(param: string, reason: string): string[] {
  return inOurWords(param, reason)
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map(camelCase);
}
