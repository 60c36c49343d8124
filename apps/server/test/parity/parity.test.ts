import { procedureNames } from '@postrider/admin';
import type { Scope } from '@postrider/core/api-keys';
import { openApiDocument } from '@postrider/rest';
import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  absenceDifferences,
  pageDifferences,
  refusalDifferences,
  scopeDifferences,
  valueDifferences,
} from './compare.ts';
import { type Caller, callerOf, dropping, type Face, type Faces, forgetful, showing, startFaces } from './faces.ts';
import { type FaceName, faceNames, type Given, isAbsent, type UseCase } from './use-case.ts';
import { alone, useCases } from './use-cases.ts';

const MINUTE_MS = 60_000;
const INTEGRATOR = ['email:send', 'email:logs:read', 'domains:read', 'domains:write', 'webhooks:manage'] as const;

let world: World;
let faces: Faces;
let all: readonly Face[];
let everybody: Caller;
let stranger: Caller;
let callers: Record<string, Caller>;
let count = 0;
let now_ms = Date.UTC(2030, 4, 15, 12);
beforeAll(async () => {
  world = await createWorld();
  await world.clock.freeze(new Date(now_ms));
  faces = await startFaces(world);
  all = faceNames.map((name) => faces[name]);
  const make = (scopes: readonly Scope[], role: Parameters<typeof callerOf>[3]) =>
    callerOf(world, world.workspace_id, scopes, role);
  everybody = await make(['admin', 'operator'], 'operator');
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
  await faces.stop();
  await world.stop();
});
beforeEach(async () => {
  // So that no window and no budget of a minute is ever used up, and no workspace has all the webhooks it may have.
  now_ms += MINUTE_MS;
  await world.clock.freeze(new Date(now_ms));
  await world.services.sql`delete from webhooks`;
  // And everybody has just signed in, as keys are never asked to.
  await world.services.sql`update sessions set authenticated_at = clock_now()`;
});

/** Somebody who may do much on a face, but not this; null where the face knows no such caller. */
function lacking(scope: string, face: FaceName): Caller | null {
  const { admin, operator, member, integrator } = callers;
  if (face === 'rest') return (isOfIntegrators(scope) ? callers[scope] : integrator) ?? null;
  if (scope === 'operator') return admin ?? null;
  if (face === 'graphql') return operator ?? null;
  // Everybody who is signed in reads mail and domains.
  if (scope === 'email:logs:read' || scope === 'domains:read') return null;
  return (scope === 'admin' ? member : callers[scope]) ?? null;
}

function isOfIntegrators(scope: string): boolean {
  return INTEGRATOR.some((one) => one === scope);
}

/** What each face is asked about was made at the same time. */
async function give(use: UseCase): Promise<Given> {
  count += 1;
  await world.clock.freeze(new Date(now_ms));
  return use.given(world, world.workspace_id, count);
}

/** The same, of things that never were. */
function nowhere({ input, ids = {} }: Given, use: UseCase): Given {
  const zeros = (id: unknown) => String(id).replace(/_[0-9a-z]{26}$/, `_${'0'.repeat(25)}1`);
  const target = String(input[use.target ?? '']);
  const never = /^[a-z]{3}_/.test(target) ? zeros(target) : `never-${target}`;
  return {
    input: { ...input, ...(use.target !== null && { [use.target]: never }) },
    ids: Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, zeros(id)])),
  };
}

const named = (uses: readonly UseCase[]) => uses.map((use) => [use.name, use] as const);

describe('what two faces or more offer', () => {
  it('is in the registry, on each face that has it', async () => {
    const { paths } = openApiDocument('http://localhost') as { paths: Record<string, Record<string, unknown>> };
    const mounted: Record<FaceName, string[]> = {
      rest: Object.entries(paths).flatMap(([path, verbs]) =>
        Object.keys(verbs).map((verb) => `${verb.toUpperCase()} ${path.replace(/^\/v1/, '')}`),
      ),
      graphql: await faces.rootFields(everybody),
      trpc: [...procedureNames],
    };
    const registered = (face: FaceName) =>
      useCases.flatMap((use) => {
        const way = use[face];
        if (isAbsent(way)) return [];
        if (typeof way === 'string') return [face === 'trpc' ? way.slice(way.indexOf(' ') + 1) : way];
        return [way.field];
      });

    for (const face of faceNames) {
      const known = new Set([...registered(face), ...Object.keys(alone[face])]);
      expect([...known].toSorted(), face).toEqual(mounted[face].toSorted());
    }
  });

  it.each(named(useCases.filter((use) => use.answers)))('answers the same to %s', async (_, use) => {
    expect(await valueDifferences(use, all, everybody, () => give(use))).toEqual([]);
  });

  it.each(named(useCases.filter((use) => use.scope !== null || use.scope_on)))(
    'names the scope that %s needs',
    async (_, use) => {
      expect(await scopeDifferences(use, all, lacking, await give(use))).toEqual([]);
    },
  );

  it.each(named(useCases.filter((use) => use.target !== null)))(
    'refuses %s of what is not there in the same words, and of what is another workspace’s',
    async (_, use) => {
      const there = await give(use);
      const asked = [
        { given: nowhere(there, use), caller: everybody },
        ...(use.foreign ? [{ given: there, caller: stranger }] : []),
      ];

      expect(await absenceDifferences(use, all, asked)).toEqual([]);
    },
  );

  it.each(named(useCases.filter((use) => use.bad !== null)))('refuses the same bad input of %s', async (_, use) => {
    expect(await refusalDifferences(use, all, everybody, await give(use), use.bad ?? {})).toEqual([]);
  });

  it.each(named(useCases.filter((use) => use.paged)))(
    'has the same pages of %s, and cursors that are good on every face',
    async (_, use) => {
      expect(await pageDifferences(use, all, everybody, await give(use))).toEqual([]);
    },
  );
});

describe('the comparison', () => {
  const useOf = (name: string) => useCases.find((use) => use.name === name) as UseCase;

  it.each(named(useCases.filter((use) => use.scope !== null)))(
    'tells of a face that forgets who asks for %s',
    async (_, use) => {
      const given = await give(use);
      for (const face of all.filter(({ name }) => !isAbsent(use[name]))) {
        const scope = use.scope_on?.[face.name] ?? use.scope;
        if (scope === null || isAbsent(scope) || !lacking(scope, face.name)) continue;
        const planted = all.map((one) => (one === face ? forgetful(world, one) : one));
        expect(await scopeDifferences(use, planted, lacking, given), face.name).not.toEqual([]);
      }
    },
  );

  it.each([
    ['email.logs', 'to'],
    ['suppressions.list', 'source'],
    ['events.list', 'type'],
    ['audit.list', 'action'],
  ])('tells of a face that drops a filter of %s', async (name, filter) => {
    const use = useOf(name);
    const given = await give(use);
    for (const face of all.filter((one) => !isAbsent(use[one.name]))) {
      const planted = all.map((one) => (one === face ? dropping(one, filter) : one));
      expect(await valueDifferences(use, planted, everybody, async () => given), face.name).not.toEqual([]);
    }
  });

  it.each(['email.get', 'domains.get', 'webhooks.get', 'holds.get', 'bulk.get'])(
    'tells of a face that shows another workspace’s for %s',
    async (name) => {
      const use = useOf(name);
      const asked = [{ given: await give(use), caller: stranger }];
      for (const face of all.filter((one) => !isAbsent(use[one.name]))) {
        const planted = all.map((one) => (one === face ? showing(world, one, world.workspace_id) : one));
        expect(await absenceDifferences(use, planted, asked), face.name).not.toEqual([]);
      }
    },
  );
});
