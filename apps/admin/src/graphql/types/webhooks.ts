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
import { connectionFrom, connectionOf, filterArg, pageArgs } from '../kit/connections.ts';
import { enumOf } from '../kit/enums.ts';
import { call, callIfPresent, page, present } from '../kit/from-operation.ts';
import { inputArg, outcome, resultOf } from '../kit/mutation-results.ts';
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

const WebhookFormat = enumOf(
  'WebhookFormat',
  webhookFormats,
  "Payload format: Postrider's own, or Resend's payload, event names and svix headers.",
);
const WebhookStatus = enumOf(
  'WebhookStatus',
  webhookStatuses,
  'DISABLED: disabled by request, by a 410 response, or after five days of failures.',
);
export const DeliveryStatus = enumOf(
  'DeliveryStatus',
  webhookDeliveryStates,
  'PENDING: not delivered yet. FAILED: no further attempts.',
);

const WebhookQualityRef = builder.objectRef<WebhookQuality>('WebhookQuality').implement({
  description: 'Attempts of the last 24 hours, at most the newest 1,000.',
  fields: (t) => ({
    attempts: t.exposeInt('attempts', { description: 'Number of attempts.' }),
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
  description: 'An endpoint that receives events.',
  id: { resolve: ({ id }) => id },
  loadMany: (ids, { load }) => load.webhooks.loadMany(ids),
  fields: (t) => ({
    url: t.field({ type: 'URL', description: 'The URL that events are sent to.', resolve: ({ url }) => url }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'A description for your team; null: none.',
    }),
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
    status: t.field({
      type: WebhookStatus,
      description: 'Whether it receives events.',
      resolve: ({ status }) => status,
    }),
    disabledReason: t.string({
      nullable: true,
      description: 'Why it was disabled: manual, gone (a 410 response) or failing; null while enabled.',
      resolve: ({ status_reason }) => status_reason,
    }),
    secretLast4: t.string({
      description: 'The last characters of the secret, to identify it.',
      resolve: ({ secret_last4 }) => secret_last4,
    }),
    previousSecretUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the previous secret stops being valid.',
      resolve: ({ previous_secret_until }) => previous_secret_until,
    }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was created.',
      resolve: ({ created_at }) => created_at,
    }),
    lastSuccessAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it last returned 2xx, to the minute; null: never.',
      resolve: ({ last_success_at }) => last_success_at,
    }),
    failingSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The time of its first failure, once no delivery has succeeded for ten minutes; null: not failing.',
      resolve: ({ failing_since }) => failing_since,
    }),
    pausedUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Paused until this time after repeated failures; null: not paused.',
      resolve: ({ paused_until }) => paused_until,
    }),
    quality: t.field({
      type: WebhookQualityRef,
      nullable: true,
      description: 'Success rate and response times of the last 24 hours; null after it is deleted.',
      complexity: QUALITY_COST,
      resolve: ({ id }, _, { load }) => load.webhookQuality.load(id),
    }),
    deliveries: t.field({
      type: WebhookDeliveryConnection,
      description: 'Deliveries, newest first.',
      args: { ...pageArgs(t), filter: filterArg(t, DeliveryFilter) },
      resolve: ({ id }, { filter, ...args }, g) =>
        filter?.webhookId == null || filter.webhookId === id
          ? page(g, listWebhookDeliveries, args, { id, ...filterInput(filter) })
          : connectionFrom(NOTHING, args.after),
    }),
  }),
});

const DeliveryWaitingReason = enumOf(
  'DeliveryWaitingReason',
  deliveryWaitingReasons,
  'ENDPOINT_PAUSED: after repeated failures. QUEUE_PAUSED: the webhook queue is held.',
);
const DeliveryWaitingRef = builder.objectRef<DeliveryWaiting>('DeliveryWaiting').implement({
  description: 'Why a pending delivery is not attempted, other than its retry schedule.',
  fields: (t) => ({
    reason: t.field({
      type: DeliveryWaitingReason,
      description: 'The cause that stops it.',
      resolve: ({ reason }) => reason,
    }),
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'The earliest next attempt; null if it waits until a hold is released or the webhook is enabled.',
      resolve: ({ until }) => until,
    }),
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
    at: t.field({ type: 'DateTime', description: 'When the request was sent.', resolve: ({ at }) => at }),
    durationMs: t.int({
      nullable: true,
      description: 'The duration in milliseconds; null: unknown.',
      resolve: ({ duration_ms }) => duration_ms,
    }),
    requestHeaders: t.field({
      type: 'JSON',
      nullable: true,
      description: 'As sent, including the signature; null if the first attempt succeeded.',
      resolve: ({ request_headers }) => request_headers,
    }),
    responseStatus: t.int({
      nullable: true,
      description: 'The HTTP status; null: no response.',
      resolve: ({ response_status }) => response_status,
    }),
    responseHeaders: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Without cookies; null without a response, or if the first attempt succeeded.',
      resolve: ({ response_headers }) => response_headers,
    }),
    responseBody: t.string({
      nullable: true,
      description: 'The first kilobyte; null: no response.',
      resolve: ({ response_body }) => response_body,
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why there was no response; null if there was one.',
    }),
  }),
});

claimIds('webhook_delivery', 'WebhookDelivery');
builder.node(WebhookDelivery, {
  description: 'The delivery of an event to a webhook.',
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
    eventType: t.string({
      description: 'The type of the event, such as email.delivered.',
      resolve: ({ event_type }) => event_type,
    }),
    webhook: t.field({
      type: Webhook,
      nullable: true,
      description: 'null after it is deleted.',
      resolve: ({ webhook_id }, _, { load }) => load.webhooks.load(webhook_id),
    }),
    status: t.field({ type: DeliveryStatus, description: 'The result so far.', resolve: ({ status }) => status }),
    attempt: t.int({ description: 'Attempts so far.', resolve: ({ attempts }) => attempts }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When the delivery was created.',
      resolve: ({ created_at }) => created_at,
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'According to the retry schedule; see waiting. null unless pending.',
      resolve: ({ next_attempt_at }) => next_attempt_at,
    }),
    waiting: t.field({
      type: DeliveryWaitingRef,
      nullable: true,
      description: 'Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold.',
      resolve: ({ waiting }) => waiting,
    }),
    lastAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last attempted; null: not yet.',
      resolve: ({ last_attempt_at }) => last_attempt_at,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it succeeded or failed permanently; null while pending.',
      resolve: ({ finished_at }) => finished_at,
    }),
    durationMs: t.int({
      nullable: true,
      description: 'Duration of the last attempt.',
      resolve: ({ duration_ms }) => duration_ms,
    }),
    responseStatus: t.int({
      nullable: true,
      description: 'HTTP status of the last response; null: no response.',
      resolve: ({ response_status }) => response_status,
    }),
    responseBody: t.string({
      nullable: true,
      description: 'The first kilobyte of the last response.',
      resolve: ({ response_body }) => response_body,
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why there was no response, or why delivery was abandoned; null: no error.',
    }),
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
    webhookId: t.id({ description: 'The webhook of the deliveries.' }),
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
    args: { ...pageArgs(t), filter: filterArg(t, DeliveryFilter) },
    resolve: (_, { filter, ...args }, g) =>
      page(g, listAllDeliveries, args, { ...filterInput(filter), webhookId: filter?.webhookId }),
  }),
);

builder.queryField('webhooks', (t) =>
  t.field({
    type: WebhookConnection,
    description: 'The webhooks of the workspace, newest first.',
    args: pageArgs(t),
    resolve: (_, args, g) => page(g, listWebhooks, args),
  }),
);

const WebhookPayload = builder.objectRef<{ readonly webhook: WebhookEntry }>('WebhookPayload').implement({
  description: 'The changed webhook.',
  fields: (t) => ({
    webhook: t.field({
      type: Webhook,
      description: 'The webhook after the change.',
      resolve: ({ webhook }) => webhook,
    }),
  }),
});
const WebhookResult = resultOf('WebhookResult', WebhookPayload);

const WebhookCreatePayload = builder
  .objectRef<WebhookEntry & { readonly secret: string }>('WebhookCreatePayload')
  .implement({
    description: 'A webhook with its new secret.',
    fields: (t) => ({
      webhook: t.field({ type: Webhook, description: 'The webhook.', resolve: (webhook) => webhook }),
      secret: t.exposeString('secret', { description: 'Only returned here.' }),
    }),
  });
const WebhookCreateResult = resultOf('WebhookCreateResult', WebhookCreatePayload);

const DeliveryPayload = builder.objectRef<{ readonly delivery: WebhookDeliveryEntry }>('DeliveryPayload').implement({
  description: 'The new or replayed delivery.',
  fields: (t) => ({
    delivery: t.field({
      type: WebhookDelivery,
      description: 'The delivery after the change.',
      resolve: ({ delivery }) => delivery,
    }),
  }),
});
const DeliveryResult = resultOf('DeliveryResult', DeliveryPayload);

const WebhookInput = builder.inputType('WebhookInput', {
  description: 'The properties of a new webhook.',
  fields: (t) => ({
    url: t.field({ type: 'URL', required: true, description: 'The URL to send events to.' }),
    events: t.stringList({ description: 'Event types. Default: all.' }),
    description: t.string({ description: 'A description for your team.' }),
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
    id: t.id({ required: true, description: 'The webhook ID.' }),
    url: t.field({ type: 'URL', description: 'The new URL to send events to.' }),
    events: t.stringList({ description: '["all"] means every type.' }),
    description: t.string({ description: 'null clears it.' }),
    status: t.field({
      type: WebhookStatus,
      description: 'DISABLED drops pending deliveries. webhookRecover resends them.',
    }),
  }),
});
const WebhookTestInput = builder.inputType('WebhookTestInput', {
  description: 'The webhook to test.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The webhook ID.' }),
    type: t.string({ description: 'The type of the example event.' }),
  }),
});

const RecoverInput = builder.inputType('RecoverInput', {
  description: 'The webhook and the time range to recover.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The webhook ID.' }),
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
    description: 'Adds a webhook endpoint. Its secret is returned once.',
    args: { input: inputArg(t, WebhookInput) },
    resolve: (_, { input: { events, ...input } }, g) =>
      outcome(() => call(g, createWebhook, { ...input, ...eventsInput(events) })),
  }),
  webhookUpdate: t.field({
    type: WebhookResult,
    description: 'Updates, disables or enables a webhook.',
    args: { input: inputArg(t, WebhookUpdateInput) },
    resolve: (_, { input: { events, ...input } }, g) =>
      outcome(async () => ({
        webhook: await call(g, updateWebhook, { ...input, ...eventsInput(events) }, ['description']),
      })),
  }),
  webhookDelete: t.field({
    type: DeleteResult,
    description: 'Deletes a webhook. It receives no more events.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ deleted_id: (await call(g, deleteWebhook, input)).id })),
  }),
  webhookTest: t.field({
    type: DeliveryResult,
    description: 'Sends an example event with test in its data.',
    args: { input: inputArg(t, WebhookTestInput) },
    resolve: (_, { input }, g) => outcome(async () => ({ delivery: await call(g, testWebhook, input) })),
  }),
  webhookSecretRotate: t.field({
    type: WebhookCreateResult,
    description: 'Rotates the secret. The old one remains valid for 24 hours.',
    args: { input: inputArg(t, RotateInput) },
    resolve: (_, { input }, g) => outcome(() => call(g, rotateWebhookSecret, input)),
  }),
  webhookRecover: t.field({
    type: WebhookResult,
    description: 'Resends the events that the endpoint missed in a time range.',
    args: { input: inputArg(t, RecoverInput) },
    resolve: (_, { input }, g) =>
      outcome(async () => {
        await call(g, recoverWebhook, input);
        return { webhook: present(await g.load.webhooks.load(input.id), webhookNotFound(input.id)) };
      }),
  }),
  deliveryReplay: t.field({
    type: DeliveryResult,
    description: 'Replays a delivery with the same webhook-id.',
    args: { input: inputArg(t, TargetInput) },
    resolve: (_, { input: { id } }, g) =>
      outcome(async () => ({
        delivery: await callIfPresent(g, replayWebhookDelivery, async () => {
          const { webhook_id } = present(await g.load.webhookDeliveries.load(id), deliveryNotFound(id));
          return { id: webhook_id, delivery_id: id };
        }),
      })),
  }),
}));
