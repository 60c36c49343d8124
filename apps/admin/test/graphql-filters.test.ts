import { invoke } from '@postrider/core';
import { revokeKey } from '@postrider/core/api-keys';
import { addDomain } from '@postrider/core/domains';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

it('domains and keys can be filtered by status across pages', async () => {
  const ctx = world.as(world.workspace_id);
  const added = [];
  for (const name of ['one.example.org', 'two.example.org', 'three.example.org'])
    added.unshift((await invoke(ctx, addDomain, { name })).name);
  const { id } = await world.key({ scopes: ['email:send'] });
  await invoke(ctx, revokeKey, { key_id: id });
  const query = `query ($after: String) {
    domains(first: 2, after: $after, filter: { status: [PENDING] }) { nodes { name } pageInfo { endCursor } }
    verified: domains(filter: { status: [VERIFIED, AT_RISK] }) { nodes { status } }
    revoked: apiKeys(filter: { status: [REVOKED] }) { nodes { id } }
    active: apiKeys(filter: { status: [ACTIVE] }) { nodes { status } } }`;

  const { data, errors } = await graphql.ask(query);
  const { domains } = data as unknown as { domains: { nodes: { name: string }[]; pageInfo: { endCursor: string } } };
  const next = await graphql.ask(query, { after: domains.pageInfo.endCursor });

  expect(errors).toEqual([]);
  const names = (next.data as unknown as { domains: typeof domains }).domains.nodes;
  expect([...domains.nodes, ...names].map(({ name }) => name).toSorted()).toEqual(added.toSorted());
  expect(data?.verified).toEqual({ nodes: expect.arrayContaining([{ status: 'VERIFIED' }]) });
  expect(data?.revoked).toEqual({ nodes: [{ id }] });
  const { active } = data as unknown as { active: { nodes: { status: string }[] } };
  expect(new Set(active.nodes.map(({ status }) => status))).toEqual(new Set(['ACTIVE']));
});
