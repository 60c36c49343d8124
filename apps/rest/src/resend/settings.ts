import { AppError, type Context, invoke } from '@postrider/core';
import { createKey, listKeys, revokeKey } from '@postrider/core/api-keys';
import { getDomain } from '@postrider/core/domains';
import {
  createSuppressions,
  deleteSuppression,
  listSuppressions,
  type SuppressionEntry,
} from '@postrider/core/suppressions';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  resendNames,
  resendOrigin,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookEntry,
} from '@postrider/core/webhooks';
import { pageAfter } from './page-after.ts';
import { fieldsOf, type ResendRequest } from './resend-request.ts';

const permissions: Readonly<Record<string, readonly string[]>> = {
  full_access: ['admin'],
  sending_access: ['email:send'],
};

export async function createApiKey(ctx: Context, request: ResendRequest) {
  const { name, permission, domain_id } = fieldsOf(request);
  const scopes = permissions[String(permission ?? 'full_access')];
  const domain = domain_id == null ? null : await invoke(ctx, getDomain, { domain: domain_id });
  const { id, secret } = await invoke(ctx, createKey, {
    name,
    scopes: scopes ?? permission,
    ...(domain && { domains: [domain.name] }),
  });
  return { id, token: secret };
}

export async function listApiKeys(ctx: Context, request: ResendRequest) {
  const page = await pageAfter(ctx, listKeys, request, { status: 'active' });
  const data = page.data.map(({ id, name, created_at, last_used_at }) => ({ id, name, created_at, last_used_at }));
  return { object: 'list', has_more: page.has_more, data };
}

export async function removeApiKey(ctx: Context, { params }: ResendRequest) {
  const { id } = await invoke(ctx, revokeKey, { key_id: params.id });
  return { object: 'api_key', id, deleted: true };
}

export async function addWebhook(ctx: Context, request: ResendRequest) {
  const { endpoint, events } = fieldsOf(request);
  const { id, secret } = await invoke(ctx, createWebhook, {
    url: endpoint,
    events: events === undefined || events === null ? 'all' : ownTypes(events),
    format: 'resend',
  });
  return { object: 'webhook', id, signing_secret: secret };
}

export async function showWebhook(ctx: Context, { params }: ResendRequest) {
  return { object: 'webhook', ...webhook(await invoke(ctx, getWebhook, { id: params.id })) };
}

export async function webhooks(ctx: Context, request: ResendRequest) {
  const page = await pageAfter(ctx, listWebhooks, request);
  return { object: 'list', has_more: page.has_more, data: page.data.map(webhook) };
}

export async function changeWebhook(ctx: Context, request: ResendRequest) {
  const { endpoint, events, status } = fieldsOf(request);
  // Event names would be read as Resend's, but this endpoint's requests use other names.
  const { format } = await invoke(ctx, getWebhook, { id: request.params.id });
  if (format !== 'resend') {
    const message = `${request.params.id} uses the postrider format. Change it with PATCH /v1/webhooks/{id}.`;
    throw new AppError('invalid_type', message, { details: [{ param: 'id', reason: 'invalid_type', message }] });
  }
  const { id } = await invoke(ctx, updateWebhook, {
    id: request.params.id,
    ...(endpoint !== undefined && { url: endpoint }),
    ...(events !== undefined && { events: ownTypes(events) }),
    ...(status !== undefined && { status }),
  });
  return { object: 'webhook', id };
}

export async function removeWebhook(ctx: Context, { params }: ResendRequest) {
  const { id } = await invoke(ctx, deleteWebhook, { id: params.id });
  return { object: 'webhook', id, deleted: true };
}

export async function rotateWebhook(ctx: Context, { params }: ResendRequest) {
  const { id, secret } = await invoke(ctx, rotateWebhookSecret, { id: params.id });
  return { object: 'webhook', id, signing_secret: secret };
}

export async function addSuppression(ctx: Context, request: ResendRequest) {
  const new_suppression = await invoke(ctx, createSuppressions, { email: fieldsOf(request).email });
  if ('data' in new_suppression) throw new Error('one address was answered as a list');
  return { object: 'suppression', ...suppression(new_suppression) };
}

export async function suppressions(ctx: Context, request: ResendRequest) {
  const origin = request.query.get('origin');
  const page = await pageAfter(ctx, listSuppressions, request, origin === null ? {} : { source: origin });
  return { object: 'list', has_more: page.has_more, data: page.data.map(suppression) };
}

export async function showSuppression(ctx: Context, { params }: ResendRequest) {
  return { object: 'suppression', ...suppression(await suppressionOf(ctx, params.id ?? '')) };
}

export async function removeSuppression(ctx: Context, { params }: ResendRequest) {
  const { id } = await invoke(ctx, deleteSuppression, { email: params.id });
  return { object: 'suppression', id, deleted: true };
}

async function suppressionOf(ctx: Context, email: string): Promise<SuppressionEntry> {
  const { data } = await invoke(ctx, listSuppressions, { email });
  const [entry] = data;
  if (!entry) throw new AppError('suppression_not_found', `${email.slice(0, 100)} is not suppressed. Use its address.`);
  return entry;
}

function suppression({ id, email, source, source_event_id, created_at }: SuppressionEntry) {
  return { id, email, origin: resendOrigin(source), source_id: source_event_id, created_at };
}

/** Returns a webhook with the event names that its requests use, which are Resend's only in the Resend format. */
function webhook({ id, url, status, format, events, created_at }: WebhookEntry) {
  const names: Readonly<Record<string, string | null>> = format === 'resend' ? resendNames : {};
  const event_types = typeof events === 'string' ? null : [...new Set(events.map((type) => names[type] ?? type))];
  return { id, endpoint: url, status, events: event_types, created_at };
}

/** Returns our event types for Resend's event names. Rejects a name that has no counterpart. */
function ownTypes(events: unknown): unknown {
  if (!Array.isArray(events)) return events;
  return events.flatMap((name: unknown) => {
    const types = Object.entries(resendNames).flatMap(([type, theirs]) => (theirs === name ? [type] : []));
    if (types.length > 0) return types;
    const known = [...new Set(Object.values(resendNames))].filter((one) => one !== null).join(', ');
    const message = `${String(name).slice(0, 100)} does not exist in Postrider. Supported event types: ${known}.`;
    throw new AppError('invalid_type', message, { details: [{ param: 'events', reason: 'invalid_type', message }] });
  });
}
