import { type Checkup as CheckupEntry, testTransport } from '@postrider/core/doctor';
import {
  createTransport,
  deleteTransport,
  envelopeSenders,
  getTransportHealth,
  getTransportRules,
  listTransports,
  previewRoute,
  type RoutePreview,
  type Rule,
  setTransportRules,
  signingPolicies,
  type TransportEntry,
  type TransportHealth as TransportHealthEntry,
  tlsPolicies,
  transportKinds,
  updateTransport,
} from '@postrider/core/transports';
import { builder } from '../../kit/builder.ts';
import { enumOf } from '../../kit/enums.ts';
import { call } from '../../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../../kit/mutation-results.ts';
import { snakeFields } from '../../kit/names.ts';
import { DeleteResult, TargetInput } from '../../kit/target.ts';
import { Checkup } from '../health.ts';
import { Priority } from '../messages.ts';
import { AccessScope } from '../stats.ts';

// The typical number of transports and rules.
const SAMPLE_SIZE = 20;

const REACH =
  'INSTANCE, the default for operators: the transports of the instance. WORKSPACE, the default for admins: those of the workspace.';

const TransportKind = enumOf(
  'TransportKind',
  [...transportKinds, 'capture'],
  "MX: to the recipients' mail servers. SMTP: through a relay. CAPTURE: to the test inbox, only for DELIVERY.",
);
const TransportTls = enumOf(
  'TransportTls',
  tlsPolicies,
  'STARTTLS: always, with a valid certificate. IMPLICIT: TLS from the first byte, as on port 465. OPPORTUNISTIC: STARTTLS if offered, with any certificate. NONE: never. Passwords are only sent over TLS with a valid certificate, unless the policy is NONE or the relay is on the same machine.',
);

const TransportSigning = enumOf(
  'TransportSigning',
  signingPolicies,
  'ALL: DKIM covers every field. RELAY_SAFE: without Message-ID, Date, Return-Path and Bounces-To, which some relays replace. NONE: the relay signs.',
);
const TransportEnvelopeFrom = enumOf(
  'TransportEnvelopeFrom',
  envelopeSenders,
  'OURS: the return path of the domain or RETURN_PATH_DOMAIN, where bounces arrive. FROM_DOMAIN: the domain of the from address, for relays that accept only verified domains.',
);

const Transport = builder.objectRef<TransportEntry>('Transport').implement({
  description: 'A way to send email. Its password is never returned.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The transport ID; "default" for DELIVERY.' }),
    workspaceId: t.id({
      nullable: true,
      description: 'The workspace whose email alone it carries; null: a transport of the instance.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    name: t.exposeString('name', { description: 'The unique name; "DELIVERY" for the default transport.' }),
    kind: t.field({ type: TransportKind, description: 'Where it sends email.', resolve: ({ kind }) => kind }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'The host name or IP address of the relay; null unless the kind is SMTP.',
    }),
    port: t.exposeInt('port', { nullable: true, description: 'The port of the relay; null unless the kind is SMTP.' }),
    tls: t.field({
      type: TransportTls,
      nullable: true,
      description: 'The TLS policy for the relay; null unless the kind is SMTP.',
      resolve: ({ tls }) => tls,
    }),
    username: t.exposeString('username', {
      nullable: true,
      description: 'The user name at the relay; null: no authentication.',
    }),
    envelopeFrom: t.field({
      type: TransportEnvelopeFrom,
      description: 'The domain of the envelope sender.',
      resolve: ({ envelope_from }) => envelope_from,
    }),
    signing: t.field({
      type: TransportSigning,
      description: 'What the DKIM signature covers.',
      resolve: ({ signing }) => signing,
    }),
    headers: t.field({
      type: 'JSON',
      description: 'The headers that are added to every email, unsigned, by name.',
      resolve: ({ headers }) => headers,
    }),
    maxConnections: t.int({
      nullable: true,
      description: 'Concurrent emails per destination, over all workers; null: no limit of its own.',
      resolve: ({ max_connections }) => max_connections,
    }),
    messagesPerMinute: t.int({
      nullable: true,
      description: 'Emails per minute, over all workers; null: no limit.',
      resolve: ({ messages_per_minute }) => messages_per_minute,
    }),
    messagesPerDay: t.int({
      nullable: true,
      description: 'Accepted emails per day in UTC, over all workers; null: no limit.',
      resolve: ({ messages_per_day }) => messages_per_day,
    }),
    createdAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was created; null for DELIVERY.',
      resolve: ({ created_at }) => created_at,
    }),
    updatedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it last changed; null for DELIVERY.',
      resolve: ({ updated_at }) => updated_at,
    }),
  }),
});

const TransportRule = builder.objectRef<Rule>('TransportRule').implement({
  description:
    'Chooses the transports of email that meets all of its conditions. A null condition applies to any email.',
  fields: (t) => ({
    workspaceId: t.id({
      nullable: true,
      description: 'The workspace that the email is in.',
      resolve: ({ workspace_id }) => workspace_id,
    }),
    fromDomain: t.string({
      nullable: true,
      description: 'The domain of the from address.',
      resolve: ({ from_domain }) => from_domain,
    }),
    tag: t.exposeString('tag', { nullable: true, description: 'A tag of the email.' }),
    priority: t.field({
      type: Priority,
      nullable: true,
      description: 'The priority of the email.',
      resolve: ({ priority }) => priority,
    }),
    destination: t.exposeString('destination', { nullable: true, description: 'The domain of the recipient.' }),
    transports: t.idList({
      description:
        'Transport IDs or "default", in order of preference. The next one is used only if the previous one cannot be reached.',
      resolve: ({ transports }) => [...transports],
    }),
  }),
});

const TransportRuleInput = builder.inputType('TransportRuleInput', {
  description:
    'A rule. It applies to email that meets all of its conditions; an omitted condition applies to any email.',
  fields: (t) => ({
    workspaceId: t.id({ description: 'The workspace that the email is in.' }),
    fromDomain: t.string({ description: 'The domain of the from address.' }),
    tag: t.string({ description: 'A tag of the email.' }),
    priority: t.field({ type: Priority, description: 'The priority of the email.' }),
    destination: t.string({ description: 'The domain of the recipient.' }),
    transports: t.idList({
      required: true,
      description: 'One to five transport IDs in order of preference; "default" for DELIVERY.',
    }),
  }),
});

const TransportStatus = enumOf(
  'TransportStatus',
  ['ok', 'limited', 'failing'],
  'LIMITED: a limit is used up. FAILING: some of its servers do not accept email.',
);
const TransportHealth = builder.objectRef<TransportHealthEntry>('TransportHealth').implement({
  description: 'Whether a transport sends email now.',
  fields: (t) => ({
    transportId: t.id({
      description: 'The transport ID; "default" for DELIVERY.',
      resolve: ({ transport_id }) => transport_id,
    }),
    status: t.field({
      type: TransportStatus,
      description: 'The state of the transport.',
      resolve: ({ status }) => status,
    }),
    closedDestinations: t.int({
      description: 'Destinations to which it does not send now.',
      resolve: ({ closed_destinations }) => closed_destinations,
    }),
    closedUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the first of them opens; null: none is closed.',
      resolve: ({ closed_until }) => closed_until,
    }),
    waiting: t.exposeInt('waiting', { description: 'Emails that wait for them, counted up to 10,000.' }),
    lastReply: t.string({
      nullable: true,
      description: 'The last response that closed one; null: none.',
      resolve: ({ last_reply }) => last_reply,
    }),
    deliveredToday: t.int({
      description: 'Emails delivered through it today, in UTC, as in the statistics: up to two minutes late.',
      resolve: ({ delivered_today }) => delivered_today,
    }),
    usedToday: t.int({
      nullable: true,
      description: 'Emails counted against its limits today, in UTC; null: no limit.',
      resolve: ({ used_today }) => used_today,
    }),
  }),
});

const RoutedTransport = builder.objectRef<RoutePreview['transports'][number]>('RoutedTransport').implement({
  description: 'A transport that an email would use.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The transport ID; "default" for DELIVERY.' }),
    name: t.exposeString('name', { description: 'The name of the transport.' }),
  }),
});
const TransportRoute = builder.objectRef<RoutePreview>('TransportRoute').implement({
  description: 'The transports that an email would use.',
  fields: (t) => ({
    rule: t.exposeInt('rule', {
      nullable: true,
      description: 'The position of the rule that applies, from 1; null: none does.',
    }),
    ruleOf: t.field({
      type: AccessScope,
      nullable: true,
      description: 'Whether that rule is one of the instance or of the workspace.',
      resolve: ({ rule_of }) => rule_of,
    }),
    transports: t.field({
      type: [RoutedTransport],
      description: 'In order of preference.',
      resolve: ({ transports }) => transports,
    }),
    captured: t.exposeBoolean('captured', {
      description: 'Whether DELIVERY is capture: the test inbox then takes all email, whatever the rules say.',
    }),
  }),
});

builder.queryFields((t) => ({
  transportHealth: t.field({
    type: [TransportHealth],
    description:
      'The health of all transports; for the instance, starting with the default one. Requires operator, or admin for the workspace.',
    args: { reach: t.arg({ type: AccessScope, description: REACH }) },
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: async (_, args, g) => (await call(g, getTransportHealth, args)).data,
  }),
  transportRoute: t.field({
    type: TransportRoute,
    description:
      'The transports that an email would use by the current rules or by drafted ones. Requires operator, or admin for the workspace.',
    args: {
      reach: t.arg({ type: AccessScope, description: REACH }),
      workspaceId: t.arg.id({ description: 'Default: no particular workspace.' }),
      fromDomain: t.arg.string({ required: true, description: 'The domain of the from address.' }),
      toDomain: t.arg.string({ required: true, description: 'The domain of the recipient.' }),
      tags: t.arg.stringList({ description: 'The tags of the email. Default: none.' }),
      priority: t.arg({ type: Priority, description: 'The priority of the email. Default: NORMAL.' }),
      rules: t.arg({
        type: [TransportRuleInput],
        description: 'Up to 500 drafted rules to try. Default: the current rules.',
      }),
    },
    resolve: (_, args, g) => call(g, previewRoute, args),
  }),
  transports: t.field({
    type: [Transport],
    description:
      'All transports; for the instance, starting with the default one, which is DELIVERY. Requires operator, or admin for the workspace.',
    args: { reach: t.arg({ type: AccessScope, description: REACH }) },
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: async (_, args, g) => (await call(g, listTransports, args)).data,
  }),
  transportRules: t.field({
    type: [TransportRule],
    description:
      'The rules, in order. The first match decides; email without a match uses the default transport. Requires operator, or admin for the workspace.',
    args: { reach: t.arg({ type: AccessScope, description: REACH }) },
    complexity: { field: 1, multiplier: SAMPLE_SIZE },
    resolve: async (_, args, g) => (await call(g, getTransportRules, args)).data,
  }),
}));

const TransportPayload = builder.objectRef<{ readonly transport: TransportEntry }>('TransportPayload').implement({
  description: 'The new or changed transport.',
  fields: (t) => ({
    transport: t.field({
      type: Transport,
      description: 'The transport after the change.',
      resolve: ({ transport }) => transport,
    }),
  }),
});
const TransportResult = resultOf('TransportResult', TransportPayload);

const TransportRulesPayload = builder
  .objectRef<{ readonly rules: readonly Rule[] }>('TransportRulesPayload')
  .implement({
    description: 'The new rules.',
    fields: (t) => ({
      rules: t.field({
        type: [TransportRule],
        description: 'All rules after the change, in order.',
        resolve: ({ rules }) => rules,
      }),
    }),
  });
const TransportRulesResult = resultOf('TransportRulesResult', TransportRulesPayload);

const TransportTestPayload = builder.objectRef<{ readonly checkup: CheckupEntry }>('TransportTestPayload').implement({
  description: 'The results of a test of a transport.',
  fields: (t) => ({
    checkup: t.field({
      type: Checkup,
      description:
        'The checks dns, connect, tls and sign_in of a relay, or port_25 of the kind MX, and test_email. Checks after the first failure are SKIPPED.',
      resolve: ({ checkup }) => checkup,
    }),
  }),
});
const TransportTestInput = builder.inputType('TransportTestInput', {
  description: 'The transport to test.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The transport ID; "default" for DELIVERY.' }),
    to: t.string({ description: 'The recipient of a test email, which is not recorded. Default: no email is sent.' }),
    from: t.string({
      description: 'The sender of the test email, at a verified domain. Default: the sender of alerts.',
    }),
  }),
});

const TransportInput = builder.inputType('TransportInput', {
  description: 'The properties of a new transport. host to password are only for the kind SMTP.',
  fields: (t) => ({
    reach: t.field({ type: AccessScope, description: REACH }),
    name: t.string({ required: true, description: 'A unique name, up to 100 characters.' }),
    kind: t.field({ type: TransportKind, required: true, description: 'MX or SMTP; SMTP for a workspace.' }),
    host: t.string({ description: 'The host name or IP address of the relay. Required for the kind SMTP.' }),
    port: t.int({ description: 'The port of the relay. Default: 587.' }),
    tls: t.field({ type: TransportTls, description: 'The TLS policy for the relay. Default: STARTTLS.' }),
    username: t.string({ description: 'The user name at the relay. Default: no authentication.' }),
    password: t.string({ description: 'Required with a user name. Stored encrypted and never returned.' }),
    envelopeFrom: t.field({
      type: TransportEnvelopeFrom,
      description: 'The domain of the envelope sender. Default: OURS.',
    }),
    signing: t.field({
      type: TransportSigning,
      description: 'What the DKIM signature covers. Default: RELAY_SAFE for Amazon SES, otherwise ALL.',
    }),
    headers: t.field({ type: 'JSON', description: 'Up to five headers, by name, to add to every email, unsigned.' }),
    maxConnections: t.int({
      description: 'Concurrent emails per destination, over all workers. Default: no limit of its own.',
    }),
    messagesPerMinute: t.int({ description: 'Emails per minute, over all workers. Default: no limit.' }),
    messagesPerDay: t.int({ description: 'Accepted emails per day in UTC, over all workers. Default: no limit.' }),
  }),
});
const TransportUpdateInput = builder.inputType('TransportUpdateInput', {
  description: 'The transport to change. Omitted fields stay unchanged.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The transport ID.' }),
    name: t.string({ description: 'The new name, up to 100 characters.' }),
    host: t.string({ description: 'The new host name or IP address of the relay.' }),
    port: t.int({ description: 'The new port of the relay.' }),
    tls: t.field({ type: TransportTls, description: 'The new TLS policy for the relay.' }),
    username: t.string({ description: 'The new user name. null: no authentication, which also removes the password.' }),
    password: t.string({ description: 'The new password. Stored encrypted and never returned.' }),
    envelopeFrom: t.field({ type: TransportEnvelopeFrom, description: 'The new domain of the envelope sender.' }),
    signing: t.field({ type: TransportSigning, description: 'What the DKIM signature covers from now on.' }),
    headers: t.field({ type: 'JSON', description: 'The new headers, which replace the current ones.' }),
    maxConnections: t.int({
      description: 'The new limit of concurrent emails per destination. null: none of its own.',
    }),
    messagesPerMinute: t.int({ description: 'The new limit per minute. null: none.' }),
    messagesPerDay: t.int({ description: 'The new limit per day in UTC. null: none.' }),
  }),
});
const TransportRulesInput = builder.inputType('TransportRulesInput', {
  description: 'All rules, which replace the current ones.',
  fields: (t) => ({
    reach: t.field({ type: AccessScope, description: REACH }),
    rules: t.field({
      type: [TransportRuleInput],
      required: true,
      description:
        'Up to 500 rules, or 50 of a workspace, in order. Without rules, all email uses the default transport; in rules of a workspace, that stands for the rules of the instance.',
    }),
  }),
});

builder.mutationFields((t) => ({
  transportCreate: t.field({
    type: TransportResult,
    description:
      'Creates a transport, which sends nothing until a rule names it. Requires operator, or admin for the workspace.',
    args: { input: inputArg(t, TransportInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ transport: await call(g, createTransport, input) })),
  }),
  transportUpdate: t.field({
    type: TransportResult,
    description:
      'Changes a transport. Every worker follows within five seconds. Requires operator, or admin for one of the workspace.',
    args: { input: inputArg(t, TransportUpdateInput) },
    resolve: (_, { input: { id, ...input } }, g) =>
      outcome(async () => ({
        transport: await call(g, updateTransport, { ...input, transportId: id }, [
          'username',
          'maxConnections',
          'messagesPerMinute',
          'messagesPerDay',
        ]),
      })),
  }),
  transportDelete: t.field({
    type: DeleteResult,
    description: 'Deletes a transport that no rule names. Requires operator, or admin for one of the workspace.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input: { id } }, g) =>
      outcome(async () => ({ deleted_id: (await call(g, deleteTransport, { transportId: id })).id })),
  }),
  transportTest: t.field({
    type: resultOf('TransportTestResult', TransportTestPayload),
    description:
      'Tests a transport: DNS, connection, TLS, authentication and, with a recipient, an email through it. Takes up to 25 s. Requires operator, or admin for one of the workspace.',
    args: { input: inputArg(t, TransportTestInput) },
    resolve: (_, { input: { id, ...input } }, g) =>
      outcome(async () => ({ checkup: await call(g, testTransport, { ...input, transportId: id }) })),
  }),
  transportRulesSet: t.field({
    type: TransportRulesResult,
    description:
      'Replaces all rules. Every worker follows within five seconds, also for queued email. Requires operator, or admin for the workspace.',
    args: { input: inputArg(t, TransportRulesInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => ({
        rules: (await call(g, setTransportRules, { ...input, rules: input.rules.map(snakeFields) })).data,
      })),
  }),
}));
