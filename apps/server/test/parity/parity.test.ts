import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { procedureNames } from '@postrider/admin';
import { invoke } from '@postrider/core';
import type { Scope } from '@postrider/core/api-keys';
import { openApiDocument } from '@postrider/rest';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, type Apis, type Caller, callerOf, dropping, forgetful, showing, startApis } from './apis.ts';
import {
  absenceDifferences,
  pageDifferences,
  refusalDifferences,
  scopeDifferences,
  valueDifferences,
} from './compare.ts';
import { type ApiName, apiNames, isAbsent, type Setup, type UseCase, withAbsentIds } from './use-case.ts';
import { alone, useCases } from './use-cases/registry.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const MINUTE_MS = 60_000;
const INTEGRATOR = ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage'] as const;

const world = await openWorld();
let apis: Apis;
let all: readonly Api[];
let anonymous: Caller;
let stranger: Caller;
let callers: Record<string, Caller>;
let count = 0;
let now_ms = Date.UTC(2030, 4, 15, 12);
beforeAll(async () => {
  await world.clock.freeze(new Date(now_ms));
  apis = await startApis(world);
  all = apiNames.map((name) => apis[name]);
  const make = (scopes: readonly Scope[], role: Parameters<typeof callerOf>[3]) =>
    callerOf(world, world.workspace_id, scopes, role);
  anonymous = await make(['admin', 'operator'], 'operator');
  const other = await world.workspace('business');
  stranger = await callerOf(world, other.workspace_id, ['admin'], 'admin');
  callers = { operator: await make(['operator'], 'viewer'), admin: await make(['admin'], 'admin') };
  callers.member = await make(['operator'], 'member');
  for (const scope of INTEGRATOR)
    callers[scope] = await make(
      INTEGRATOR.filter((one) => one !== scope),
      'viewer',
    );
  callers.integrator = await make(INTEGRATOR, 'viewer');
});
afterAll(async () => {
  await apis.stop();
});
beforeEach(async () => {
  // Ensures that no rate window or per-minute budget is used up, and that no workspace reaches its webhook limit.
  now_ms += MINUTE_MS;
  await world.clock.freeze(new Date(now_ms));
  await world.services.sql`delete from webhooks`;
  // Every user has just signed in. Keys never have to.
  await world.services.sql`update sessions set authenticated_at = clock_now()`;
});

/** Returns a caller with many scopes but not the given scope, or null if the API has no such caller. */
function lacking(scope: string, api: ApiName): Caller | null {
  const { admin, operator, member, integrator } = callers;
  if (api === 'rest') return (isIntegratorUse(scope) ? callers[scope] : integrator) ?? null;
  if (scope === 'operator') return admin ?? null;
  if (api === 'graphql') return operator ?? null;
  // All signed-in users can read messages and domains.
  if (scope === 'email:logs:read' || scope === 'domains:read') return null;
  return (scope === 'admin' ? member : callers[scope]) ?? null;
}

function isIntegratorUse(scope: string): boolean {
  return INTEGRATOR.some((one) => one === scope);
}

/** Returns core's own response, for operations that only GraphQL offers. */
const byCore = (use: UseCase, { input }: Setup) => invoke(world.as(world.workspace_id), use.operation, input);

/** Creates the input for an API. All inputs are created at the same time on the frozen clock. */
async function give(use: UseCase): Promise<Setup> {
  count += 1;
  await world.clock.freeze(new Date(now_ms));
  return use.given(world, world.workspace_id, count);
}

const byName = (uses: readonly UseCase[]) => uses.map((use) => [use.name, use] as const);

describe('an operation in two or more APIs', () => {
  it('is in the registry, with each API that offers it', async () => {
    const { paths } = openApiDocument('http://localhost') as { paths: Record<string, Record<string, unknown>> };
    const mounted: Record<ApiName, string[]> = {
      rest: Object.entries(paths).flatMap(([path, verbs]) =>
        Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path.replace(/^\/v1/, '')}`),
      ),
      graphql: await apis.rootFields(anonymous),
      trpc: [...procedureNames],
    };
    const registered = (api: ApiName) =>
      useCases.flatMap((use) => {
        const operation = use[api];
        if (isAbsent(operation)) return [];
        if (typeof operation === 'string')
          return [api === 'trpc' ? operation.slice(operation.indexOf(' ') + 1) : operation];
        return [operation.field];
      });

    for (const api of apiNames) {
      const known = new Set([...registered(api), ...Object.keys(alone[api])]);
      expect([...known].toSorted(), api).toEqual(mounted[api].toSorted());
    }
  });

  it.each(byName(useCases.filter((use) => use.answers)))(
    'returns the same result from every API for %s',
    async (_, use) => {
      expect(await valueDifferences(use, all, anonymous, () => give(use), byCore)).toEqual([]);
    },
  );

  it.each(byName(useCases.filter((use) => use.scope !== null || use.scope_on)))(
    'reports the scope required for %s',
    async (_, use) => {
      expect(await scopeDifferences(use, all, lacking, await give(use))).toEqual([]);
    },
  );

  it.each(byName(useCases.filter((use) => use.target !== null)))(
    'rejects %s for a missing or foreign object with the same message',
    async (_, use) => {
      const existing = await give(use);
      const cases = [
        { setup: withAbsentIds(existing, use), caller: anonymous },
        ...(use.foreign ? [{ setup: existing, caller: stranger }] : []),
      ];

      expect(await absenceDifferences(use, all, cases)).toEqual([]);
    },
  );

  it.each(byName(useCases.filter((use) => use.bad !== null)))(
    'rejects the same invalid input for %s',
    async (_, use) => {
      expect(await refusalDifferences(use, all, anonymous, await give(use), use.bad ?? {})).toEqual([]);
    },
  );

  it.each(byName(useCases.filter((use) => use.paged)))(
    'has the same pages for %s, with cursors valid in every API',
    async (_, use) => {
      expect(await pageDifferences(use, all, anonymous, await give(use))).toEqual([]);
    },
  );
});

/** The tests outside this folder. */
const tests = globSync('apps/{rest,admin}/test/**/*.test.ts', { cwd: ROOT }).map((path) => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}));

/** Patterns by which each API's tests refer to an operation. */
const patterns: Record<ApiName, (name: string) => RegExp> = {
  rest(name) {
    const [verb, path = ''] = name.split(' ');
    return new RegExp(`'${verb}', ['\`]${path.replaceAll(/\{\w+\}/g, '\\$\\{.+?\\}')}['\`?]`);
  },
  graphql: (name) => new RegExp(`\\b${name} ?\\(`),
  trpc: (name) =>
    new RegExp(
      `['"]${name.replaceAll('.', '\\.')}['"]|\\.${name.replaceAll('.', '\\.')}\\.(?:query|mutate|subscribe)\\(`,
    ),
};

const lonely = apiNames.flatMap((api) => Object.keys(alone[api]).map((name) => [api, name] as const));

describe('an operation excluded from the comparison', () => {
  it.each(lonely)('has a test for %s that calls %s', (api, name) => {
    expect(tests.filter(({ text }) => patterns[api](name).test(text)).map(({ path }) => path)).not.toEqual([]);
  });

  it.each(useCases.filter((use) => !use.answers).map((use) => [use.name, use] as const))(
    'has a test for %s in each API',
    (_, use) => {
      for (const api of apiNames) {
        const operation = use[api];
        if (isAbsent(operation)) continue;
        const name =
          typeof operation === 'string'
            ? api === 'trpc'
              ? operation.slice(operation.indexOf(' ') + 1)
              : operation
            : operation.field;
        expect(
          tests.filter(({ text }) => patterns[api](name).test(text)),
          `${api} ${name}`,
        ).not.toEqual([]);
      }
    },
  );

  it('has its own test if it is a GraphQL stream', async () => {
    for (const name of await apis.streams(anonymous))
      expect(
        tests.filter(({ text }) => new RegExp(`subscription[^{]*\\{\\s*${name}\\b`).test(text)),
        name,
      ).not.toEqual([]);
  });
});

describe('the audit log after every operation', () => {
  it('identifies no recipient, since its entries cannot be erased', async () => {
    const entries = await world.services.sql<{ action: string; text: string }[]>`
      select action, concat_ws(' ', target_name, diff) as text from audit_log order by action`;

    // The log names users who sign in and recipients of alarm notices. No message in this file is sent to them.
    expect(entries.length).toBeGreaterThan(100);
    const with_addresses = entries.filter(
      ({ action, text }) => action !== 'alarm.settings_changed' && /@(?!people\.test)/.test(text),
    );
    expect(with_addresses).toEqual([]);
  });
});

describe('the parity comparison', () => {
  const useCaseNamed = (name: string) => useCases.find((use) => use.name === name) as UseCase;

  it.each(byName(useCases.filter((use) => use.scope !== null)))(
    'detects an API that ignores the caller for %s',
    async (_, use) => {
      const setup = await give(use);
      for (const api of all.filter(({ name }) => !isAbsent(use[name]))) {
        const scope = use.scope_on?.[api.name] ?? use.scope;
        if (scope === null || isAbsent(scope) || !lacking(scope, api.name)) continue;
        const planted = all.map((one) => (one === api ? forgetful(world, one) : one));
        expect(await scopeDifferences(use, planted, lacking, setup), api.name).not.toEqual([]);
      }
    },
  );

  it.each([
    ['email.logs', 'to'],
    ['suppressions.list', 'source'],
    ['events.list', 'type'],
    ['audit.list', 'action'],
  ])('detects an API that drops a filter for %s', async (name, filter) => {
    const use = useCaseNamed(name);
    const setup = await give(use);
    for (const api of all.filter((one) => !isAbsent(use[one.name]))) {
      const planted = all.map((one) => (one === api ? dropping(one, filter) : one));
      expect(await valueDifferences(use, planted, anonymous, async () => setup, byCore), api.name).not.toEqual([]);
    }
  });

  it.each(['email.get', 'domains.get', 'webhooks.get', 'holds.get', 'bulk.get'])(
    'detects an API that shows objects in another workspace for %s',
    async (name) => {
      const use = useCaseNamed(name);
      const cases = [{ setup: await give(use), caller: stranger }];
      for (const api of all.filter((one) => !isAbsent(use[one.name]))) {
        const planted = all.map((one) => (one === api ? showing(world, one, world.workspace_id) : one));
        expect(await absenceDifferences(use, planted, cases), api.name).not.toEqual([]);
      }
    },
  );
});
