import { createHandler as createAdmin } from '@postrider/admin';
import { createContext, invoke, newId } from '@postrider/core';
import { createKey, type Scope } from '@postrider/core/api-keys';
import { beginSession, insertUser, type WorkspaceRole } from '@postrider/core/people';
import { createHandler as createRest } from '@postrider/rest';
import { listenHttp, type World } from '@postrider/testing';
import { type ApiName, isAbsent, type Setup, type UseCase } from './use-case.ts';

/** A caller, as a key and as a user. */
export interface Caller {
  readonly workspace_id: string;
  readonly secret: string;
  readonly cookie: string;
}

export interface Refusal {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly required_scope: string | null;
  /** The invalid fields, as paths with core's names. */
  readonly params: readonly string[];
}

export type ApiResult = { readonly value: unknown } | { readonly refusal: Refusal };

export interface Api {
  readonly name: ApiName;
  ask(use: UseCase, setup: Setup, caller: Caller): Promise<ApiResult>;
}

export interface Apis {
  readonly rest: Api;
  readonly graphql: Api;
  readonly trpc: Api;
  readonly origins: Readonly<Record<'rest' | 'admin', string>>;
  /** Returns the GraphQL root fields that this server supports. */
  rootFields(caller: Caller): Promise<string[]>;
  /** Returns the GraphQL subscriptions. */
  streams(caller: Caller): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts the three APIs of one world, each over HTTP. */
export async function startApis(world: World): Promise<Apis> {
  const [rest, admin] = await Promise.all([
    listenHttp(createRest(world.services)),
    listenHttp(createAdmin(world.services)),
  ]);
  return {
    rest: restApi(`http://127.0.0.1:${rest.port}/v1`),
    graphql: graphqlApi(`http://127.0.0.1:${admin.port}/graphql`),
    trpc: trpcApi(`http://127.0.0.1:${admin.port}/trpc`),
    origins: { rest: rest.url, admin: admin.url },
    async rootFields({ secret }) {
      const { queryType, mutationType } = await schemaOf(admin.port, secret);
      return [...queryType.fields, ...mutationType.fields].map(({ name }) => name);
    },
    async streams({ secret }) {
      return (await schemaOf(admin.port, secret)).subscriptionType.fields.map(({ name }) => name);
    },
    async stop() {
      await Promise.all([rest.stop(), admin.stop()]);
    },
  };
}

interface NamedInput {
  readonly fields: readonly { readonly name: string }[];
}

async function schemaOf(
  port: number,
  secret: string,
): Promise<Record<'queryType' | 'mutationType' | 'subscriptionType', NamedInput>> {
  const fields = '{ fields { name } }';
  const query = `{ __schema { queryType ${fields} mutationType ${fields} subscriptionType ${fields} } }`;
  const body = await post(`http://127.0.0.1:${port}/graphql`, { query }, bearer(secret));
  return (body.data as { __schema: Record<'queryType' | 'mutationType' | 'subscriptionType', NamedInput> }).__schema;
}

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

type Json = Record<string, unknown>;

async function post(url: string, body: unknown, headers: Record<string, string>): Promise<Json> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Json;
}

interface CoreError {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly required_scope?: string;
  readonly details?: readonly { readonly param: string }[];
}

function refusalOf({ code, reason, message, required_scope = '', details = [] }: CoreError): ApiResult {
  const params = details.map(({ param }) => pathOf(param.split(/[.[\]]+/)));
  return { refusal: { code, reason, message, required_scope: required_scope || null, params } };
}

function pathOf(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
    .join('.');
}

function restApi(url: string): Api {
  return {
    name: 'rest',
    async ask(use, { input }, { secret }) {
      const { verb, path } = routeOf(use.rest);
      const rest = { ...input };
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(rest[name]);
        delete rest[name];
        return encodeURIComponent(value);
      });
      const query = new URLSearchParams();
      if (verb === 'GET') for (const [name, value] of Object.entries(rest)) query.append(name, String(value));
      const response = await fetch(`${url}${filled}${query.size === 0 ? '' : `?${query}`}`, {
        method: verb,
        headers: { ...bearer(secret), ...(verb !== 'GET' && { 'content-type': 'application/json' }) },
        ...(verb !== 'GET' && Object.keys(rest).length > 0 && { body: JSON.stringify(rest) }),
      });
      const body = (await response.json()) as Json;
      return response.ok ? { value: body } : refusalOf(body.error as CoreError);
    },
  };
}

function trpcApi(url: string): Api {
  return {
    name: 'trpc',
    async ask(use, { input }, { cookie }) {
      const { verb, path } = routeOf(use.trpc);
      const headers = { cookie, 'x-postrider': '1' };
      const body =
        verb === 'POST'
          ? await post(`${url}/${path}`, input, headers)
          : ((await (
              await fetch(`${url}/${path}?input=${encodeURIComponent(JSON.stringify(input))}`, { headers })
            ).json()) as Json);
      if ('error' in body) {
        const { message, data } = body.error as { message: string; data: Omit<CoreError, 'message'> };
        return refusalOf({ ...data, message });
      }
      return { value: (body.result as { data: unknown }).data };
    },
  };
}

interface Issue {
  readonly path: readonly string[];
}

function graphqlApi(url: string): Api {
  return {
    name: 'graphql',
    async ask(use, setup, { secret }) {
      const operation = use.graphql;
      if (isAbsent(operation)) throw new Error(`${use.name} is absent: ${operation.absent}`);
      const payload = { query: operation.document, variables: operation.variables(setup) };
      const { data, errors } = await post(url, payload, bearer(secret));
      const [error] = (errors ?? []) as { message: string; extensions: Json }[];
      if (error) {
        const { code, reason, requiredScope = null, fields = [] } = error.extensions;
        const params = (fields as Issue[]).map(({ path }) => coreWords(pathOf(path), String(reason)));
        const required_scope = requiredScope as string | null;
        const message = coreWords(error.message, String(reason));
        return { refusal: { code: String(code), reason: String(reason), message, required_scope, params } };
      }
      const { value } = data as { value: unknown };
      const problem = value as {
        code?: string;
        reason: string;
        message: string;
        required_scope?: string;
        fields?: Issue[];
      };
      if (
        value !== null &&
        typeof value === 'object' &&
        '__typename' in value &&
        /Error$/.test(String(value.__typename))
      ) {
        const { code = '', reason, message, required_scope = null, fields = [] } = problem;
        const params = fields.map(({ path }) => pathOf(path));
        return { refusal: { code: code.toLowerCase(), reason, message, required_scope, params } };
      }
      return { value: snakeFields(operation.value(value)) };
    },
  };
}

/** Replaces GraphQL's names of page arguments with those of the other APIs. */
function coreWords(text: string, reason: string): string {
  if (reason === 'invalid_limit') return text.replace(/^first\b/, 'limit');
  return reason === 'invalid_cursor' ? text.replace(/^after\b/, 'cursor') : text;
}

function routeOf(operation: UseCase['rest']): { readonly verb: string; readonly path: string } {
  if (isAbsent(operation)) throw new Error(`it is absent: ${operation.absent}`);
  const [verb = '', path = ''] = operation.split(' ');
  return { verb, path };
}

/** Converts GraphQL fields to core's names. */
function snakeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [/^[a-z]\w*$/.test(name) ? pathOf([name]) : name, snakeFields(inner)]),
  );
}

/** Creates a caller with a key that has these scopes, and a session in this role. */
export async function callerOf(
  world: World,
  workspace_id: string,
  scopes: readonly Scope[],
  role: WorkspaceRole | 'operator',
): Promise<Caller> {
  const { services, clock } = world;
  const { secret } = await invoke(world.as(workspace_id), createKey, { name: 'Caller', scopes });
  const user_id = newId('user', clock.now());
  const email = `${user_id}@people.test`;
  await insertUser(services.sql, {
    id: user_id,
    email,
    password_hash: null,
    operator: role === 'operator',
    vouched: true,
  });
  if (role !== 'operator') {
    await services.sql`
      insert into members (workspace_id, user_id, role, created_at)
      values (${workspace_id}, ${user_id}, ${role}, clock_now())`;
  }
  const { token } = await services.sql.begin((tx) =>
    beginSession(tx, clock.now(), { user_id, workspace_id, by_link: false }),
  );
  return { workspace_id, secret, cookie: `sid=${token}` };
}

/** Returns an adapter that ignores the caller's permissions. */
export function forgetful(world: World, { name }: Api): Api {
  return {
    name,
    ask: (use, { input }, { workspace_id }) => answerOf(invoke(world.as(workspace_id), use.operation, input)),
  };
}

/** Returns an adapter that drops a filter. */
export function dropping(api: Api, filter: string): Api {
  return {
    name: api.name,
    ask: (use, { input, ...extra }, caller) => {
      const { [filter]: _, ...rest } = input;
      return api.ask(use, { ...extra, input: rest }, caller);
    },
  };
}

/** Returns an adapter that reads one workspace for every caller. */
export function showing(world: World, { name }: Api, workspace_id: string): Api {
  const actor = { kind: 'system', workspace_id } as const;
  return {
    name,
    ask: (use, { input }) => answerOf(invoke(createContext(world.services, actor), use.operation, input)),
  };
}

async function answerOf(work: Promise<unknown>): Promise<ApiResult> {
  try {
    return { value: JSON.parse(JSON.stringify(await work)) };
  } catch (error) {
    const { code, reason, message, facts } = error as CoreError & { readonly facts: Omit<CoreError, 'code'> };
    return refusalOf({ ...facts, code, reason, message });
  }
}
