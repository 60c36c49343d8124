import { createContext, invoke } from '@postrider/core';
import { createHold, getHold, listHolds, releaseHold } from '@postrider/core/holds';
import * as shapes from '../shapes.ts';
import { absent, camelFields, mutation, reading, type Setup, type UseCase, useCase } from '../use-case.ts';
import { aDomain, NO_REST, node } from './setup.ts';

const aHold: UseCase['given'] = async (world, workspace_id, number) => {
  await aDomain(world, workspace_id, number);
  // An admin cannot release a hold that an operator placed.
  const actor = {
    kind: 'key',
    workspace_id,
    key_id: 'key_of_an_admin',
    scopes: ['admin'],
    mode: 'live',
    domains: null,
  } as const;
  const { id } = await invoke(createContext(world.services, actor), createHold, {
    scope: 'sender_domain',
    value: `nr${number}.example.org`,
    reason: 'Too loud',
  });
  return { input: { hold_id: id } };
};

export const holds = [
  useCase(listHolds, {
    rest: NO_REST,
    trpc: 'GET holds.list',
    graphql: reading('holds', { active: 'Boolean' }, shapes.hold, undefined, (data) => ({ data })),
    given: async (world, workspace_id, number) => {
      await aHold(world, workspace_id, number);
      return { input: { active: true } };
    },
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the holds of all.') },
  }),
  useCase(getHold, {
    rest: NO_REST,
    trpc: 'GET holds.get',
    graphql: node('Hold', shapes.hold, ({ input }) => input.hold_id),
    given: aHold,
    target: 'hold_id',
    looks_up: true,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the holds of all.') },
  }),
  useCase(createHold, {
    rest: NO_REST,
    trpc: 'POST holds.create',
    graphql: mutation('holdCreate', 'HoldInput', 'HoldPayload', `of: hold { ${shapes.hold} }`, holdInput),
    async given(world, workspace_id, number) {
      const { input } = await aDomain(world, workspace_id, number);
      return { input: { scope: 'sender_domain', value: input.domain, reason: 'Too loud', resume_rate_per_minute: 5 } };
    },
    target: 'value',
    scope: 'admin',
    scope_on: { graphql: absent('An operator holds anything of any workspace.') },
    writes: true,
    varying: ['created_by'],
    bad: { reason: '' },
  }),
  useCase(createHold, {
    name: 'holds.create of a queue',
    rest: NO_REST,
    trpc: 'POST holds.create',
    graphql: mutation('holdCreate', 'HoldInput', 'HoldPayload', `of: hold { ${shapes.hold} }`, holdInput),
    async given(_, __, number) {
      return { input: { scope: 'destination', value: `nr${number}.example.net`, reason: 'Too loud' } };
    },
    scope: 'operator',
    writes: true,
    varying: ['created_by'],
  }),
  useCase(releaseHold, {
    rest: NO_REST,
    trpc: 'POST holds.release',
    graphql: mutation('holdRelease', 'HoldReleaseInput', 'HoldPayload', `of: hold { ${shapes.hold} }`, ({ input }) => ({
      id: input.hold_id,
      resumeRatePerMin: input.resume_rate_per_minute,
    })),
    given: async (...args) => {
      const { input } = await aHold(...args);
      return { input: { ...input, resume_rate_per_minute: 30 } };
    },
    target: 'hold_id',
    bad: { resume_rate_per_minute: 0 },
    scope: 'admin',
    scope_on: { graphql: absent('An operator releases the holds of all.') },
    writes: true,
  }),
];

function holdInput({ input: { resume_rate_per_minute, ...input } }: Setup) {
  return {
    ...camelFields(input),
    scope: String(input.scope).toUpperCase(),
    resumeRatePerMin: resume_rate_per_minute,
  };
}
