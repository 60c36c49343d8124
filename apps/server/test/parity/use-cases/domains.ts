import { invoke } from '@postrider/core';
import {
  addDomain,
  examineDomain,
  getDomain,
  listDomains,
  removeDomain,
  resumeDomain,
  rotateKeys,
  suspendDomain,
  updateDomain,
  verifyDomain,
} from '@postrider/core/domains';
import * as shapes from '../shapes.ts';
import { camelFields, connection, mutation, reading, type Setup, useCase } from '../use-case.ts';
import { aDomain, NO_REST, several } from './setup.ts';

const domainId = ({ ids = {} }: Setup) => ({ id: ids.domain });

export const domains = [
  useCase(listDomains, {
    rest: 'GET /domains',
    trpc: 'GET domains.list',
    graphql: connection('domains', shapes.domain),
    given: async (world, workspace_id, number) => {
      let count = 0;
      return several(() => {
        count += 1;
        return invoke(world.as(workspace_id), addDomain, { name: `list${count}.nr${number}.example.org` });
      });
    },
    paged: true,
    bad: { limit: 101 },
  }),
  useCase(getDomain, {
    rest: 'GET /domains/{domain}',
    trpc: 'GET domains.get',
    graphql: reading('domain', { name: 'String!' }, shapes.domain, ({ input: { domain } }) => ({ name: domain })),
    given: aDomain,
    target: 'domain',
    looks_up: true,
  }),
  useCase(addDomain, {
    rest: 'POST /domains',
    trpc: 'POST domains.create',
    graphql: mutation('domainCreate', 'DomainInput', 'DomainPayload', `of: domain { ${shapes.domain} }`),
    given: async (_, __, number) => ({ input: { name: `nr${number}.example.org` } }),
    writes: true,
    // Every domain has its own keys and token.
    varying: ['value'],
    bad: { name: 'not a name' },
  }),
  useCase(verifyDomain, {
    rest: 'POST /domains/{domain}/verify',
    trpc: 'POST domains.verify',
    graphql: mutation('domainVerify', 'TargetInput', 'DomainPayload', `of: domain { ${shapes.domain} }`, domainId),
    given: aDomain,
    target: 'domain',
    writes: true,
    varying: ['value', 'next_check_at', 'hint'],
  }),
  useCase(removeDomain, {
    rest: 'DELETE /domains/{domain}',
    trpc: 'POST domains.delete',
    graphql: mutation('domainDelete', 'TargetInput', 'DeletePayload', 'deletedId', domainId),
    given: aDomain,
    target: 'domain',
    writes: true,
    varying: ['deleted_id'],
  }),
  useCase(suspendDomain, {
    rest: NO_REST,
    trpc: 'POST domains.suspend',
    graphql: mutation(
      'domainSuspend',
      'SuspendInput',
      'DomainPayload',
      `of: domain { ${shapes.domain} }`,
      ({ input: { domain, ...input } }) => ({ ...camelFields(input), name: domain }),
    ),
    async given(world, workspace_id, number) {
      const { input } = await aDomain(world, workspace_id, number);
      return { input: { ...input, workspace_id, reason: 'Spam' } };
    },
    target: 'domain',
    foreign: false,
    writes: true,
    varying: ['value'],
  }),
  useCase(resumeDomain, {
    rest: NO_REST,
    trpc: 'POST domains.resume',
    graphql: mutation(
      'domainResume',
      'DomainNameInput',
      'DomainPayload',
      `of: domain { ${shapes.domain} }`,
      ({ input: { domain, ...input } }) => ({ ...camelFields(input), name: domain }),
    ),
    async given(world, workspace_id, number) {
      const { input } = await aDomain(world, workspace_id, number);
      await invoke(world.as(workspace_id), suspendDomain, { ...input, reason: 'Spam' });
      return { input: { ...input, workspace_id } };
    },
    target: 'domain',
    foreign: false,
    writes: true,
    varying: ['value'],
  }),
  useCase(examineDomain, {
    rest: 'GET /domains/{domain}/doctor',
    trpc: 'POST domains.examine',
    graphql: mutation(
      'domainExamine',
      'DomainNameInput',
      'DomainReport',
      `name added status healthy zone_file: zoneFile steps dns_records: records { ${shapes.record} }`,
      ({ input }) => ({ name: input.domain }),
    ),
    given: aDomain,
    // Domains that have not been added can also be examined. The result includes how long the name servers took.
    varying: ['duration_ms'],
  }),
  useCase(updateDomain, {
    rest: 'PATCH /domains/{domain}',
    trpc: 'POST domains.update',
    graphql: mutation(
      'domainUpdate',
      'DomainUpdateInput',
      'DomainPayload',
      `of: domain { ${shapes.domain} }`,
      ({ input: { domain: _, ...input }, ids = {} }) => ({ ...camelFields(input), id: ids.domain }),
    ),
    async given(world, workspace_id, number) {
      const domain = await aDomain(world, workspace_id, number);
      return { ...domain, input: { ...domain.input, return_path: 'bounces', dkim_ed25519: true } };
    },
    target: 'domain',
    writes: true,
    varying: ['value', 'hint'],
    bad: { return_path: 'elsewhere.example.net' },
  }),
  useCase(rotateKeys, {
    rest: 'POST /domains/{domain}/rotate-keys',
    trpc: 'POST domains.rotateKeys',
    graphql: mutation('domainKeysRotate', 'TargetInput', 'DomainPayload', `of: domain { ${shapes.domain} }`, domainId),
    async given(world, workspace_id, number) {
      const name = `nr${number}.example.org`;
      await world.domain(name, workspace_id);
      const [domain] = await world.services.sql<{ id: string }[]>`
        select id from domains where workspace_id = ${workspace_id} and name = ${name}`;
      return { input: { domain: name }, ids: { domain: domain?.id ?? '' } };
    },
    target: 'domain',
    writes: true,
    varying: ['value', 'host', 'fqdn'],
  }),
];
