import type { Checkup } from '@postrider/core/doctor';
import type { NewTransportFeedback, TransportFeedback } from '@postrider/core/feedback';
import type { RoutePreview, Rule, TransportEntry, TransportHealth } from '@postrider/core/transports';
import type { Terminal } from '../terminal/terminal.ts';
import { enumValue, graphql, mutation, query, select } from './graphql.ts';
import type { Settings, Transports } from './transports.ts';

const TRANSPORT =
  'id workspaceId name kind host port tls username envelopeFrom signing headers maxConnections messagesPerMinute messagesPerDay createdAt updatedAt';
const RULE = 'workspaceId fromDomain tag priority destination transports';
const PAYLOAD = select<{ transport: TransportEntry }>(`... on TransportPayload { transport { ${TRANSPORT} } }`);
const allTransports = query('transports', { reach: 'Reach' }, select<readonly TransportEntry[]>(TRANSPORT));
const allRules = query('transportRules', { reach: 'Reach' }, select<readonly Rule[]>(RULE));
const transportHealth = query(
  'transportHealth',
  { reach: 'Reach' },
  select<readonly TransportHealth[]>(
    'transportId status closedDestinations closedUntil waiting lastReply deliveredToday usedToday',
  ),
);
const transportRoute = query(
  'transportRoute',
  {
    reach: 'Reach',
    workspaceId: 'ID',
    fromDomain: 'String!',
    toDomain: 'String!',
    tags: '[String!]',
    priority: 'Priority',
    rules: '[TransportRuleInput!]',
  },
  select<Omit<RoutePreview, 'object'>>('rule ruleOf transports { id name } captured'),
);
const transportCreate = mutation('transportCreate', 'TransportInput', PAYLOAD);
const transportUpdate = mutation('transportUpdate', 'TransportUpdateInput', PAYLOAD);
const transportDelete = mutation('transportDelete', 'TargetInput', select('... on DeletePayload { deletedId }'));
const transportTest = mutation(
  'transportTest',
  'TransportTestInput',
  select<{ checkup: Omit<Checkup, 'object'> }>(
    '... on TransportTestPayload { checkup { status checkedAt checks { name status detail fix } } }',
  ),
);
const FEEDBACK = 'transportId provider url previousUntil confirmedAt rejectedAt rejection';
const transportFeedback = query(
  'transportFeedback',
  { id: 'ID!' },
  select<Omit<TransportFeedback, 'object'> | null>(
    `${FEEDBACK} events { eventId kind state emailId recipient detail receivedAt }`,
  ),
);
const transportFeedbackSet = mutation(
  'transportFeedbackSet',
  'TransportFeedbackInput',
  select<{ feedback: Omit<NewTransportFeedback, 'object' | 'secret'>; secret: string | null }>(
    `... on TransportFeedbackPayload { feedback { ${FEEDBACK} } secret }`,
  ),
);
const transportFeedbackRemove = mutation(
  'transportFeedbackRemove',
  'TargetInput',
  select('... on DeletePayload { deletedId }'),
);
const transportRulesSet = mutation(
  'transportRulesSet',
  'TransportRulesInput',
  select<{ rules: readonly Rule[] }>(`... on TransportRulesPayload { rules { ${RULE} } }`),
);

interface Side {
  readonly local: boolean | undefined;
  /** Whose transports; undefined: the instance's for operators, or the workspace's own. */
  readonly reach: 'workspace' | 'instance' | undefined;
}

export async function transportsOf(terminal: Terminal, { local, reach: side }: Side): Promise<Transports> {
  // Loaded on demand, because it takes half a second.
  if (local) return (await import('../machine/transports.ts')).machineTransports(terminal, side);
  const reach = enumValue(side);
  return {
    async list() {
      return (await graphql(terminal, allTransports, { reach })).map(transportOf);
    },
    async create({ kind, ...rest }) {
      const input = { ...settingsInput(rest), kind: enumValue(kind), reach };
      return transportOf((await graphql(terminal, transportCreate, { input })).transport);
    },
    async update(id, change) {
      const input = { ...settingsInput(change), id };
      return transportOf((await graphql(terminal, transportUpdate, { input })).transport);
    },
    async delete(id) {
      await graphql(terminal, transportDelete, { input: { id } });
    },
    async test(id, email) {
      const { checkup } = await graphql(terminal, transportTest, { input: { id, ...email } });
      return { ...checkup, object: 'checkup' };
    },
    health: () => graphql(terminal, transportHealth, { reach }),
    rules: () => graphql(terminal, allRules, { reach }),
    async setRules(rules) {
      return (await graphql(terminal, transportRulesSet, { input: { rules: rules.map(ruleInput), reach } })).rules;
    },
    async preview({ workspace_id: workspaceId, from_domain: fromDomain, to_domain: toDomain, tags, priority, rules }) {
      const email = { workspaceId, fromDomain, toDomain, tags, priority: enumValue(priority) };
      const route = await graphql(terminal, transportRoute, { ...email, reach, rules: rules?.map(ruleInput) });
      return { ...route, object: 'transport_route' };
    },
    async feedback(id) {
      const feedback = await graphql(terminal, transportFeedback, { id });
      return feedback && { ...feedback, object: 'transport_feedback' };
    },
    async setFeedback(id, provider, theirs) {
      const input = { id, provider: enumValue(provider), secret: theirs };
      const { feedback, secret } = await graphql(terminal, transportFeedbackSet, { input });
      return { ...feedback, secret, object: 'transport_feedback' };
    },
    async removeFeedback(id) {
      await graphql(terminal, transportFeedbackRemove, { input: { id } });
    },
  };
}

/** Returns settings as GraphQL names them. */
function settingsInput<S extends Settings>({
  tls,
  envelope_from,
  signing,
  max_connections: maxConnections,
  messages_per_minute: messagesPerMinute,
  messages_per_day: messagesPerDay,
  ...rest
}: S) {
  return {
    ...rest,
    tls: enumValue(tls),
    envelopeFrom: enumValue(envelope_from),
    signing: enumValue(signing),
    maxConnections,
    messagesPerMinute,
    messagesPerDay,
  };
}

function transportOf(transport: TransportEntry): TransportEntry {
  return { ...transport, object: 'transport' };
}

function ruleInput({ workspace_id: workspaceId, from_domain: fromDomain, priority, ...rest }: Rule) {
  return { ...rest, workspaceId, fromDomain, priority: enumValue(priority ?? undefined) };
}
