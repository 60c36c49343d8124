import {
  addDomain,
  type DomainEntry,
  domainNotFound,
  domainStates,
  type Examination,
  examineDomain,
  getDomain,
  listDomains,
  purposes,
  recordStatuses,
  removeDomain,
  resumeDomain,
  rotateKeys,
  suspendDomain,
  updateDomain,
  verifyDomain,
  zoneFile,
} from '@postrider/core/domains';
import { builder } from '../kit/builder.ts';
import { connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callIfPresent, orNull, page, present } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Domain } from '../kit/refs.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';

const DomainStatus = enumOf('DomainStatus', domainStates);
const RecordPurpose = enumOf('RecordPurpose', purposes);
const RecordStatus = enumOf('RecordStatus', recordStatuses);

type DnsRecordEntry = DomainEntry['dns_records'][number];

const ResolverAnswer = builder.objectRef<DnsRecordEntry['observed'][number]>('ResolverAnswer').implement({
  fields: (t) => ({
    resolver: t.exposeString('resolver'),
    authoritative: t.exposeBoolean('authoritative', {
      description: 'Whether it is an authoritative server and not a cache.',
    }),
    values: t.stringList({ resolve: ({ values }) => values }),
    ttl: t.int({ nullable: true, description: 'In seconds; null if there was no record.', resolve: ({ ttl }) => ttl }),
    checkedAt: t.field({ type: 'DateTime', resolve: ({ checked_at }) => checked_at }),
  }),
});

const DnsRecord = builder.objectRef<DnsRecordEntry>('DnsRecord').implement({
  fields: (t) => ({
    purpose: t.field({ type: RecordPurpose, resolve: ({ purpose }) => purpose }),
    required: t.exposeBoolean('required', { description: 'Whether verification requires this record.' }),
    type: t.exposeString('type'),
    host: t.exposeString('host', {
      description: 'As entered at a DNS provider: without the zone, @ for the zone itself.',
    }),
    fqdn: t.exposeString('fqdn'),
    value: t.exposeString('value'),
    ttl: t.exposeInt('ttl'),
    status: t.field({ type: RecordStatus, resolve: ({ status }) => status }),
    found: t.stringList({ description: 'Values found by the last check.', resolve: (record) => record.found }),
    observed: t.field({
      type: [ResolverAnswer],
      description: 'The response from each name server, authoritative first.',
      resolve: ({ observed }) => observed,
    }),
    diagnosis: t.exposeString('diagnosis', { nullable: true, description: 'What is wrong.' }),
    hint: t.exposeString('hint', { nullable: true, description: 'How to fix it.' }),
    keyRole: t.string({
      nullable: true,
      description:
        'For a DKIM record: whether its key signs now, will sign next, or signed email that is still in transit.',
      resolve: ({ key_role }) => key_role,
    }),
  }),
});

claimIds('domain', 'Domain');
builder.node(Domain, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.domains.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.field({ type: DomainStatus, resolve: ({ status }) => status }),
    canSend: t.boolean({ resolve: ({ can_send }) => can_send }),
    statusReason: t.string({ nullable: true, resolve: ({ status_reason }) => status_reason }),
    returnPath: t.string({ nullable: true, resolve: ({ return_path }) => return_path }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature (Ed25519).',
      resolve: ({ dkim_ed25519 }) => dkim_ed25519,
    }),
    records: t.field({ type: [DnsRecord], resolve: ({ dns_records }) => dns_records }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    verifiedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ verified_at }) => verified_at }),
    lastCheckedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ last_checked_at }) => last_checked_at }),
    nextCheckAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ next_check_at }) => next_check_at }),
    zoneFile: t.string({
      description: 'The records as a zone file fragment, to paste or import.',
      resolve: ({ name, dns_records }) => zoneFile(name, dns_records),
    }),
  }),
});

const DomainConnection = connectionOf(Domain);

const DomainFilter = builder.inputType('DomainFilter', {
  fields: (t) => ({ status: t.field({ type: [DomainStatus], description: 'Any of these.' }) }),
});

builder.queryFields((t) => ({
  domain: t.field({
    type: Domain,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_, { name }, g) => orNull('domain_not_found', () => call(g, getDomain, { domain: name })),
  }),
  domains: t.field({
    type: DomainConnection,
    args: { ...pageArgs(t), filter: t.arg({ type: DomainFilter }) },
    resolve: (_, { filter, ...args }, g) => page(g, listDomains, args, { status: filter?.status?.join(',') }),
  }),
}));

const DomainPayload = builder.objectRef<{ readonly domain: DomainEntry }>('DomainPayload').implement({
  fields: (t) => ({ domain: t.field({ type: Domain, resolve: ({ domain }) => domain }) }),
});
const DomainResult = resultOf('DomainResult', DomainPayload);

const DomainInput = builder.inputType('DomainInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    dkimSelector: t.string({ description: 'DKIM selector.' }),
    returnPath: t.string({ description: 'Subdomain for the return path, which receives bounces.' }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature, which needs a second DNS record.',
    }),
  }),
});

const DomainUpdateInput = builder.inputType('DomainUpdateInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    returnPath: t.string({ description: 'Subdomain for the return path; null removes it.' }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature, which needs a second DNS record.',
    }),
  }),
});

const DomainNameInput = builder.inputType('DomainNameInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    workspaceId: t.id({ description: 'The workspace of the domain (operators only). Default: your own.' }),
  }),
});
const SuspendInput = builder.inputType('SuspendInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    workspaceId: t.id({ description: 'The workspace of the domain. Default: your own.' }),
    reason: t.string({ required: true }),
  }),
});

const DomainReport = builder.objectRef<Examination>('DomainReport').implement({
  description: 'The current DNS of a domain, with fixes.',
  fields: (t) => ({
    name: t.exposeString('name'),
    added: t.exposeBoolean('added', { description: 'Whether the workspace has this domain; if not, it has no keys.' }),
    status: t.field({ type: DomainStatus, nullable: true, resolve: ({ status }) => status }),
    healthy: t.exposeBoolean('healthy', { description: 'Nothing is wrong.' }),
    records: t.field({ type: [DnsRecord], resolve: ({ dns_records }) => dns_records }),
    zoneFile: t.string({ resolve: ({ zone_file }) => zone_file }),
    steps: t.stringList({ resolve: ({ steps }) => steps }),
  }),
});
const DomainReportResult = resultOf('DomainReportResult', DomainReport);

async function nameOf({ load }: GraphqlContext, id: string) {
  return { domain: present(await load.domains.load(id), domainNotFound(id)).name };
}

builder.mutationFields((t) => ({
  domainCreate: t.field({
    type: DomainResult,
    description: 'Adds a domain. The response contains the DNS records to publish.',
    args: { input: t.arg({ type: DomainInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ domain: await call(g, addDomain, input) })),
  }),
  domainVerify: t.field({
    type: DomainResult,
    description: 'Checks the DNS records now.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ domain: await callIfPresent(g, verifyDomain, () => nameOf(g, input.id)) })),
  }),
  domainExamine: t.field({
    type: DomainReportResult,
    description: 'Checks the DNS records of any domain now and lists fixes, without changing anything.',
    args: { input: t.arg({ type: DomainNameInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, examineDomain, { domain: input.name })),
  }),
  domainUpdate: t.field({
    type: DomainResult,
    description: 'Changes the given fields. The DNS records may change too.',
    args: { input: t.arg({ type: DomainUpdateInput, required: true }) },
    resolve: (_, { input: { id, returnPath, dkimEd25519 } }, g) =>
      outcome(async () => ({
        domain: await callIfPresent(g, updateDomain, async () => ({
          ...(await nameOf(g, id)),
          ...(returnPath !== undefined && { return_path: returnPath }),
          ...(dkimEd25519 !== undefined && { dkim_ed25519: dkimEd25519 }),
        })),
      })),
  }),
  domainKeysRotate: t.field({
    type: DomainResult,
    description: 'Starts a rotation. New keys start signing once their records have been published for a day.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ domain: await callIfPresent(g, rotateKeys, () => nameOf(g, input.id)) })),
  }),
  domainSuspend: t.field({
    type: DomainResult,
    description: 'Stops a domain in any workspace from sending. Requires operator.',
    args: { input: t.arg({ type: SuspendInput, required: true }) },
    resolve: (_, { input: { name, ...input } }, g) =>
      outcome(async () => ({ domain: await call(g, suspendDomain, { ...input, domain: name }) })),
  }),
  domainResume: t.field({
    type: DomainResult,
    description: 'Allows a suspended domain to be verified again. Requires operator.',
    args: { input: t.arg({ type: DomainNameInput, required: true }) },
    resolve: (_, { input: { name, ...input } }, g) =>
      outcome(async () => ({ domain: await call(g, resumeDomain, { ...input, domain: name }) })),
  }),
  domainDelete: t.field({
    type: DeleteResult,
    description: 'Removes a domain and its keys, and cancels its pending email.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await callIfPresent(g, removeDomain, () => nameOf(g, input.id));
        return { deleted_id: input.id };
      }),
  }),
}));
