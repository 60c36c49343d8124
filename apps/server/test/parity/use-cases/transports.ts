import { invoke } from '@postrider/core';
import { testTransport } from '@postrider/core/doctor';
import { getFeedback, removeFeedback, setFeedback } from '@postrider/core/feedback';
import {
  createTransport,
  deleteTransport,
  getTransportHealth,
  getTransportRules,
  listTransports,
  previewRoute,
  setTransportRules,
  updateTransport,
} from '@postrider/core/transports';
import * as shapes from '../shapes.ts';
import { camelFields, type Input, mutation, reading, type Setup, type UseCase, useCase } from '../use-case.ts';
import { NO_REST } from './setup.ts';

const relay = (number: number) => ({
  name: `nr${number}`,
  kind: 'smtp',
  host: 'relay.example.com',
  username: 'shop',
  password: 'a password',
});

const aTransport: UseCase['given'] = async (world, workspace_id, number) => {
  const { id } = await invoke(world.as(workspace_id), createTransport, relay(number));
  return { input: { transport_id: id } };
};

const someRules: UseCase['given'] = async (world, workspace_id, number) => {
  const { input } = await aTransport(world, workspace_id, number);
  const to_relay = { workspace_id, tag: 'invoice', priority: 'bulk', transports: [input.transport_id, 'default'] };
  const to_default = { from_domain: 'shop.example.com', destination: 'example.net', transports: ['default'] };
  return { input: { rules: [to_relay, to_default] } };
};

const wrapped = (data: unknown) => ({ data });

export const transports = [
  useCase(listTransports, {
    rest: NO_REST,
    trpc: 'GET transports.list',
    graphql: reading('transports', {}, shapes.transport, undefined, wrapped),
    async given(...args) {
      await aTransport(...args);
      return { input: {} };
    },
  }),
  useCase(getTransportHealth, {
    rest: NO_REST,
    trpc: 'GET transports.health',
    graphql: reading('transportHealth', {}, shapes.transportHealth, undefined, wrapped),
    async given(...args) {
      await aTransport(...args);
      return { input: {} };
    },
  }),
  useCase(previewRoute, {
    rest: NO_REST,
    trpc: 'POST transports.preview',
    graphql: reading(
      'transportRoute',
      { fromDomain: 'String!', toDomain: 'String!', tags: '[String!]', rules: '[TransportRuleInput!]' },
      'rule rule_of: ruleOf transports { id name }',
      (setup) => ({ ...camelFields(setup.input), ...rulesInput(setup) }),
    ),
    async given(...args) {
      const { input } = await someRules(...args);
      return { input: { ...input, from_domain: 'shop.example.com', to_domain: 'example.net', tags: ['invoice'] } };
    },
    bad: { from_domain: 'no domain' },
  }),
  useCase(createTransport, {
    rest: NO_REST,
    trpc: 'POST transports.create',
    graphql: mutation(
      'transportCreate',
      'TransportInput',
      'TransportPayload',
      `of: transport { ${shapes.transport} }`,
      ({ input }) => ({ ...input, kind: 'SMTP' }),
    ),
    given: async (_, __, number) => ({ input: relay(number) }),
    writes: true,
    bad: { port: 0 },
  }),
  useCase(updateTransport, {
    rest: NO_REST,
    trpc: 'POST transports.update',
    graphql: mutation(
      'transportUpdate',
      'TransportUpdateInput',
      'TransportPayload',
      `of: transport { ${shapes.transport} }`,
      ({ input: { transport_id: id, ...input } }) => ({ id, ...input }),
    ),
    async given(...args) {
      const { input } = await aTransport(...args);
      return { input: { ...input, port: 2525, username: null } };
    },
    target: 'transport_id',
    foreign: false,
    writes: true,
    bad: { port: 0 },
  }),
  useCase(deleteTransport, {
    rest: NO_REST,
    trpc: 'POST transports.delete',
    graphql: mutation('transportDelete', 'TargetInput', 'DeletePayload', 'id: deletedId', ({ input }) => ({
      id: input.transport_id,
    })),
    given: aTransport,
    target: 'transport_id',
    foreign: false,
    writes: true,
  }),
  useCase(testTransport, {
    rest: NO_REST,
    trpc: 'POST transports.test',
    graphql: mutation(
      'transportTest',
      'TransportTestInput',
      'TransportTestPayload',
      `of: checkup { ${shapes.checkup} }`,
      ({ input: { transport_id: id, ...input } }) => ({ id, ...input }),
    ),
    given: aTransport,
    target: 'transport_id',
    foreign: false,
    bad: { to: 'not an address' },
  }),
  useCase(getFeedback, {
    rest: NO_REST,
    trpc: 'GET transports.feedback',
    graphql: reading(
      'transportFeedback',
      { id: 'ID!' },
      `${shapes.feedback} events { event_id: eventId kind state email_id: emailId recipient detail received_at: receivedAt }`,
      ({ input }) => ({ id: input.transport_id }),
    ),
    async given(world, ...args) {
      const { input } = await aTransport(world, ...args);
      await invoke(world.as(world.workspace_id), setFeedback, { ...input, provider: 'generic' });
      return { input };
    },
    target: 'transport_id',
    foreign: false,
  }),
  useCase(setFeedback, {
    rest: NO_REST,
    trpc: 'POST transports.setFeedback',
    graphql: mutation(
      'transportFeedbackSet',
      'TransportFeedbackInput',
      'TransportFeedbackPayload',
      `of: feedback { ${shapes.feedback} } secret`,
      ({ input: { transport_id: id } }) => ({ id, provider: 'GENERIC' }),
    ),
    async given(...args) {
      const { input } = await aTransport(...args);
      return { input: { ...input, provider: 'generic' } };
    },
    target: 'transport_id',
    foreign: false,
    writes: true,
    varying: ['url'],
  }),
  useCase(removeFeedback, {
    rest: NO_REST,
    trpc: 'POST transports.removeFeedback',
    graphql: mutation('transportFeedbackRemove', 'TargetInput', 'DeletePayload', 'id: deletedId', ({ input }) => ({
      id: input.transport_id,
    })),
    given: aTransport,
    target: 'transport_id',
    foreign: false,
    writes: true,
  }),
  useCase(getTransportRules, {
    rest: NO_REST,
    trpc: 'GET transports.rules',
    graphql: reading('transportRules', {}, shapes.transportRule, undefined, wrapped),
    async given(world, ...args) {
      const { input } = await someRules(world, ...args);
      await invoke(world.as(world.workspace_id), setTransportRules, input);
      return { input: {} };
    },
  }),
  useCase(setTransportRules, {
    rest: NO_REST,
    trpc: 'POST transports.setRules',
    graphql: mutation(
      'transportRulesSet',
      'TransportRulesInput',
      'TransportRulesPayload',
      `data: rules { ${shapes.transportRule} }`,
      rulesInput,
    ),
    given: someRules,
    writes: true,
    bad: { rules: [{ transports: [] }] },
  }),
];

/** Returns the rules with GraphQL's names and values. */
function rulesInput({ input }: Setup) {
  // The cast is safe because the setups above create the rules.
  const rules = input.rules as readonly Input[];
  return {
    rules: rules.map((rule) => ({
      ...camelFields(rule),
      ...(typeof rule.priority === 'string' && { priority: rule.priority.toUpperCase() }),
    })),
  };
}
