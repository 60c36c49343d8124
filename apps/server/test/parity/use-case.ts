import type { invoke } from '@postrider/core';
import type { Scope } from '@postrider/core/api-keys';
import type { World } from '@postrider/testing';

type AnyOperation = Parameters<typeof invoke>[1];

export const apiNames = ['rest', 'graphql', 'trpc'] as const;
export type ApiName = (typeof apiNames)[number];

/** An input in the names of the core. */
export type Input = Readonly<Record<string, unknown>>;

/** A API that does not offer a use case, or has no caller of some kind. */
export interface Absent {
  readonly absent: string;
}

export function absent(why: string): Absent {
  return { absent: why };
}

export function isAbsent(way: unknown): way is Absent {
  return typeof way === 'object' && way !== null && 'absent' in way;
}

/** What a use case is asked about: the input, and ids of things that an API names otherwise. */
export interface Setup {
  readonly input: Input;
  readonly ids?: Readonly<Record<string, string>>;
}

export interface GraphqlWay {
  /** The root field. */
  readonly field: string;
  readonly document: string;
  variables(setup: Setup): Record<string, unknown>;
  /** What was answered, with the fields of the core. */
  value(answer: unknown): unknown;
}

export interface UseCase {
  readonly name: string;
  readonly operation: AnyOperation;
  /** What a caller needs for what is given; null: any caller may. */
  readonly scope: Scope | null;
  /** Where an API asks for another one on purpose, or has no caller without it. */
  readonly scope_on?: Partial<Record<ApiName, Scope | Absent>>;
  readonly writes: boolean;
  /** Whether what is given is answered. */
  readonly answers: boolean;
  /** A list that is walked page by page. */
  readonly paged: boolean;
  /** Method and path. */
  readonly rest: string | Absent;
  readonly graphql: GraphqlWay | Absent;
  /** GET or POST and the procedure. */
  readonly trpc: string | Absent;
  /** Makes what it is about in a workspace; number tells it from every other. */
  given(world: World, workspace_id: string, number: number): Promise<Setup>;
  /** The field that names what it is about, where there is such a thing. */
  readonly target: string | null;
  /** Whether GraphQL answers null for a target that is not there, as it does wherever something is looked up. */
  readonly looks_up: boolean;
  /** Whether another workspace is to try. */
  readonly foreign: boolean;
  /** What makes the input a bad one. */
  readonly bad: Input | null;
  /** Facts that differ from call to call, or that one answer leaves out. */
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

/** The same, of things that never were. */
export function nowhere({ input, ids = {} }: Setup, use: UseCase): Setup {
  const zeros = (id: unknown) => String(id).replace(/_[0-9a-z]{26}$/, `_${'0'.repeat(25)}1`);
  const target = String(input[use.target ?? '']);
  const never = /^[a-z]{3}_/.test(target) ? zeros(target) : `never-${target}`;
  return {
    input: { ...input, ...(use.target !== null && { [use.target]: never }) },
    ids: Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, zeros(id)])),
  };
}

/** Fields of GraphQL by the names of the core; others says which are called otherwise, and only those need an alias. */
export function fields(names: string, others: Readonly<Record<string, string>> = {}): string {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => (others[name] === undefined ? camelCase(name) : `${name}: ${others[name]}`))
    .join(' ');
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function camelFields(input: Input): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [camelCase(name), value]));
}

type Variables = (setup: Setup) => Record<string, unknown>;

/** A connection, whose page stands where a list of the core has it. */
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

export function listOf(answer: unknown): unknown {
  if (answer === null) return null;
  const { data, pageInfo } = answer as Connection;
  return { data, has_more: pageInfo.hasNextPage, next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

/** Any other field that reads. */
export function reading(
  field: string,
  args: Readonly<Record<string, string>>,
  selection: string,
  variables: Variables = ({ input }) => camelFields(input),
  value: GraphqlWay['value'] = (answer) => answer,
): GraphqlWay {
  const declared = Object.entries(args);
  const list = (of: readonly string[]) => (of.length === 0 ? '' : `(${of.join(', ')})`);
  return {
    field,
    document: `query ${list(declared.map(([name, type]) => `$${name}: ${type}`))} {
      value: ${field}${list(declared.map(([name]) => `${name}: $${name}`))} { ${selection} } }`,
    variables,
    value,
  };
}

/** A mutation: its payload, or the refusal that it answers. */
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
    value(answer) {
      const { __typename: _, of, ...others } = answer as Record<string, unknown>;
      return { ...others, ...(of as Record<string, unknown> | undefined) };
    },
  };
}
