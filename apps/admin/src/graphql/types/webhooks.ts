import type { List } from '@postrider/core';
import {
  createWebhook,
  type DeliveryWaiting,
  deleteWebhook,
  deliveryNotFound,
  deliveryWaitingReasons,
  listAllDeliveries,
  listWebhookDeliveries,
  listWebhooks,
  recoverWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  type WebhookDeliveryEntry,
  type WebhookEntry,
  type WebhookPost,
  type WebhookQuality,
  webhookDeliveryStates,
  webhookFormats,
  webhookNotFound,
  webhookStatuses,
} from '@postrider/core/webhooks';
import { builder } from '../kit/builder.ts';
import { connectionFrom, connectionOf, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callIfPresent, page, present } from '../kit/from-operation.ts';
import { outcome, resultOf } from '../kit/mutation-results.ts';
import { claimIds } from '../kit/node-ids.ts';
import { Event, Webhook, WebhookDelivery } from '../kit/refs.ts';
import { DeleteResult, RotateInput, TargetInput } from '../kit/target.ts';
import { KeyMode } from './api-keys.ts';

// A body can be up to 20 kB.
const BODY_COST = 2;
// Most deliveries have one to three attempts.
const ATTEMPTS_COST = 3;
// Reads up to 1,000 attempts.
const QUALITY_COST = 10;
const NOTHING: List<WebhookDeliveryEntry> = { object: 'list', data: [], has_more: false, next_cursor: null };

const WebhookFormat = enumOf('WebhookFormat', webhookFormats);
const WebhookStatus = enumOf('WebhookStatus', webhookStatuses);
export const DeliveryStatus = enumOf('DeliveryStatus', webhookDeliveryStates);

const WebhookQualityRef = builder.objectRef<WebhookQuality>('WebhookQuality').implement({
  description: 'Attempts of the last 24 hours, at most the newest 1,000.',
  fields: (t) => ({
    attempts: t.exposeInt('attempts'),
    successRate: t.float({
      nullable: true,
      description: 'The share of these attempts with a 2xx response, 0 to 1; null without attempts.',
      resolve: ({ success_rate }) => success_rate,
    }),
    p95Ms: t.int({
      nullable: true,
      description: 'The 95th percentile of their response times; null without a response.',
      resolve: ({ p95_ms }) => p95_ms,
    }),
    isLimited: t.boolean({
      description: 'Whether only the newest 1,000 attempts count.',
      resolve: ({ is_limited }) => is_limited,
    }),
  }),
});

claimIds('webhook', 'Webhook');
builder.node(Webhook, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.webhooks.loadMany(ids),
  fields: (t) => ({
    url: t.field({ type: 'URL', resolve: ({ url }) => url }),
    description: t.exposeString('description', { nullable: true }),
    mode: t.field({
      type: KeyMode,
      description:
        'The webhook receives events for email in this mode. LIVE webhooks also receive events without a message, such as domain events.',
      resolve: ({ mode }) => mode,
    }),
    format: t.field({
      type: WebhookFormat,
      description: "Payload format: Postrider's own, or Resend's payload, event names and svix headers.",
      resolve: ({ format }) => format,
    }),
    events: t.stringList({
      description: 'The subscribed event types; ["all"] means every type.',
      resolve: ({ events }) => (typeof events === 'string' ? [events] : events),
    }),
    status: t.field({ type: WebhookStatus, resolve: ({ status }) => status }),
    disabledReason: t.string({ nullable: true, resolve: ({ status_reason }) => status_reason }),
    secretLast4: t.string({ resolve: ({ secret_last4 }) => secret_last4 }),
    previousSecretUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the previous secret stops being valid.',
      resolve: ({ previous_secret_until }) => previous_secret_until,
    }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    lastSuccessAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ last_success_at }) => last_success_at }),
    failingSince: t.field({ type: 'DateTime', nullable: true, resolve: ({ failing_since }) => failing_since }),
    pausedUntil: t.field({ type: 'DateTime', nullable: true, resolve: ({ paused_until }) => paused_until }),
    quality: t.field({
      type: WebhookQualityRef,
      nullable: true,
      complexity: QUALITY_COST,
      resolve: ({ id }, _, { load }) => load.webhookQuality.load(id),
    }),
    deliveries: t.field({
      type: WebhookDeliveryConnection,
      description: 'Deliveries, newest first.',
      args: { ...pageArgs(t), filter: t.arg({ type: DeliveryFilter }) },
      resolve: ({ id }, { filter, ...args }, g) =>
        filter?.webhookId == null || filter.webhookId === id
          ? page(g, listWebhookDeliveries, args, { id, ...filterInput(filter) })
          : connectionFrom(NOTHING, args.after),
    }),
  }),
});

const DeliveryWaitingReason = enumOf('DeliveryWaitingReason', deliveryWaitingReasons);
const DeliveryWaitingRef = builder.objectRef<DeliveryWaiting>('DeliveryWaiting').implement({
  description: 'Why a pending delivery is not attempted, other than its retry schedule.',
  fields: (t) => ({
    reason: t.field({ type: DeliveryWaitingReason, resolve: ({ reason }) => reason }),
    until: t.field({ type: 'DateTime', nullable: true, resolve: ({ until }) => until }),
    holdId: t.id({
      nullable: true,
      description: 'With HOLD and QUEUE_PAUSED: the hold.',
      resolve: ({ hold_id }) => hold_id,
    }),
  }),
});

const WebhookAttempt = builder.objectRef<WebhookPost>('WebhookAttempt').implement({
  description: "A request to an endpoint and its response. The request body is in the delivery's requestBody.",
  fields: (t) => ({
    number: t.exposeInt('number', {
      description: '1 for the first attempt since the delivery started or was replayed.',
    }),
    at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    durationMs: t.int({ nullable: true, resolve: ({ duration_ms }) => duration_ms }),
    requestHeaders: t.field({
      type: 'JSON',
      nullable: true,
      description: 'As sent, including the signature; null if the first attempt succeeded.',
      resolve: ({ request_headers }) => request_headers,
    }),
    responseStatus: t.int({ nullable: true, resolve: ({ response_status }) => response_status }),
    responseHeaders: t.field({ type: 'JSON', nullable: true, resolve: ({ response_headers }) => response_headers }),
    responseBody: t.string({ nullable: true, resolve: ({ response_body }) => response_body }),
    error: t.exposeString('error', { nullable: true }),
  }),
});

claimIds('webhook_delivery', 'WebhookDelivery');
builder.node(WebhookDelivery, {
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.webhookDeliveries.loadMany(ids),
  fields: (t) => ({
    event: t.field({
      type: Event,
      nullable: true,
      description: 'Null for a test without an event.',
      resolve: ({ event_id }, _, { load }) => load.events.load(event_id),
    }),
    eventId: t.id({ description: 'The webhook-id header of every attempt.', resolve: ({ event_id }) => event_id }),
    eventType: t.string({ resolve: ({ event_type }) => event_type }),
    webhook: t.field({
      type: Webhook,
      nullable: true,
      description: 'null after it is deleted.',
      resolve: ({ webhook_id }, _, { load }) => load.webhooks.load(webhook_id),
    }),
    status: t.field({ type: DeliveryStatus, resolve: ({ status }) => status }),
    attempt: t.int({ description: 'Attempts so far.', resolve: ({ attempts }) => attempts }),
    createdAt: t.field({ type: 'DateTime', resolve: ({ created_at }) => created_at }),
    nextAttemptAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ next_attempt_at }) => next_attempt_at }),
    waiting: t.field({ type: DeliveryWaitingRef, nullable: true, resolve: ({ waiting }) => waiting }),
    lastAttemptAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ last_attempt_at }) => last_attempt_at }),
    finishedAt: t.field({ type: 'DateTime', nullable: true, resolve: ({ finished_at }) => finished_at }),
    durationMs: t.int({
      nullable: true,
      description: 'Duration of the last attempt.',
      resolve: ({ duration_ms }) => duration_ms,
    }),
    responseStatus: t.int({ nullable: true, resolve: ({ response_status }) => response_status }),
    responseBody: t.string({
      nullable: true,
      description: 'The first kilobyte of the last response.',
      resolve: ({ response_body }) => response_body,
    }),
    error: t.exposeString('error', { nullable: true }),
    requestBody: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The body of every attempt; null once the event has expired.',
      complexity: BODY_COST,
      resolve: ({ id }, _, { load }) => load.deliveryBodies.load(id),
    }),
    attempts: t.field({
      type: [WebhookAttempt],
      description: 'The newest 50 attempts with request and response, oldest first.',
      complexity: { field: ATTEMPTS_COST, multiplier: 1 },
      resolve: ({ id }, _, { load }) => load.webhookPosts.load(id),
    }),
  }),
});

builder.objectField(Event, 'deliveries', (t) =>
  t.field({
    type: [WebhookDelivery],
    description: 'Deliveries of this event to existing webhooks.',
    resolve: ({ id }, _, { load }) => load.deliveriesByEvent.load(id),
  }),
);

const WebhookDeliveryConnection = connectionOf(WebhookDelivery);
const WebhookConnection = connectionOf(Webhook);

const DeliveryFilter = builder.inputType('DeliveryFilter', {
  description: 'Combined with AND.',
  fields: (t) => ({
    status: t.field({ type: [DeliveryStatus], description: 'One of these.' }),
    eventTypes: t.stringList({ description: 'One of these, such as email.bounced.' }),
    webhookId: t.id(),
    since: t.field({ type: 'DateTime', description: 'Events at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Events before this time.' }),
  }),
});

function filterInput(filter: typeof DeliveryFilter.$inferInput | null | undefined) {
  const { status, eventTypes, since, until } = filter ?? {};
  return { status: status?.join(','), type: eventTypes?.join(','), since, until };
}

builder.queryField('webhookDeliveries', (t) =>
  t.field({
    type: WebhookDeliveryConnection,
    description: 'Deliveries to existing webhooks, newest first.',
    args: { ...pageArgs(t), filter: t.arg({ type: DeliveryFilter }) },
    resolve: (_, { filter, ...args }, g) =>
      page(g, listAllDeliveries, args, { ...filterInput(filter), webhookId: filter?.webhookId }),
  }),
);

builder.queryField('webhooks', (t) =>
  t.field({ type: WebhookConnection, args: pageArgs(t), resolve: (_, args, g) => page(g, listWebhooks, args) }),
);

const WebhookPayload = builder.objectRef<{ readonly webhook: WebhookEntry }>('WebhookPayload').implement({
  fields: (t) => ({ webhook: t.field({ type: Webhook, resolve: ({ webhook }) => webhook }) }),
});
const WebhookResult = resultOf('WebhookResult', WebhookPayload);

const WebhookCreatePayload = builder
  .objectRef<WebhookEntry & { readonly secret: string }>('WebhookCreatePayload')
  .implement({
    fields: (t) => ({
      webhook: t.field({ type: Webhook, resolve: (webhook) => webhook }),
      secret: t.exposeString('secret', { description: 'Only returned here.' }),
    }),
  });
const WebhookCreateResult = resultOf('WebhookCreateResult', WebhookCreatePayload);

const DeliveryPayload = builder.objectRef<{ readonly delivery: WebhookDeliveryEntry }>('DeliveryPayload').implement({
  fields: (t) => ({ delivery: t.field({ type: WebhookDelivery, resolve: ({ delivery }) => delivery }) }),
});
const DeliveryResult = resultOf('DeliveryResult', DeliveryPayload);

const WebhookInput = builder.inputType('WebhookInput', {
  fields: (t) => ({
    url: t.field({ type: 'URL', required: true }),
    events: t.stringList({ description: 'Event types. Default: all.' }),
    description: t.string(),
    format: t.field({ type: WebhookFormat, description: 'Default: POSTRIDER.' }),
    mode: t.field({
      type: KeyMode,
      description: 'The mode whose events it receives. The default is SANDBOX for sandbox keys and LIVE otherwise.',
    }),
  }),
});
const WebhookUpdateInput = builder.inputType('WebhookUpdateInput', {
  description: 'Changes the given fields.',
  fields: (t) => ({
    id: t.id({ required: true }),
    url: t.field({ type: 'URL' }),
    events: t.stringList({ description: '["all"] means every type.' }),
    description: t.string({ description: 'null clears it.' }),
    status: t.field({ type: WebhookStatus }),
  }),
});
const WebhookTestInput = builder.inputType('WebhookTestInput', {
  fields: (t) => ({ id: t.id({ required: true }), type: t.string({ description: 'The type of the example event.' }) }),
});

const RecoverInput = builder.inputType('RecoverInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    since: t.field({ type: 'DateTime', required: true, description: 'Events at or after this time.' }),
    until: t.field({ type: 'DateTime', description: 'Events before this time. Default: now.' }),
  }),
});

/** Converts a list of events to core's input. Core accepts the string "all", but GraphQL has only the list ["all"]. */
function eventsInput(events: readonly string[] | null | undefined): { readonly events?: readonly string[] | 'all' } {
  if (events == null) return {};
  return { events: events.length === 1 && events[0] === 'all' ? 'all' : events };
}

builder.mutationFields((t) => ({
  webhookCreate: t.field({
    type: WebhookCreateResult,
    args: { input: t.arg({ type: WebhookInput, required: true }) },
    resolve: (_, { input: { events, ...input } }, g) =>
      outcome(() => call(g, createWebhook, { ...input, ...eventsInput(events) })),
  }),
  webhookUpdate: t.field({
    type: WebhookResult,
    args: { input: t.arg({ type: WebhookUpdateInput, required: true }) },
    resolve: (_, { input: { events, ...input } }, g) =>
      outcome(async () => ({
        webhook: await call(g, updateWebhook, { ...input, ...eventsInput(events) }, ['description']),
      })),
  }),
  webhookDelete: t.field({
    type: DeleteResult,
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deleteWebhook, input)).id })),
  }),
  webhookTest: t.field({
    type: DeliveryResult,
    description: 'Sends an example event with test in its data.',
    args: { input: t.arg({ type: WebhookTestInput, required: true }) },
    resolve: (_, { input }, g) => outcome(async () => ({ delivery: await call(g, testWebhook, input) })),
  }),
  webhookSecretRotate: t.field({
    type: WebhookCreateResult,
    description: 'Rotates the secret. The old one remains valid for 24 hours.',
    args: { input: t.arg({ type: RotateInput, required: true }) },
    resolve: (_, { input }, g) => outcome(() => call(g, rotateWebhookSecret, input)),
  }),
  webhookRecover: t.field({
    type: WebhookResult,
    description: 'Resends the events that the endpoint missed in a time range.',
    args: { input: t.arg({ type: RecoverInput, required: true }) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await call(g, recoverWebhook, input);
        return { webhook: present(await g.load.webhooks.load(input.id), webhookNotFound(input.id)) };
      }),
  }),
  deliveryReplay: t.field({
    type: DeliveryResult,
    description: 'Replays a delivery with the same webhook-id.',
    args: { input: t.arg({ type: TargetInput, required: true }) },
    resolve: (_, { input: { id } }, g) =>
      outcome(async () => ({
        delivery: await callIfPresent(g, replayWebhookDelivery, async () => {
          const { webhook_id } = present(await g.load.webhookDeliveries.load(id), deliveryNotFound(id));
          return { id: webhook_id, delivery_id: id };
        }),
      })),
  }),
}));
