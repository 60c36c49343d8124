import { randomUUID } from 'node:crypto';
import { AppError, createContext, invoke, newId } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { acknowledgeAlarm, getAlarmSettings, listAlarms, setAlarmSettings } from '@postrider/core/alarms';
import { createKey, currentKey, keyUsage, listKeys, revokeKey, rotateKey } from '@postrider/core/api-keys';
import { listAudit, verifyAudit } from '@postrider/core/audit';
import { getBacklog } from '@postrider/core/backlog';
import { cancelBulk, getBulk, listBulk, previewBulk, runBulk } from '@postrider/core/bulk';
import {
  clearCaptures,
  deleteCapture,
  getCapture,
  listCaptures,
  recordCapture,
  releaseCapture,
} from '@postrider/core/captures';
import { examineMachine } from '@postrider/core/doctor';
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
import { getErasure, listErasures, startErasure } from '@postrider/core/erasures';
import { listEvents } from '@postrider/core/events';
import { failureGroups } from '@postrider/core/failures';
import { findThings } from '@postrider/core/find';
import { getHealth } from '@postrider/core/health';
import { createHold, getHold, listHolds, releaseHold } from '@postrider/core/holds';
import { limitDestination, listDestinations, releaseDestination } from '@postrider/core/lanes';
import {
  cancelMessage,
  createContentLink,
  getContent,
  getMessage,
  giveUpMessage,
  listMessages,
  rescheduleMessage,
  resendMessage,
  retryMessageNow,
  sendMessageNow,
} from '@postrider/core/messages';
import {
  addOperator,
  inviteMember,
  listMembers,
  listOperators,
  removeMember,
  removeOperator,
  setMemberRole,
} from '@postrider/core/people';
import {
  cancelJob,
  getJob,
  getQueue,
  jobId,
  listJobs,
  listQueues,
  listSchedules,
  listWorkers,
  measureQueues,
  queueHistory,
  queueNames,
  redriveQueue,
  retryJob,
  runJobNow,
  runSchedule,
  setConcurrency,
} from '@postrider/core/queues';
import { getRequest, listRequests } from '@postrider/core/requests';
import { getStats, statSeries } from '@postrider/core/stats';
import { getRetention, getStorage } from '@postrider/core/storage';
import { createSuppressions, deleteSuppression, listSuppressions } from '@postrider/core/suppressions';
import { getMonthUsage, getUsage } from '@postrider/core/usage';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  getWebhookDelivery,
  listAllDeliveries,
  listWebhookDeliveries,
  listWebhooks,
  recoverWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '@postrider/core/webhooks';
import {
  createPlan,
  createWorkspace,
  deletePlan,
  getWorkspace,
  listPlans,
  listWorkspaces,
  setWorkspacePlan,
  updatePlan,
  updateWorkspace,
} from '@postrider/core/workspaces';
import type { World } from '@postrider/testing';
import * as shapes from './shapes.ts';
import {
  absent,
  camelFields,
  connection,
  fields,
  type Given,
  type Input,
  listOf,
  mutation,
  pageOf,
  reading,
  type UseCase,
  useCase,
} from './use-case.ts';

const HOUR_MS = 3_600_000;
const NO_REST = absent('REST is for programs that send; administration is on the other two.');

const nothing = async (): Promise<Given> => ({ input: {} });
const given = (input: Input) => async (): Promise<Given> => ({ input });

/** What node(id) finds, which is null where nothing is. */
const node = (type: string, selection: string, id: (given: Given) => unknown = ({ input }) => input.id) =>
  reading('node', { id: 'ID!' }, `... on ${type} { ${selection} }`, (asked) => ({ id: id(asked) }));

const idOnly = ({ input }: Given) => ({ id: input.id });
const domainId = ({ ids = {} }: Given) => ({ id: ids.domain });

async function send(world: World, workspace_id: string, number: number, more: Input = {}): Promise<Given> {
  const { id } = await invoke(world.as(workspace_id), sendMessage, {
    from: 'shop@sandbox.test',
    to: [`reader@nr${number}.example.com`],
    subject: 'Hello',
    text: 'Hi',
    tags: ['parity'],
    ...more,
  });
  // The order of events is that of their ids, in which time goes no finer than this.
  await world.clock.advance(1);
  return { input: { id } };
}

const sent: UseCase['given'] = (world, workspace_id, number) => send(world, workspace_id, number);
const scheduled: UseCase['given'] = (world, workspace_id, number) =>
  send(world, workspace_id, number, { scheduled_at: later(world) });

/** Mail that waits for a retry. */
async function deferred(world: World, workspace_id: string, number: number): Promise<Given> {
  const subject = await send(world, workspace_id, number);
  world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 Later' }));
  await world.drain();
  world.smtp.script(() => ({ kind: 'accept' }));
  return subject;
}

function later(world: World, hours = 1): string {
  return new Date(world.clock.now() + hours * HOUR_MS).toISOString();
}

const aDomain: UseCase['given'] = async (world, workspace_id, number) => {
  const { id, name } = await invoke(world.as(workspace_id), addDomain, { name: `nr${number}.example.org` });
  return { input: { domain: name }, ids: { domain: id } };
};

const aWebhook: UseCase['given'] = async (world, workspace_id, number) => {
  const { id } = await invoke(world.as(workspace_id), createWebhook, { url: `http://127.0.0.1/nr${number}` });
  return { input: { id } };
};

async function tested(world: World, workspace_id: string, number: number): Promise<Given> {
  const { input } = await aWebhook(world, workspace_id, number);
  const { id: delivery_id } = await invoke(world.as(workspace_id), testWebhook, input);
  return { input: { ...input, delivery_id } };
}

const anAlarm: UseCase['given'] = async ({ services }, workspace_id, number) => {
  const id = newId('alarm', services.clock.now());
  await services.sql`
    insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at)
    values (${id}, ${workspace_id}, 'domain_regressed', ${`nr${number}.example.com`}, 'active', 'It lost a record.', 1,
      '/domains', clock_now(), clock_now())`;
  return { input: { alarm_id: id } };
};

const aHold: UseCase['given'] = async (world, workspace_id, number) => {
  await aDomain(world, workspace_id, number);
  // What an operator holds, an admin could not release.
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

const aPreview: UseCase['given'] = async (world, workspace_id, number) => {
  await scheduled(world, workspace_id, number);
  return { input: { action: 'send_now', filter: { to: `reader@nr${number}.example.com` } } };
};

const aBulk: UseCase['given'] = async (world, workspace_id, number) => {
  const ctx = world.as(workspace_id);
  // The limit of open ones per workspace, and no worker runs here.
  const { data } = await invoke(ctx, listBulk, { limit: 100 });
  const open = data.filter(({ finished_at }) => finished_at === null);
  if (open.length >= 15) for (const { id } of open) await invoke(ctx, cancelBulk, { id });
  const { input } = await aPreview(world, workspace_id, number);
  const { token } = await invoke(ctx, previewBulk, input);
  const { id } = await invoke(ctx, runBulk, { token, reason: 'Now' });
  return { input: { id } };
};

const aPlan: UseCase['given'] = async (world, workspace_id, number) => {
  const { name } = await invoke(world.as(workspace_id), createPlan, { name: `nr${number}`, recipients_per_request: 5 });
  return { input: { name } };
};

const aWorkspace: UseCase['given'] = async (world) => ({ input: { id: (await world.workspace('free')).workspace_id } });

const aMember: UseCase['given'] = async (world, workspace_id, number) => {
  const email = `nr${number}@people.test`;
  const { id } = await invoke(world.as(workspace_id), inviteMember, { email, role: 'viewer' });
  return { input: { user_id: id } };
};

/** What is wanted, several times over. */
async function several(make: () => Promise<unknown>, input: Input = {}): Promise<Given> {
  for (let count = 0; count < 5; count++) await make();
  return { input };
}

const email = [
  useCase(sendMessage, {
    rest: 'POST /email/send',
    trpc: 'POST test.send',
    graphql: absent('GraphQL sends no mail.'),
    given: given({ from: 'shop@sandbox.test', to: 'reader@example.com', subject: 'Hello', text: 'Hi' }),
    writes: true,
    bad: { to: 'nobody' },
  }),
  useCase(findThings, {
    rest: absent('A program knows what it looks for.'),
    trpc: 'GET find',
    graphql: reading(
      'find',
      { text: 'String!', first: 'Int' },
      'id',
      ({ input: { text, limit } }) => ({ text, first: limit }),
      (found) => ({ data: found }),
    ),
    async given(world, workspace_id, number) {
      await send(world, workspace_id, number, { subject: `Invoice ${number}` });
      return { input: { text: `invoice ${number}` } };
    },
    bad: { text: '' },
  }),
  useCase(listMessages, {
    rest: 'GET /email/logs',
    trpc: 'GET emails.list',
    graphql: connection('messages', shapes.message, { filter: 'MessageFilter' }, ({ input: { to } }) => ({
      filter: { to },
    })),
    given: (world, workspace_id, number) =>
      several(() => send(world, workspace_id, number), { to: `reader@nr${number}.example.com` }),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getMessage, {
    rest: 'GET /email/logs/{id}',
    trpc: 'GET emails.get',
    graphql: node(
      'Message',
      `${shapes.message} events: timeline(first: 50) { nodes { ${shapes.event} } }
       attempts(first: 50) { nodes { id number outcome } }`,
    ),
    given: sent,
    target: 'id',
    looks_up: true,
  }),
  useCase(getContent, {
    rest: 'GET /email/{id}/content',
    trpc: 'GET emails.content',
    graphql: reading(
      'node',
      { id: 'ID!' },
      `... on Message { content { html text attachments { filename content_type: contentType
         size_bytes: sizeBytes content_id: contentId } } headers raw { mime } }`,
      idOnly,
      (answered) => {
        if (answered === null) return null;
        const { content, headers, raw } = answered as Record<'content' | 'headers' | 'raw', Record<string, unknown>>;
        return { ...content, headers, raw: raw.mime };
      },
    ),
    scope_on: { graphql: absent('The message that it is a field of is refused before.') },
    given: sent,
    target: 'id',
    looks_up: true,
  }),
  useCase(createContentLink, {
    rest: absent('A program reads the content itself.'),
    trpc: 'POST emails.contentLink',
    graphql: mutation('messageContentLink', 'ContentLinkInput', 'ContentLinkPayload', 'expires_at: expiresAt'),
    given: sent,
    target: 'id',
    writes: true,
    varying: ['url'],
    bad: { attachment: -1 },
  }),
  useCase(cancelMessage, {
    rest: 'POST /email/{id}/cancel',
    trpc: 'POST emails.cancel',
    graphql: mutation('messageCancel', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: sent,
    target: 'id',
    writes: true,
  }),
  useCase(rescheduleMessage, {
    rest: 'PATCH /email/{id}',
    trpc: 'POST emails.reschedule',
    graphql: mutation('messageReschedule', 'RescheduleInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    async given(world, workspace_id, number) {
      const { input } = await scheduled(world, workspace_id, number);
      return { input: { ...input, scheduled_at: later(world, 2) } };
    },
    target: 'id',
    writes: true,
    bad: { scheduled_at: 'tomorrow' },
  }),
  useCase(sendMessageNow, {
    rest: absent('A program reschedules to the present.'),
    trpc: 'POST emails.sendNow',
    graphql: mutation('messageSendNow', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: scheduled,
    target: 'id',
    writes: true,
  }),
  useCase(retryMessageNow, {
    rest: absent('Retries are decided by people.'),
    trpc: 'POST emails.retryNow',
    graphql: mutation('messageRetry', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: deferred,
    target: 'id',
    writes: true,
  }),
  useCase(giveUpMessage, {
    rest: 'POST /email/{id}/give-up',
    trpc: 'POST emails.giveUp',
    graphql: mutation('messageGiveUp', 'GiveUpInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    async given(world, workspace_id, number) {
      const { input } = await deferred(world, workspace_id, number);
      return { input: { ...input, reason: 'It is too late' } };
    },
    target: 'id',
    writes: true,
  }),
  useCase(resendMessage, {
    rest: 'POST /email/{id}/resend',
    trpc: 'POST emails.resend',
    graphql: mutation('messageResend', 'TargetInput', 'MessagePayload', 'of: email { id status createdAt }'),
    async given(world, workspace_id, number) {
      const subject = await sent(world, workspace_id, number);
      await world.drain();
      return subject;
    },
    target: 'id',
    writes: true,
  }),
  useCase(listEvents, {
    rest: 'GET /events',
    trpc: 'GET events.list',
    graphql: connection('events', shapes.event, { filter: 'EventFilter' }, ({ input: { type } }) => ({
      filter: { types: [type] },
    })),
    given: (world, workspace_id, number) =>
      several(
        async () => invoke(world.as(workspace_id), cancelMessage, (await sent(world, workspace_id, number)).input),
        { type: 'email.canceled' },
      ),
    paged: true,
    bad: { limit: 101 },
  }),
];

const domains = [
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
    // Every domain has keys and a token of its own.
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
    // What has not been added can be examined too.
    // It says how long the name servers took.
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

const keys = [
  useCase(listKeys, {
    rest: 'GET /api-keys',
    trpc: 'GET apiKeys.list',
    graphql: connection('apiKeys', shapes.apiKey),
    given: (world) => several(() => world.key({ scopes: ['email:send'] })),
    paged: true,
    // Asking uses a key.
    varying: ['last_used_at'],
    bad: { limit: 0 },
  }),
  useCase(currentKey, {
    rest: 'GET /api-keys/current',
    trpc: absent('A session is no key.'),
    graphql: reading('viewer', {}, `key { ${shapes.apiKey} }`, undefined, (viewer) => (viewer as { key: unknown }).key),
    given: nothing,
    varying: ['last_used_at'],
  }),
  useCase(createKey, {
    rest: 'POST /api-keys',
    trpc: 'POST apiKeys.create',
    graphql: mutation('apiKeyCreate', 'ApiKeyInput', 'ApiKeyCreatePayload', `of: apiKey { ${shapes.apiKey} } secret`),
    given: given({ name: 'Shop', scopes: ['email:send'], allowed_ips: ['192.0.2.0/24'], domains: ['example.com'] }),
    writes: true,
    varying: ['last4'],
    bad: { scopes: ['email:send', 'everything'] },
  }),
  useCase(keyUsage, {
    rest: absent('A program reads the usage of its workspace.'),
    trpc: 'GET apiKeys.usage',
    graphql: {
      field: 'node',
      document: `query ($id: ID!, $range: TimeRange!) { value: node(id: $id) { ... on ApiKey {
        key_id: id last_used_at: lastUsedAt points: usage(range: $range) { at value } } } }`,
      variables: ({ input: { key_id, since } }) => ({ id: key_id, range: { since } }),
      value: (answered) => answered,
    },
    given: async (world) => ({
      input: {
        key_id: (await world.key({ scopes: ['email:send'] })).id,
        since: new Date(world.clock.now() - 72 * HOUR_MS).toISOString(),
      },
    }),
    target: 'key_id',
    looks_up: true,
  }),
  useCase(rotateKey, {
    rest: 'POST /api-keys/{key_id}/rotate',
    trpc: 'POST apiKeys.rotate',
    graphql: mutation(
      'apiKeyRotate',
      'RotateInput',
      'ApiKeyCreatePayload',
      `of: apiKey { ${shapes.apiKey} } secret`,
      ({ input }) => ({ id: input.key_id }),
    ),
    given: async (world) => ({ input: { key_id: (await world.key({ scopes: ['email:send'] })).id } }),
    target: 'key_id',
    writes: true,
    varying: ['last4'],
  }),
  useCase(revokeKey, {
    rest: 'DELETE /api-keys/{key_id}',
    trpc: 'POST apiKeys.revoke',
    graphql: mutation(
      'apiKeyRevoke',
      'TargetInput',
      'ApiKeyPayload',
      'of: apiKey { id revoked_at: revokedAt }',
      ({ input }) => ({ id: input.key_id }),
    ),
    given: async (world) => ({ input: { key_id: (await world.key({ scopes: ['email:send'] })).id } }),
    target: 'key_id',
    writes: true,
  }),
];

const suppressions = [
  useCase(listSuppressions, {
    rest: 'GET /suppressions',
    trpc: 'GET suppressions.list',
    graphql: connection('suppressions', shapes.suppression, { filter: 'SuppressionFilter' }, ({ input }) => ({
      filter: { causes: [String(input.source).toUpperCase()] },
    })),
    given: async (world, workspace_id, number) => {
      const ctx = world.as(workspace_id);
      await invoke(ctx, createSuppressions, { email: `by-hand@nr${number}.example.com` });
      const suppressions = [1, 2, 3, 4, 5].map((count) => ({ email: `c${count}@nr${number}.example.com` }));
      await invoke(ctx, createSuppressions, { suppressions });
      return { input: { source: 'import' } };
    },
    paged: true,
    bad: { cursor: 'nonsense' },
  }),
  useCase(createSuppressions, {
    rest: 'POST /suppressions',
    trpc: 'POST suppressions.add',
    graphql: mutation(
      'suppressionAdd',
      'SuppressionInput',
      'SuppressionPayload',
      `of: suppression { ${shapes.suppression} }`,
      ({ input: { email, reason, ...others } }) => ({ ...camelFields(others), address: email, note: reason }),
    ),
    given: async (_, __, number) => ({ input: { email: `Ada@nr${number}.example.com`, reason: 'She asked' } }),
    writes: true,
    bad: { expires_at: 'tomorrow' },
  }),
  useCase(deleteSuppression, {
    rest: 'DELETE /suppressions/{email}',
    trpc: 'POST suppressions.remove',
    graphql: mutation('suppressionRemove', 'TargetInput', 'DeletePayload', 'id: deletedId', ({ ids = {} }) => ({
      id: ids.suppression,
    })),
    async given(world, workspace_id, number) {
      const address = `ada@nr${number}.example.com`;
      const added = await invoke(world.as(workspace_id), createSuppressions, { email: address });
      if ('data' in added) throw new Error('one address was answered as a list');
      return { input: { email: address }, ids: { suppression: added.id } };
    },
    target: 'email',
    writes: true,
  }),
];

const webhooks = [
  useCase(listWebhooks, {
    rest: 'GET /webhooks',
    trpc: 'GET webhooks.list',
    graphql: connection('webhooks', shapes.webhook),
    given: (world, workspace_id, number) => several(() => aWebhook(world, workspace_id, number)),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getWebhook, {
    rest: 'GET /webhooks/{id}',
    trpc: 'GET webhooks.get',
    graphql: node('Webhook', shapes.webhook),
    given: aWebhook,
    target: 'id',
    looks_up: true,
  }),
  useCase(createWebhook, {
    rest: 'POST /webhooks',
    trpc: 'POST webhooks.create',
    graphql: mutation(
      'webhookCreate',
      'WebhookInput',
      'WebhookCreatePayload',
      `of: webhook { ${shapes.webhook} } secret`,
      ({ input }) => ({ ...camelFields(input), format: String(input.format).toUpperCase() }),
    ),
    given: given({ url: 'http://127.0.0.1/made', events: ['email.bounced'], description: 'Shop', format: 'resend' }),
    writes: true,
    varying: ['secret_last4'],
    bad: { events: ['email.vanished'] },
  }),
  useCase(updateWebhook, {
    rest: 'PATCH /webhooks/{id}',
    trpc: 'POST webhooks.update',
    graphql: mutation('webhookUpdate', 'WebhookUpdateInput', 'WebhookPayload', `of: webhook { ${shapes.webhook} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, events: ['email.bounced'], description: 'Shop' } };
    },
    target: 'id',
    writes: true,
    varying: ['secret_last4'],
    bad: { url: 'ftp://example.com' },
  }),
  useCase(deleteWebhook, {
    rest: 'DELETE /webhooks/{id}',
    trpc: 'POST webhooks.delete',
    graphql: mutation('webhookDelete', 'TargetInput', 'DeletePayload', 'id: deletedId'),
    given: aWebhook,
    target: 'id',
    writes: true,
  }),
  useCase(testWebhook, {
    rest: 'POST /webhooks/{id}/test',
    trpc: 'POST webhooks.test',
    graphql: mutation('webhookTest', 'WebhookTestInput', 'DeliveryPayload', `of: delivery { ${shapes.delivery} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, type: 'email.bounced' } };
    },
    target: 'id',
    writes: true,
    bad: { type: 'email.vanished' },
  }),
  useCase(rotateWebhookSecret, {
    rest: 'POST /webhooks/{id}/rotate-secret',
    trpc: 'POST webhooks.rotateSecret',
    graphql: mutation(
      'webhookSecretRotate',
      'RotateInput',
      'WebhookCreatePayload',
      `of: webhook { ${shapes.webhook} } secret`,
    ),
    given: aWebhook,
    target: 'id',
    writes: true,
    varying: ['secret_last4'],
  }),
  useCase(listWebhookDeliveries, {
    rest: 'GET /webhooks/{id}/deliveries',
    trpc: 'GET deliveries.list',
    graphql: {
      field: 'node',
      document: `query ($id: ID!, $first: Int, $after: String, $filter: DeliveryFilter) { value: node(id: $id) {
        ... on Webhook { deliveries(first: $first, after: $after, filter: $filter) { ${pageOf(shapes.delivery)} } } } }`,
      variables: ({ input }) => ({
        id: input.id,
        first: input.limit,
        after: input.cursor,
        filter: { status: [String(input.status).toUpperCase()] },
      }),
      value: (answered) => answered && listOf((answered as { deliveries: unknown }).deliveries),
    },
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return several(() => invoke(world.as(workspace_id), testWebhook, input), { ...input, status: 'pending' });
    },
    target: 'id',
    looks_up: true,
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(listAllDeliveries, {
    rest: absent('A program asks webhook by webhook.'),
    trpc: 'GET deliveries.listAll',
    graphql: connection('webhookDeliveries', shapes.delivery, { filter: 'DeliveryFilter' }, ({ input }) => ({
      filter: { webhookId: input.webhook_id, eventTypes: [input.type] },
    })),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return several(() => invoke(world.as(workspace_id), testWebhook, { ...input, type: 'email.bounced' }), {
        webhook_id: input.id,
        type: 'email.bounced',
      });
    },
    target: 'webhook_id',
    paged: true,
    bad: { type: 'email.vanished' },
  }),
  useCase(getWebhookDelivery, {
    rest: absent('A program reads the list, which has the last answer of each.'),
    trpc: 'GET deliveries.get',
    graphql: node(
      'WebhookDelivery',
      `${shapes.delivery} requestBody posts: attempts { number at durationMs requestHeaders responseStatus
       responseHeaders responseBody error }`,
    ),
    async given(world, workspace_id, number) {
      const { input } = await tested(world, workspace_id, number);
      return { input: { id: input.delivery_id } };
    },
    target: 'id',
    looks_up: true,
  }),
  useCase(replayWebhookDelivery, {
    rest: 'POST /webhooks/{id}/deliveries/{delivery_id}/replay',
    trpc: 'POST deliveries.replay',
    graphql: mutation(
      'deliveryReplay',
      'TargetInput',
      'DeliveryPayload',
      `of: delivery { ${shapes.delivery} }`,
      ({ input }) => ({ id: input.delivery_id }),
    ),
    given: tested,
    target: 'delivery_id',
    // Over GraphQL no webhook is named, and another's is refused before its delivery.
    foreign: false,
    writes: true,
  }),
  useCase(recoverWebhook, {
    rest: 'POST /webhooks/{id}/recover',
    trpc: 'POST webhooks.recover',
    graphql: mutation('webhookRecover', 'RecoverInput', 'WebhookPayload', 'of: webhook { webhook_id: id }'),
    async given(world, workspace_id, number) {
      const { input } = await aWebhook(world, workspace_id, number);
      return { input: { ...input, since: later(world, -1) } };
    },
    target: 'id',
    writes: true,
    bad: { since: 'yesterday' },
  }),
];

const shownCapture = fields('id from sender to subject size_bytes received_at');

/** A captured mail that another program sent. */
async function captured(world: World, workspace_id: string, number: number): Promise<Given> {
  const to = `reader@nr${number}.example.com`;
  const raw = Buffer.from(
    `From: shop@sandbox.test\r\nTo: ${to}\r\nSubject: Code\r\n\r\nYour code is 493817, see https://shop.test/in\r\n`,
  );
  await world.clock.advance(1);
  await recordCapture(world.services, { envelope_from: 'shop@sandbox.test', envelope_to: [to], raw }, workspace_id);
  const { data } = await invoke(world.as(workspace_id), listCaptures, { to });
  return { input: { id: data[0]?.id ?? '' } };
}

const captures = [
  useCase(listCaptures, {
    rest: 'GET /captures',
    trpc: 'GET captures.list',
    graphql: connection(
      'captures',
      `${shownCapture} email_id: message { id }`,
      { filter: 'CaptureFilter' },
      ({ input: { to } }) => ({ filter: { to } }),
    ),
    given: (world, workspace_id, number) =>
      several(() => captured(world, workspace_id, number), { to: `reader@nr${number}.example.com` }),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getCapture, {
    rest: 'GET /captures/{id}',
    trpc: 'GET captures.get',
    graphql: absent('The content is a field of the list.'),
    scope: 'admin',
    given: captured,
    target: 'id',
  }),
  useCase(deleteCapture, {
    rest: 'DELETE /captures/{id}',
    trpc: 'POST captures.delete',
    graphql: mutation('captureDelete', 'TargetInput', 'DeletePayload', 'deletedId'),
    scope: 'admin',
    given: captured,
    target: 'id',
    writes: true,
    varying: ['deleted_id'],
  }),
  useCase(releaseCapture, {
    rest: 'POST /captures/{id}/release',
    trpc: 'POST captures.release',
    graphql: mutation('captureRelease', 'CaptureReleaseInput', 'MessagePayload', 'of: email { id status createdAt }'),
    scope: 'admin',
    given: captured,
    target: 'id',
    writes: true,
  }),
  useCase(clearCaptures, {
    rest: 'DELETE /captures',
    trpc: 'POST captures.clear',
    graphql: mutation('capturesClear', 'CapturesClearInput', 'CapturesClearPayload', 'deleted', () => ({ all: true })),
    scope: 'admin',
    async given(world, workspace_id, number) {
      await captured(world, workspace_id, number);
      return { input: {} };
    },
    writes: true,
    varying: ['deleted'],
  }),
];

/** A refused request of the workspace. */
async function refused(world: World, workspace_id: string, number: number): Promise<Given> {
  const { services, clock } = world;
  await clock.advance(1);
  const id = newId('request', clock.now());
  services.request_log.note({
    id,
    api: 'rest',
    method: 'POST',
    path: '/email/send',
    status: 400,
    error: new AppError('invalid_email', `Not one address: nr${number}`, {
      details: [{ param: 'to[0]', reason: 'invalid_email', message: 'Not one address.' }],
    }),
    actor: { kind: 'system', workspace_id },
    secret_hash: null,
    input: { to: ['nobody'] },
    duration_ms: 2,
  });
  await services.request_log.flush();
  return { input: { id } };
}

const requests = [
  useCase(listRequests, {
    rest: 'GET /requests',
    trpc: 'GET requests.list',
    graphql: connection(
      'requests',
      `${fields('id at api method path status code reason message duration_ms body')} api_key_id: apiKey { id }
       faults { pointer reason message }`,
      { filter: 'RequestFilter' },
      ({ input: { reason } }) => ({ filter: { reasons: [reason] } }),
    ),
    given: (world, workspace_id, number) =>
      several(() => refused(world, workspace_id, number), { reason: 'invalid_email' }),
    paged: true,
    bad: { limit: 101 },
  }),
  useCase(getRequest, {
    rest: 'GET /requests/{id}',
    trpc: 'GET requests.get',
    graphql: absent('The list has all of it.'),
    given: refused,
    target: 'id',
  }),
];

const erasures = [
  useCase(startErasure, {
    rest: 'POST /erasures',
    trpc: 'POST erasures.start',
    graphql: mutation(
      'erasureStart',
      'ErasureInput',
      'ErasurePayload',
      `of: erasure { ${shapes.erasure} }`,
      ({ input: { email } }) => ({ address: email }),
    ),
    given: async (_, __, number) => ({ input: { email: `ada@nr${number}.example.com` } }),
    writes: true,
    bad: { email: 'no-address' },
  }),
  useCase(getErasure, {
    rest: 'GET /erasures/{id}',
    trpc: 'GET erasures.get',
    graphql: reading('erasure', { id: 'ID!' }, shapes.erasure),
    async given(world, workspace_id, number) {
      const { id } = await invoke(world.as(workspace_id), startErasure, { email: `ada@nr${number}.example.com` });
      return { input: { id } };
    },
    target: 'id',
    looks_up: true,
  }),
  useCase(listErasures, {
    rest: NO_REST,
    trpc: 'GET erasures.list',
    graphql: connection('erasures', shapes.erasure),
    async given(world, workspace_id, number) {
      for (const name of ['ada', 'bob', 'eve'])
        await invoke(world.as(workspace_id), startErasure, { email: `${name}@nr${number}.example.com` });
      return { input: { limit: 2 } };
    },
    paged: true,
  }),
];

const numbers = [
  useCase(getUsage, {
    rest: 'GET /usage',
    trpc: 'GET usage.get',
    graphql: reading('usage', {}, shapes.usage, undefined, byDate),
    given: nothing,
  }),
  useCase(getMonthUsage, {
    rest: NO_REST,
    trpc: 'GET workspaces.usage',
    graphql: reading('workspace', {}, `usage { ${shapes.usage} }`, undefined, (answered) =>
      byDate((answered as { usage: unknown }).usage),
    ),
    given: nothing,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the usage of any workspace.') },
  }),
  useCase(getHealth, {
    rest: NO_REST,
    trpc: 'GET ops.health',
    graphql: reading('health', {}, 'status checks { name status detail advice checked_at: checkedAt }'),
    given: nothing,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the health of the instance.') },
  }),
  useCase(examineMachine, {
    rest: NO_REST,
    trpc: 'GET ops.doctor',
    graphql: reading('machine', {}, 'status checked_at: checkedAt checks { name status detail fix }'),
    given: nothing,
    // Bytes that are free.
    varying: ['detail'],
  }),
  useCase(getStorage, {
    rest: NO_REST,
    trpc: 'GET ops.storage',
    graphql: reading(
      'storage',
      {},
      `${fields('database_bytes mails bytes_per_mail measured mails_per_day days_until_full checked_at')}
       disk { ${fields('free_bytes total_bytes')} }
       tables { ${fields('name bytes index_bytes rows partitions kept kept_seconds setting')} }`,
    ),
    given: nothing,
    // Files grow while the two are asked.
    varying: ['database_bytes', 'free_bytes', 'bytes', 'index_bytes', 'rows', 'mails', 'days_until_full', 'tables'],
  }),
  useCase(getRetention, {
    rest: NO_REST,
    trpc: 'GET workspaces.retention',
    graphql: reading(
      'retention',
      {},
      `kinds { ${fields('kind kept_seconds setting')} } ${fields('captured_bytes delivery transcripts request_log')}`,
    ),
    given: nothing,
  }),
  useCase(getBacklog, {
    rest: NO_REST,
    trpc: 'GET ops.backlog',
    graphql: reading(
      'backlog',
      { by: 'BacklogDimension', top: 'Int', reach: 'Reach' },
      shapes.backlog,
      ({ input }) => ({
        by: String(input.by).toUpperCase(),
        top: input.top,
        reach: String(input.reach).toUpperCase(),
      }),
    ),
    async given(world, workspace_id, number) {
      await sent(world, workspace_id, number);
      return { input: { by: 'destination', top: 5, reach: 'workspace' } };
    },
    scope: 'admin',
    bad: { top: 0 },
  }),
  useCase(getBacklog, {
    name: 'backlog.get of the instance',
    rest: NO_REST,
    trpc: 'GET ops.backlog',
    graphql: reading('backlog', { reach: 'Reach' }, shapes.backlog, given_reach),
    given: given({ reach: 'instance' }),
    scope: 'operator',
  }),
  useCase(failureGroups, {
    rest: NO_REST,
    trpc: 'GET ops.failureGroups',
    graphql: reading(
      'failureGroups',
      { range: 'TimeRange!', kind: 'FailureKind!', top: 'Int', reach: 'Reach' },
      shapes.failureGroup,
      ({ input: { since, top } }) => ({ range: { since }, kind: 'SMTP', top, reach: 'WORKSPACE' }),
      (data) => ({ data }),
    ),
    given: async (world) => ({ input: { since: later(world, -3), kind: 'smtp', top: 5, reach: 'workspace' } }),
    scope: 'admin',
    bad: { top: 0 },
  }),
  useCase(getStats, {
    rest: 'GET /stats',
    trpc: 'GET stats.get',
    graphql: absent('GraphQL has all metrics and dimensions as stats.'),
    given: given({ step: 'hour', group_by: 'tag' }),
    bad: { step: 'week' },
  }),
  useCase(statSeries, {
    rest: NO_REST,
    trpc: 'GET stats.series',
    graphql: reading(
      'stats',
      { range: 'TimeRange!', bucket: 'Bucket!', metrics: '[Metric!]!', top: 'Int', reach: 'Reach' },
      shapes.statSeries,
      ({ input: { since, top } }) => ({
        range: { since },
        bucket: 'HOUR',
        metrics: ['ACCEPTED', 'DELIVERED'],
        top,
        reach: 'WORKSPACE',
      }),
      (series) => ({ series }),
    ),
    given: async (world) => ({
      input: {
        since: later(world, -3),
        bucket: 'hour',
        metrics: ['accepted', 'delivered'],
        top: 5,
        reach: 'workspace',
      },
    }),
    scope: 'admin',
    // GraphQL says it of every series.
    varying: ['complete_until'],
    bad: { top: 31 },
  }),
];

function given_reach({ input }: Given) {
  return { reach: String(input.reach).toUpperCase() };
}

function byDate(answered: unknown): unknown {
  const { by_day, ...others } = answered as { by_day: readonly { at: string; value: number }[] };
  return { ...others, by_day: by_day.map(({ at, value }) => ({ date: at.slice(0, 10), used: value })) };
}

const audit = [
  useCase(listAudit, {
    rest: NO_REST,
    trpc: 'GET audit.list',
    graphql: connection('auditLog', shapes.auditEntry, { filter: 'AuditFilter' }, ({ input: { action } }) => ({
      filter: { action: [action] },
    })),
    given: (world) => several(() => world.key({ scopes: ['email:send'] }), { action: 'api_key.created' }),
    scope: 'admin',
    paged: true,
    bad: { action: 'cake.eaten' },
  }),
  useCase(verifyAudit, {
    rest: NO_REST,
    trpc: 'GET audit.verify',
    graphql: reading(
      'auditVerify',
      { after: 'Int' },
      'verified length complete head broken { sequence id problem }',
      ({ input: { after } }) => ({ after }),
    ),
    given: (world) => several(() => world.key({ scopes: ['email:send'] })),
    scope: 'admin',
    bad: { after: -1 },
  }),
];

const holds = [
  useCase(listAlarms, {
    rest: NO_REST,
    trpc: 'GET alarms.list',
    graphql: reading('alarms', { active: 'Boolean' }, shapes.alarm, undefined, (data) => ({ data })),
    given: async (world, workspace_id, number) => {
      await anAlarm(world, workspace_id, number);
      return { input: { active: true } };
    },
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the alarms of the instance.') },
  }),
  useCase(acknowledgeAlarm, {
    rest: NO_REST,
    trpc: 'POST alarms.acknowledge',
    graphql: mutation(
      'alarmAcknowledge',
      'AlarmAcknowledgeInput',
      'AlarmPayload',
      `of: alarm { ${shapes.alarm} }`,
      ({ input }) => ({ id: input.alarm_id }),
    ),
    given: anAlarm,
    target: 'alarm_id',
    scope: 'admin',
    scope_on: { graphql: absent('An operator acknowledges the alarms of the instance.') },
    writes: true,
    varying: ['acknowledged_by'],
  }),
  useCase(getAlarmSettings, {
    rest: NO_REST,
    trpc: 'GET alarms.settings',
    graphql: reading('alarmSettings', {}, shapes.alarmSettings),
    given: nothing,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the settings of the instance.') },
  }),
  useCase(setAlarmSettings, {
    rest: NO_REST,
    trpc: 'POST alarms.setSettings',
    graphql: mutation(
      'alarmSettingsUpdate',
      'AlarmSettingsInput',
      'AlarmSettingsPayload',
      `of: settings { ${shapes.alarmSettings} }`,
    ),
    given: async () => ({ input: { emails: ['grace@example.com'], quiet_from: '22:00', quiet_until: '06:30' } }),
    scope: 'admin',
    scope_on: { graphql: absent('An operator sets those of the instance.') },
    writes: true,
    bad: { emails: ['nowhere'] },
  }),
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
    given: async (...asked) => {
      const { input } = await aHold(...asked);
      return { input: { ...input, resume_rate_per_minute: 30 } };
    },
    target: 'hold_id',
    bad: { resume_rate_per_minute: 0 },
    scope: 'admin',
    scope_on: { graphql: absent('An operator releases the holds of all.') },
    writes: true,
  }),
];

function holdInput({ input: { resume_rate_per_minute, ...input } }: Given) {
  return {
    ...camelFields(input),
    scope: String(input.scope).toUpperCase(),
    resumeRatePerMin: resume_rate_per_minute,
  };
}

const bulk = [
  useCase(previewBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkPreview',
    graphql: mutation('bulkPreview', 'BulkInput', 'BulkPreview', shapes.preview, ({ input }) => ({
      action: String(input.action).toUpperCase(),
      messages: input.filter,
    })),
    given: aPreview,
    scope: 'admin',
    varying: ['token'],
    bad: { filter: { since: 'yesterday' } },
  }),
  useCase(runBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkRun',
    graphql: mutation('bulkRun', 'BulkRunInput', 'BulkPayload', `of: bulk { ${shapes.bulk} }`),
    // A token is bound to the caller of the preview, so no two callers can share one.
    given: async () => ({ input: { token: 'nonsense', reason: 'Now' } }),
    answers: false,
    bad: { rate_per_second: 0 },
    writes: true,
  }),
  useCase(listBulk, {
    rest: NO_REST,
    trpc: 'GET ops.bulkList',
    graphql: connection('bulkOperations', shapes.bulk),
    given: (world, workspace_id, number) => several(() => aBulk(world, workspace_id, number)),
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees those of the instance.') },
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getBulk, {
    rest: NO_REST,
    trpc: 'GET ops.bulkGet',
    graphql: node('BulkOperation', shapes.bulk),
    given: aBulk,
    target: 'id',
    looks_up: true,
  }),
  useCase(cancelBulk, {
    rest: NO_REST,
    trpc: 'POST ops.bulkCancel',
    graphql: mutation('bulkCancel', 'BulkCancelInput', 'BulkPayload', `of: bulk { ${shapes.bulk} }`),
    given: aBulk,
    target: 'id',
    writes: true,
  }),
];

const workspaces = [
  useCase(listWorkspaces, {
    rest: NO_REST,
    trpc: 'GET workspaces.list',
    graphql: connection('workspaces', shapes.workspace),
    given: (world) => several(() => world.workspace('free')),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getWorkspace, {
    rest: NO_REST,
    trpc: 'GET workspaces.get',
    graphql: reading('workspace', {}, shapes.workspace),
    given: nothing,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees every workspace.') },
  }),
  useCase(createWorkspace, {
    rest: NO_REST,
    trpc: 'POST workspaces.create',
    graphql: mutation(
      'workspaceCreate',
      'WorkspaceInput',
      'WorkspaceCreatePayload',
      `of: workspace { ${shapes.workspace} } secret`,
    ),
    given: given({ name: 'Shop', plan: 'free' }),
    writes: true,
    // GraphQL has the key beside the workspace.
    varying: ['api_key', 'secret'],
    bad: { name: '' },
  }),
  useCase(updateWorkspace, {
    rest: NO_REST,
    trpc: 'POST workspaces.update',
    graphql: mutation(
      'workspaceUpdate',
      'WorkspaceUpdateInput',
      'WorkspacePayload',
      `of: workspace { ${shapes.workspace} }`,
    ),
    async given(world, workspace_id, number) {
      const { input } = await aWorkspace(world, workspace_id, number);
      return { input: { ...input, name: 'Renamed' } };
    },
    target: 'id',
    scope: 'admin',
    scope_on: { graphql: absent('An operator changes every workspace.') },
    writes: true,
    bad: { name: '' },
  }),
  useCase(setWorkspacePlan, {
    rest: NO_REST,
    trpc: 'POST workspaces.setPlan',
    graphql: mutation('workspaceSetPlan', 'PlanInput', 'WorkspacePayload', `of: workspace { ${shapes.workspace} }`),
    async given(world, workspace_id, number) {
      const { input } = await aWorkspace(world, workspace_id, number);
      return { input: { ...input, plan: 'business' } };
    },
    target: 'id',
    foreign: false,
    writes: true,
    bad: { plan: 'none' },
  }),
  useCase(listPlans, {
    rest: NO_REST,
    trpc: 'GET plans.list',
    graphql: reading('plans', {}, shapes.plan, undefined, (data) => ({ data })),
    given: nothing,
  }),
  useCase(createPlan, {
    rest: NO_REST,
    trpc: 'POST plans.create',
    graphql: mutation('planCreate', 'PlanLimitsInput', 'PlanPayload', `of: plan { ${shapes.plan} }`, planInput),
    given: async (_, __, number) => ({
      input: { name: `nr${number}`, recipients_per_request: 5, monthly_emails: null },
    }),
    writes: true,
    bad: { default_per_minute: 0 },
  }),
  useCase(updatePlan, {
    rest: NO_REST,
    trpc: 'POST plans.update',
    graphql: mutation('planUpdate', 'PlanLimitsInput', 'PlanPayload', `of: plan { ${shapes.plan} }`, planInput),
    async given(world, workspace_id, number) {
      const { input } = await aPlan(world, workspace_id, number);
      return { input: { ...input, send_per_minute: 7, default_per_minute: 8 } };
    },
    target: 'name',
    foreign: false,
    writes: true,
    bad: { send_per_minute: 0 },
  }),
  useCase(deletePlan, {
    rest: NO_REST,
    trpc: 'POST plans.delete',
    graphql: mutation('planDelete', 'PlanDeleteInput', 'DeletePayload', 'name: deletedId'),
    given: aPlan,
    target: 'name',
    foreign: false,
    writes: true,
  }),
];

function planInput({ input: { recipients_per_request, default_per_minute, ...input } }: Given) {
  return {
    ...camelFields(input),
    maxRecipientsPerRequest: recipients_per_request,
    otherPerMinute: default_per_minute,
  };
}

const MEMBERS_SCOPE = { graphql: 'operator', trpc: 'admin' } as const;

function memberInput({ input: { role, entry, ...input } }: Given) {
  return {
    ...camelFields(input),
    ...(role !== undefined && { role: String(role).toUpperCase() }),
    ...(entry !== undefined && { entry: String(entry).toUpperCase() }),
  };
}

const people = [
  useCase(listMembers, {
    rest: NO_REST,
    trpc: 'GET members.list',
    graphql: connection('members', shapes.member),
    given: async (world, workspace_id, number) => {
      let count = 0;
      return several(() => {
        count += 1;
        const email = `list${count}-nr${number}@people.test`;
        return invoke(world.as(workspace_id), inviteMember, { email, role: 'viewer' });
      });
    },
    scope_on: MEMBERS_SCOPE,
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(inviteMember, {
    rest: NO_REST,
    trpc: 'POST members.invite',
    graphql: mutation(
      'memberInvite',
      'MemberInviteInput',
      'MemberPayload',
      `of: member { ${shapes.member} }`,
      memberInput,
    ),
    given: async (_, __, number) => ({ input: { email: `nr${number}@people.test`, role: 'member' } }),
    scope_on: MEMBERS_SCOPE,
    writes: true,
    // GraphQL has what signs in beside the member.
    varying: ['password', 'login_url', 'login_url_expires_at'],
    bad: { email: 'nobody' },
  }),
  useCase(setMemberRole, {
    rest: NO_REST,
    trpc: 'POST members.setRole',
    graphql: mutation(
      'memberSetRole',
      'MemberSetRoleInput',
      'MemberPayload',
      `of: member { ${shapes.member} }`,
      memberInput,
    ),
    async given(world, workspace_id, number) {
      const { input } = await aMember(world, workspace_id, number);
      return { input: { ...input, role: 'member' } };
    },
    target: 'user_id',
    // A key that may ask at all is an operator's.
    foreign: false,
    scope_on: MEMBERS_SCOPE,
    writes: true,
  }),
  useCase(removeMember, {
    rest: NO_REST,
    trpc: 'POST members.remove',
    graphql: mutation('memberRemove', 'MemberRemoveInput', 'DeletePayload', 'id: deletedId', memberInput),
    given: aMember,
    target: 'user_id',
    foreign: false,
    scope_on: MEMBERS_SCOPE,
    writes: true,
  }),
  useCase(listOperators, {
    rest: NO_REST,
    trpc: 'GET operators.list',
    graphql: connection('operators', shapes.operator),
    given: async (world, workspace_id, number) => {
      let count = 0;
      return several(() => {
        count += 1;
        return invoke(world.as(workspace_id), addOperator, { email: `operator${count}-nr${number}@people.test` });
      });
    },
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(addOperator, {
    rest: NO_REST,
    trpc: 'POST operators.add',
    graphql: mutation(
      'operatorAdd',
      'OperatorAddInput',
      'OperatorPayload',
      `of: operator { ${shapes.operator} }`,
      memberInput,
    ),
    given: async (_, __, number) => ({ input: { email: `nr${number}@people.test` } }),
    writes: true,
    varying: ['password', 'login_url', 'login_url_expires_at'],
    bad: { email: 'nobody' },
  }),
  useCase(removeOperator, {
    rest: NO_REST,
    trpc: 'POST operators.remove',
    graphql: mutation('operatorRemove', 'OperatorRemoveInput', 'DeletePayload', 'id: deletedId'),
    async given(world, workspace_id, number) {
      const { id } = await invoke(world.as(workspace_id), addOperator, { email: `nr${number}@people.test` });
      return { input: { user_id: id } };
    },
    target: 'user_id',
    foreign: false,
    writes: true,
  }),
];

async function addJob(world: World, name: 'webhook.close' | 'storage.maintain' = 'webhook.close'): Promise<string> {
  const id = randomUUID();
  const start_after = new Date(world.clock.now() + HOUR_MS);
  const job = { id, data: { webhook_id: 'whk_none' }, start_after };
  await world.services.sql.begin((tx) => world.services.jobs.send(tx, name, [job]));
  return jobId(id);
}

const aJob: UseCase['given'] = async (world) => ({ input: { id: await addJob(world, 'storage.maintain') } });

async function measured(world: World, input: Input): Promise<Given> {
  await addJob(world);
  await measureQueues(world.services.sql, queueNames, 0);
  return { input };
}

const wrapped = (data: unknown) => ({ data });
const changedJob = (field: string) => mutation(field, 'JobInput', 'JobPayload', `of: job { ${shapes.job} }`);

const queues = [
  useCase(listQueues, {
    rest: NO_REST,
    trpc: 'GET ops.queues',
    graphql: reading('queues', {}, shapes.queue, undefined, wrapped),
    given: (world) => measured(world, {}),
  }),
  useCase(getQueue, {
    rest: NO_REST,
    trpc: 'GET ops.queue',
    graphql: reading('queue', { name: 'String!' }, shapes.queue, ({ input }) => ({ name: input.queue })),
    given: (world) => measured(world, { queue: 'webhook.close' }),
    target: 'queue',
    foreign: false,
    looks_up: true,
  }),
  useCase(queueHistory, {
    rest: NO_REST,
    trpc: 'GET ops.history',
    graphql: {
      field: 'queue',
      document: `query ($name: String!, $range: TimeRange!, $maxPoints: Int) { value: queue(name: $name) {
        data: history(range: $range, maxPoints: $maxPoints) { ${shapes.queuePoint} } } }`,
      variables: ({ input: { queue, since, max_points } }) => ({
        name: queue,
        range: { since },
        maxPoints: max_points,
      }),
      value: (answered) => answered,
    },
    given: (world) => measured(world, { queue: 'webhook.close', since: later(world, -1), max_points: 5 }),
    target: 'queue',
    foreign: false,
    looks_up: true,
    bad: { max_points: 0 },
  }),
  useCase(setConcurrency, {
    rest: NO_REST,
    trpc: 'POST ops.setConcurrency',
    graphql: mutation('queueSetConcurrency', 'ConcurrencyInput', 'QueuePayload', `of: queue { ${shapes.queue} }`),
    given: given({ queue: 'webhook.close', concurrency: 7, reason: 'Slow' }),
    target: 'queue',
    foreign: false,
    writes: true,
    bad: { concurrency: 0 },
  }),
  useCase(redriveQueue, {
    rest: NO_REST,
    trpc: 'POST ops.redrive',
    graphql: mutation('queueRedrive', 'RedriveInput', 'RedrivePayload', 'queue: queueName dead redriven'),
    given: given({ queue: 'webhook.close', limit: 5 }),
    target: 'queue',
    foreign: false,
    writes: true,
    bad: { limit: 0 },
  }),
  useCase(listJobs, {
    rest: NO_REST,
    trpc: 'GET ops.jobs.list',
    graphql: connection('jobs', shapes.job, { filter: 'JobFilter' }, ({ input: { queue, subject } }) => ({
      filter: { queue, subject },
    })),
    given: async (world, workspace_id, number) => {
      await sent(world, workspace_id, number);
      return several(() => addJob(world), { queue: 'webhook.close' });
    },
    paged: true,
    bad: { subject: 'someone' },
  }),
  useCase(getJob, {
    rest: NO_REST,
    trpc: 'GET ops.jobs.get',
    graphql: node('Job', shapes.job),
    given: aJob,
    scope_on: { graphql: absent('To who is no operator node finds no job.') },
    target: 'id',
    foreign: false,
    looks_up: true,
  }),
  useCase(retryJob, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.retry',
    graphql: changedJob('jobRetry'),
    async given(world, workspace_id, number) {
      const subject = await aJob(world, workspace_id, number);
      await invoke(world.as(workspace_id), cancelJob, subject.input);
      return subject;
    },
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(cancelJob, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.cancel',
    graphql: changedJob('jobCancel'),
    given: aJob,
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(runJobNow, {
    rest: NO_REST,
    trpc: 'POST ops.jobs.runNow',
    graphql: changedJob('jobRunNow'),
    given: aJob,
    target: 'id',
    foreign: false,
    writes: true,
  }),
  useCase(listWorkers, {
    rest: NO_REST,
    trpc: 'GET ops.workers',
    graphql: reading('workers', {}, shapes.worker, undefined, wrapped),
    given: nothing,
  }),
  useCase(listDestinations, {
    rest: NO_REST,
    trpc: 'GET destinations.list',
    graphql: reading(
      'destinations',
      {},
      `destination: name ${fields('connections messages_per_minute closed_until last_reply held_until hold_id parked')}
       reason: closedReason`,
      undefined,
      wrapped,
    ),
    async given(world, workspace_id, number) {
      await invoke(world.as(workspace_id), limitDestination, {
        destination: `nr${number}.example.net`,
        connections: 2,
      });
      return { input: {} };
    },
  }),
  useCase(limitDestination, {
    rest: NO_REST,
    trpc: 'POST destinations.limit',
    graphql: mutation(
      'destinationLimit',
      'DestinationLimitInput',
      'DestinationPayload',
      'destination: name connections messages_per_minute: messagesPerMinute',
    ),
    given: async (_, __, number) => ({ input: { destination: `nr${number}.example.net`, messages_per_minute: 60 } }),
    writes: true,
    bad: { messages_per_minute: 0 },
  }),
  useCase(releaseDestination, {
    rest: NO_REST,
    trpc: 'POST destinations.release',
    graphql: mutation(
      'destinationRelease',
      'DestinationInput',
      'DestinationReleasePayload',
      'destination: name released',
    ),
    async given(world, workspace_id, number) {
      const destination = `nr${number}.example.net`;
      await invoke(world.as(workspace_id), limitDestination, { destination, connections: 2 });
      return { input: { destination } };
    },
    writes: true,
  }),
  useCase(listSchedules, {
    rest: NO_REST,
    trpc: 'GET ops.schedules.list',
    graphql: reading('schedules', {}, shapes.schedule, undefined, wrapped),
    given: nothing,
  }),
  useCase(runSchedule, {
    rest: NO_REST,
    trpc: 'POST ops.schedules.run',
    graphql: mutation('scheduleRunNow', 'ScheduleInput', 'JobPayload', `of: job { ${shapes.job} }`),
    given: given({ name: 'storage.maintain', reason: 'Now' }),
    target: 'name',
    foreign: false,
    writes: true,
  }),
];

/** Every operation that two APIs or more offer. */
export const useCases: readonly UseCase[] = [
  ...email,
  ...domains,
  ...keys,
  ...suppressions,
  ...webhooks,
  ...captures,
  ...requests,
  ...erasures,
  ...numbers,
  ...audit,
  ...holds,
  ...bulk,
  ...workspaces,
  ...people,
  ...queues,
];

/** What one API offers alone, or as another way to what is above. */
export const alone = {
  rest: {
    'POST /email/batch': 'Mail is sent by programs.',
    'GET /email/{id}': 'GET /email/logs/{id}, for who has the id of a message.',
  },
  graphql: {
    nodes: 'node, for many ids.',
  },
  trpc: {
    'people.me': 'It is about a person who is signed in.',
    'people.switchWorkspace': 'It is about a person who is signed in.',
    'people.changePassword': 'It is about a person who is signed in.',
    'people.confirmPassword': 'It is about a person who is signed in.',
    'people.logout': 'It is about a person who is signed in.',
    live: 'A stream of all that a page follows, because a browser has few connections.',
    'emails.stream': 'A stream of the dashboard; GraphQL has it as events.',
    'emails.watch': 'A stream of the dashboard; GraphQL has it as events.',
    'events.stream': 'A stream; GraphQL has it as a subscription.',
    'audit.stream': 'A stream; GraphQL has it as a subscription.',
    'ops.stream': 'A stream; GraphQL has it as a subscription.',
    'ops.bulkWatch': 'A stream; GraphQL has it as a subscription.',
    'domains.watch': 'A stream of the dashboard.',
    'deliveries.stream': 'A stream of the dashboard.',
    'overview.stream': 'A stream of the dashboard.',
    'session.token': 'It is about a person who is signed in.',
    'test.preview': 'REST has it as dry_run=true of POST /email/send.',
    'overview.summary': 'A page of the dashboard, made of what GraphQL has piece by piece.',
    'onboarding.state': 'A page of the dashboard.',
    'requests.groups': 'A page of the dashboard; the list has each request.',
    'ops.bulkItems': 'GraphQL has them as a field of the bulk operation.',
    'ops.bulkExport': 'GraphQL has it as a field of the bulk operation.',
  },
};
