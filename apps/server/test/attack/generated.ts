import { type Scope, scopes } from '@postrider/core/api-keys';
import { scopesOf, type WorkspaceRole } from '@postrider/core/people';
import { absenceOf } from '../parity/compare.ts';
import { type ApiName, apiNames, isAbsent, type Setup, type UseCase, withAbsentIds } from '../parity/use-case.ts';
import { useCases } from '../parity/use-cases/registry.ts';
import { type Attempt, wordsOf } from './attempt.ts';
import type { Stage } from './stage.ts';

// Generates attacks on every operation in the API comparison, so a new operation is attacked as soon as it exists.

const INTEGRATOR: readonly Scope[] = scopes.filter((scope) => scope !== 'admin' && scope !== 'operator');

function requestsOf(
  uses: readonly UseCase[],
): { readonly use: UseCase; readonly api: ApiName; readonly request: string }[] {
  return uses.flatMap((use) =>
    apiNames.flatMap((api) => {
      const interface_entry = use[api];
      return isAbsent(interface_entry)
        ? []
        : [
            {
              use,
              api,
              request: `${api} ${typeof interface_entry === 'string' ? interface_entry : interface_entry.field}`,
            },
          ];
    }),
  );
}

const give = (use: UseCase, { world, count }: Stage): Promise<Setup> => use.given(world, world.workspace_id, count());

const byStrangers: Attempt[] = requestsOf(useCases).map(({ use, api, request }) => ({
  by: 'a stranger with an invented credential',
  request,
  expected: api === 'trpc' ? 'unauthorized session_ended' : 'unauthorized unknown_key',
  async prepare(stage) {
    const setup = await give(use, stage);
    const secret = `pr_live_${'0'.repeat(64)}`;
    const invented = { workspace_id: stage.world.workspace_id, secret, cookie: `sid=${'A'.repeat(43)}` };
    return async () => wordsOf(await stage.apis[api].ask(use, setup, invented));
  },
}));

/** Returns every scope that does not include the required scope. */
function scopesWithout(needed: Scope, api: ApiName): Scope[] {
  // GraphQL serves only admins and operators.
  const other_scopes: Scope[] = needed === 'operator' ? ['admin'] : api === 'graphql' ? ['operator'] : [];
  return [...INTEGRATOR.filter((scope) => scope !== needed), ...other_scopes];
}

/** Returns the highest role without a scope, or null if every role has it. */
function roleWithout(needed: Scope): WorkspaceRole | null {
  const includes = (role: WorkspaceRole) => {
    const held = scopesOf({ operator: false, role });
    return held.includes(needed) || (needed !== 'operator' && held.includes('admin'));
  };
  return (['admin', 'member', 'viewer'] as const).find((role) => !includes(role)) ?? null;
}

const bySmallKeysAndRoles: Attempt[] = requestsOf(useCases).flatMap(({ use, api, request }): Attempt[] => {
  const scope = use.scope_on?.[api] ?? use.scope;
  if (scope === null || isAbsent(scope)) return [];
  const role = roleWithout(scope);
  if (api === 'trpc' && role === null) return [];
  return [
    {
      by: api === 'trpc' ? `a ${role}` : `a key with every scope but ${scope}`,
      request,
      expected: `forbidden missing_scope ${scope}`,
      async prepare(stage) {
        const caller =
          api === 'trpc' && role ? stage.roles[role] : await stage.caller(scopesWithout(scope, api), 'viewer');
        const setup = await give(use, stage);
        return async () => wordsOf(await stage.apis[api].ask(use, setup, caller));
      },
    },
  ];
});

const ABSENT = 'not found, in the words for what never was';

const byNeighborsAtThings: Attempt[] = requestsOf(useCases.filter((use) => use.target !== null && use.foreign)).map(
  ({ use, api, request }) => ({
    by: 'the admin of another workspace',
    request,
    expected: ABSENT,
    async prepare(stage) {
      const setup = await give(use, stage);
      const absent_setup = withAbsentIds(setup, use);
      return async () => {
        const result = await stage.apis[api].ask(use, setup, stage.neighbor);
        const absent = await stage.apis[api].ask(use, absent_setup, stage.neighbor);
        const [text, other] = [absenceOf(result, setup, use), absenceOf(absent, absent_setup, use)];
        const isAbsentHere = text.startsWith('not_found ') || (use.looks_up && text === 'answered null');
        return isAbsentHere && text === other ? ABSENT : `${text}; of what never was: ${other}`;
      };
    },
  }),
);

const NOTHING = 'nothing of the attacked workspace';

const byNeighborsAtLists: Attempt[] = requestsOf(useCases.filter((use) => use.target === null && !use.writes)).map(
  ({ use, api, request }) => ({
    by: 'the admin of another workspace',
    request,
    expected: NOTHING,
    async prepare(stage) {
      const setup = await give(use, stage);
      return async () => {
        const text = JSON.stringify(await stage.apis[api].ask(use, setup, stage.neighbor));
        const request_text = JSON.stringify(setup);
        const leaked = (await stage.ids()).filter((id) => id !== '' && text.includes(id) && !request_text.includes(id));
        return leaked.length === 0 ? NOTHING : `it told of ${leaked.slice(0, 3).join(', ')}`;
      };
    },
  }),
);

const workspacePages = requestsOf(useCases.filter((use) => use.paged && use.target === null)).filter(
  ({ use, api }) => (use.scope_on?.[api] ?? use.scope) !== 'operator',
);

const byNeighborsWithCursors: Attempt[] = workspacePages.map(({ use, api, request }) => ({
  by: 'the admin of another workspace, with a cursor of the attacked one,',
  request,
  expected: 'invalid_request invalid_cursor',
  async prepare(stage) {
    const setup = await give(use, stage);
    const first = await stage.apis[api].ask(use, { ...setup, input: { ...setup.input, limit: 1 } }, stage.owner);
    const cursor = 'value' in first ? (first.value as { next_cursor: string | null }).next_cursor : null;
    const input = { ...setup.input, limit: 1, cursor };
    return async () => wordsOf(await stage.apis[api].ask(use, { ...setup, input }, stage.neighbor));
  },
}));

/** Attempts that only a single check stops come first, so that a run with a vulnerability fails early. */
export const generated: readonly Attempt[] = [
  ...byNeighborsAtThings,
  ...byNeighborsAtLists,
  ...byNeighborsWithCursors,
  ...bySmallKeysAndRoles,
  ...byStrangers,
];
