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
import { connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callIfPresent, orNull, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Domain } from '../kit/refs.ts';
import type { GraphqlContext } from '../kit/request-context.ts';
import { DeleteResult, TargetInput } from '../kit/target.ts';

const DomainStatus = enumOf(
  'DomainStatus',
  domainStates,
  'AT_RISK: a required record is no longer found, and the domain can still send for now.',
);
const RecordPurpose = enumOf('RecordPurpose', purposes, 'The function of a DNS record for the domain.');
const RecordStatus = enumOf('RecordStatus', recordStatuses, 'The result of the last check. PENDING: not checked yet.');

type DnsRecordEntry = DomainEntry['dns_records'][number];

const ResolverAnswer = builder.objectRef<DnsRecordEntry['observed'][number]>('ResolverAnswer').implement({
  description: 'The response of one name server for a record.',
  fields: (t) => ({
    resolver: t.exposeString('resolver', { description: 'The name server that was queried.' }),
    authoritative: t.exposeBoolean('authoritative', {
      description: 'Whether it is an authoritative server and not a cache.',
    }),
    values: t.stringList({ description: 'The values found, at most five.', resolve: ({ values }) => values }),
    ttl: t.int({ nullable: true, description: 'In seconds; null if there was no record.', resolve: ({ ttl }) => ttl }),
    checkedAt: t.field({
      type: 'DateTime',
      description: 'When it was queried.',
      resolve: ({ checked_at }) => checked_at,
    }),
  }),
});

const DnsRecord = builder.objectRef<DnsRecordEntry>('DnsRecord').implement({
  description: 'A DNS record to publish, with the result of the last check.',
  fields: (t) => ({
    purpose: t.field({
      type: RecordPurpose,
      description: 'The function of the record for the domain.',
      resolve: ({ purpose }) => purpose,
    }),
    required: t.exposeBoolean('required', { description: 'Whether verification requires this record.' }),
    type: t.exposeString('type', { description: 'TXT, CNAME or MX.' }),
    host: t.exposeString('host', {
      description: 'As entered at a DNS provider: without the zone, @ for the zone itself.',
    }),
    fqdn: t.exposeString('fqdn', { description: 'The full name of the record.' }),
    value: t.exposeString('value', { description: 'The value to publish.' }),
    ttl: t.exposeInt('ttl', { description: 'The recommended TTL in seconds.' }),
    status: t.field({
      type: RecordStatus,
      description: 'The result of the last check.',
      resolve: ({ status }) => status,
    }),
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
  description: 'A domain that email is sent from.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.domains.loadMany(ids),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The domain name, such as example.com.' }),
    status: t.field({
      type: DomainStatus,
      description: 'The result of verification; SUSPENDED: stopped by an operator.',
      resolve: ({ status }) => status,
    }),
    canSend: t.boolean({
      description: 'Whether live email can be sent from it now.',
      resolve: ({ can_send }) => can_send,
    }),
    statusReason: t.string({
      nullable: true,
      description: 'The reason for the status; null: none.',
      resolve: ({ status_reason }) => status_reason,
    }),
    returnPath: t.string({
      nullable: true,
      description: 'The return path for bounces; null: the service default.',
      resolve: ({ return_path }) => return_path,
    }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature (Ed25519).',
      resolve: ({ dkim_ed25519 }) => dkim_ed25519,
    }),
    records: t.field({
      type: [DnsRecord],
      description: 'The DNS records to publish; empty for the sandbox domain.',
      resolve: ({ dns_records }) => dns_records,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was added.',
      resolve: ({ created_at }) => created_at,
    }),
    verifiedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last verified, apart from recoveries from AT_RISK; null: never.',
      resolve: ({ verified_at }) => verified_at,
    }),
    lastCheckedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its DNS records were last checked; null: never.',
      resolve: ({ last_checked_at }) => last_checked_at,
    }),
    nextCheckAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When its DNS records will be checked next; null: no check is scheduled.',
      resolve: ({ next_check_at }) => next_check_at,
    }),
    zoneFile: t.string({
      description: 'The records as a zone file fragment, to paste or import.',
      resolve: ({ name, dns_records }) => zoneFile(name, dns_records),
    }),
  }),
});

const DomainConnection = connectionOf(Domain);

const DomainFilter = builder.inputType('DomainFilter', {
  description: 'Filters of the list of domains.',
  fields: (t) => ({ status: t.field({ type: [DomainStatus], description: 'Any of these.' }) }),
});

builder.queryFields((t) => ({
  domain: t.field({
    type: Domain,
    nullable: true,
    description: 'One domain by its name; null if the workspace has not added it.',
    args: { name: t.arg.string({ required: true, description: 'The domain name, such as example.com.' }) },
    resolve: (_, { name }, g) => orNull('domain_not_found', () => call(g, getDomain, { domain: name })),
  }),
  domains: t.field({
    type: DomainConnection,
    description: 'The domains of the workspace, newest first.',
    args: { ...pageArgs(t), filter: filterArg(t, DomainFilter) },
    resolve: (_, { filter, ...args }, g) => page(g, listDomains, args, { status: filter?.status?.join(',') }),
  }),
}));

const DomainPayload = builder.objectRef<{ readonly domain: DomainEntry }>('DomainPayload').implement({
  description: 'The changed domain.',
  fields: (t) => ({
    domain: t.field({ type: Domain, description: 'The domain after the change.', resolve: ({ domain }) => domain }),
  }),
});
const DomainResult = resultOf('DomainResult', DomainPayload);

const DomainInput = builder.inputType('DomainInput', {
  description: 'The domain to add.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The domain name, such as example.com.' }),
    dkimSelector: t.string({ description: 'DKIM selector.' }),
    returnPath: t.string({ description: 'Subdomain for the return path, which receives bounces.' }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature, which needs a second DNS record.',
    }),
  }),
});

const DomainUpdateInput = builder.inputType('DomainUpdateInput', {
  description: 'The domain to change. Omitted fields stay unchanged.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The domain ID.' }),
    returnPath: t.string({ description: 'Subdomain for the return path; null removes it.' }),
    dkimEd25519: t.boolean({
      description: 'Whether email gets a second DKIM signature, which needs a second DNS record.',
    }),
  }),
});

const DomainNameInput = builder.inputType('DomainNameInput', {
  description: 'A domain by its name.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The domain name, such as example.com.' }),
    workspaceId: t.id({ description: 'The workspace of the domain (operators only). Default: your own.' }),
  }),
});
const SuspendInput = builder.inputType('SuspendInput', {
  description: 'The domain to suspend.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The domain name, such as example.com.' }),
    workspaceId: t.id({ description: 'The workspace of the domain. Default: your own.' }),
    reason: t.string({
      required: true,
      description: 'Shown as the reason for its status, and recorded in the audit log.',
    }),
  }),
});

const DomainReport = builder.objectRef<Examination>('DomainReport').implement({
  description: 'The current DNS of a domain, with fixes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The domain name, such as example.com.' }),
    added: t.exposeBoolean('added', { description: 'Whether the workspace has this domain; if not, it has no keys.' }),
    status: t.field({
      type: DomainStatus,
      nullable: true,
      description: 'The status of the domain; null if the workspace has not added it.',
      resolve: ({ status }) => status,
    }),
    healthy: t.exposeBoolean('healthy', { description: 'Nothing is wrong.' }),
    records: t.field({
      type: [DnsRecord],
      description: 'The DNS records to publish, with the result of this check.',
      resolve: ({ dns_records }) => dns_records,
    }),
    zoneFile: t.string({ description: 'The records as a zone file fragment.', resolve: ({ zone_file }) => zone_file }),
    steps: t.stringList({ description: 'Setup steps for any DNS provider, as text.', resolve: ({ steps }) => steps }),
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
    args: { input: inputArg(t, DomainInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ domain: await call(g, addDomain, input) })),
  }),
  domainVerify: t.field({
    type: DomainResult,
    description: 'Checks the DNS records now.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ domain: await callIfPresent(g, verifyDomain, () => nameOf(g, input.id)) })),
  }),
  domainExamine: t.field({
    type: DomainReportResult,
    description: 'Checks the DNS records of any domain now and lists fixes, without changing anything.',
    args: { input: inputArg(t, DomainNameInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, examineDomain, { domain: input.name })),
  }),
  domainUpdate: t.field({
    type: DomainResult,
    description: 'Changes the given fields. The DNS records may change too.',
    args: { input: inputArg(t, DomainUpdateInput) },
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
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({ domain: await callIfPresent(g, rotateKeys, () => nameOf(g, input.id)) })),
  }),
  domainSuspend: t.field({
    type: DomainResult,
    description: 'Stops a domain in any workspace from sending. Requires operator.',
    args: { input: inputArg(t, SuspendInput) },
    resolve: (_, { input: { name, ...input } }, g) =>
      outcome(async () => ({ domain: await call(g, suspendDomain, { ...input, domain: name }) })),
  }),
  domainResume: t.field({
    type: DomainResult,
    description: 'Allows a suspended domain to be verified again. Requires operator.',
    args: { input: inputArg(t, DomainNameInput) },
    resolve: (_, { input: { name, ...input } }, g) =>
      outcome(async () => ({ domain: await call(g, resumeDomain, { ...input, domain: name }) })),
  }),
  domainDelete: t.field({
    type: DeleteResult,
    description: 'Removes a domain and its keys, and cancels its pending email.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await callIfPresent(g, removeDomain, () => nameOf(g, input.id));
        return { deleted_id: input.id };
      }),
  }),
}));
