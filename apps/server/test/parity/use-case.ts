import type { invoke } from '@postrider/core';
import type { Scope } from '@postrider/core/api-keys';
import type { World } from '@postrider/testing';

type AnyOperation = Parameters<typeof invoke>[1];

export const apiNames = ['rest', 'graphql', 'trpc'] as const;
export type ApiName = (typeof apiNames)[number];

/** An input with core's names. */
export type Input = Readonly<Record<string, unknown>>;

/** Marks an API that does not offer a use case or lacks a kind of caller. */
export interface Absent {
  readonly absent: string;
}

export function absent(reason: string): Absent {
  return { absent: reason };
}

export function isAbsent(operation: unknown): operation is Absent {
  return typeof operation === 'object' && operation !== null && 'absent' in operation;
}

/** The setup of a use case: the input, and the IDs of objects that an API names differently. */
export interface Setup {
  readonly input: Input;
  readonly ids?: Readonly<Record<string, string>>;
}

export interface GraphqlWay {
  readonly field: string;
  readonly document: string;
  variables(setup: Setup): Record<string, unknown>;
  /** Converts a response to core's fields. */
  value(response: unknown): unknown;
}

export interface UseCase {
  readonly name: string;
  readonly operation: AnyOperation;
  /** The scope that the operation requires, or null if it requires none. */
  readonly scope: Scope | null;
  /** APIs that deliberately require another scope, or have no caller without it. */
  readonly scope_on?: Partial<Record<ApiName, Scope | Absent>>;
  readonly writes: boolean;
  /** Whether the call succeeds with the given setup. */
  readonly answers: boolean;
  /** Whether the operation is a list, which is read page by page. */
  readonly paged: boolean;
  /** Method and path. */
  readonly rest: string | Absent;
  readonly graphql: GraphqlWay | Absent;
  /** GET or POST, and the procedure. */
  readonly trpc: string | Absent;
  /** Creates the objects for the operation in a workspace. `number` makes them unique. */
  given(world: World, workspace_id: string, number: number): Promise<Setup>;
  /** The field that identifies the target, if there is one. */
  readonly target: string | null;
  /** Whether GraphQL returns null for a missing target, as it does for every lookup. */
  readonly looks_up: boolean;
  /** Whether to also call the operation from another workspace. */
  readonly foreign: boolean;
  /** Fields that make the input invalid. */
  readonly bad: Input | null;
  /** Fields that differ between calls, or that the response of one API omits. */
  readonly varying: readonly string[];
}

export function useCase(
  operation: AnyOperation,
  rest: Pick<UseCase, 'rest' | 'graphql' | 'trpc' | 'given'> & Partial<UseCase>,
): UseCase {
  return {
    name: operation.name,
    operation,
    scope: operation.scope,
    writes: false,
    answers: true,
    paged: false,
    target: null,
    looks_up: false,
    foreign: rest.target !== undefined,
    bad: null,
    varying: [],
    ...rest,
  };
}

/** Returns the same setup with IDs that never existed. */
export function withAbsentIds({ input, ids = {} }: Setup, use: UseCase): Setup {
  const zeros = (id: unknown) => String(id).replace(/_[0-9a-z]{26}$/, `_${'0'.repeat(25)}1`);
  const target = String(input[use.target ?? '']);
  const absent_id = /^[a-z]{3}_/.test(target) ? zeros(target) : `never-${target}`;
  return {
    input: { ...input, ...(use.target !== null && { [use.target]: absent_id }) },
    ids: Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, zeros(id)])),
  };
}

/**
 * Selects GraphQL fields under core's names. `extra` maps the names that differ to the GraphQL field, which is then
 * aliased.
 */
export function fields(names: string, extra: Readonly<Record<string, string>> = {}): string {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => (extra[name] === undefined ? camelCase(name) : `${name}: ${extra[name]}`))
    .join(' ');
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function camelFields(input: Input): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [camelCase(name), value]));
}

type Variables = (setup: Setup) => Record<string, unknown>;

/** Reads a connection and returns its page in the form of a core list. */
export function connection(
  field: string,
  selection: string,
  args: Readonly<Record<string, string>> = {},
  variables: Variables = () => ({}),
): GraphqlWay {
  const declared = Object.entries({ first: 'Int', after: 'String', ...args });
  return {
    field,
    document: `query (${declared.map(([name, type]) => `$${name}: ${type}`).join(', ')}) {
      value: ${field}(${declared.map(([name]) => `${name}: $${name}`).join(', ')}) { ${pageOf(selection)} } }`,
    variables: (setup) => ({ first: setup.input.limit, after: setup.input.cursor, ...variables(setup) }),
    value: listOf,
  };
}

export function pageOf(selection: string): string {
  return `data: nodes { ${selection} } pageInfo { hasNextPage endCursor }`;
}

interface Connection {
  readonly data: unknown;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

export function listOf(response: unknown): unknown {
  if (response === null) return null;
  const { data, pageInfo } = response as Connection;
  return { data, has_more: pageInfo.hasNextPage, next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

/** Reads a field that is not a connection. */
export function reading(
  field: string,
  args: Readonly<Record<string, string>>,
  selection: string,
  variables: Variables = ({ input }) => camelFields(input),
  value: GraphqlWay['value'] = (response) => response,
): GraphqlWay {
  const declared = Object.entries(args);
  const list = (params: readonly string[]) => (params.length === 0 ? '' : `(${params.join(', ')})`);
  return {
    field,
    document: `query ${list(declared.map(([name, type]) => `$${name}: ${type}`))} {
      value: ${field}${list(declared.map(([name]) => `${name}: $${name}`))} { ${selection} } }`,
    variables,
    value,
  };
}

/** Runs a mutation and returns its payload, or the error it returns. */
export function mutation(
  field: string,
  input_type: string,
  payload: string,
  selection: string,
  variables: Variables = ({ input }) => camelFields(input),
): GraphqlWay {
  return {
    field,
    document: `mutation ($input: ${input_type}!) { value: ${field}(input: $input) {
      __typename
      ... on ApiError { code reason message }
      ... on InvalidInputError { fields { path reason } }
      ... on ForbiddenError { required_scope: requiredScope }
      ... on ${payload} { ${selection} } } }`,
    variables: (setup) => ({ input: variables(setup) }),
    value(response) {
      const { __typename: _, of: parent, ...others } = response as Record<string, unknown>;
      return { ...others, ...(parent as Record<string, unknown> | undefined) };
    },
  };
}
