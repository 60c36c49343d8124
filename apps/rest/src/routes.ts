import { DEFAULT_BODY_BYTES, type Operation, SEND_BODY_BYTES } from '@postrider/core';
import { previewMessage, sendBatch, sendMessage } from '@postrider/core/accept';
import { createKey, currentKey, listKeys, revokeKey, rotateKey } from '@postrider/core/api-keys';
import { clearCaptures, deleteCapture, getCapture, listCaptures, releaseCapture } from '@postrider/core/captures';
import {
  addDomain,
  examineDomain,
  getDomain,
  listDomains,
  removeDomain,
  rotateKeys,
  updateDomain,
  verifyDomain,
} from '@postrider/core/domains';
import { getErasure, startErasure } from '@postrider/core/erasures';
import { listEvents } from '@postrider/core/events';
import {
  cancelMessage,
  getContent,
  getMessage,
  giveUpMessage,
  listMessages,
  rescheduleMessage,
  resendMessage,
} from '@postrider/core/messages';
import { getRequest, listRequests } from '@postrider/core/requests';
import { getStats } from '@postrider/core/stats';
import { createSuppressions, deleteSuppression, listSuppressions } from '@postrider/core/suppressions';
import { getUsage } from '@postrider/core/usage';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  getWebhookDelivery,
  listWebhookDeliveries,
  listWebhooks,
  recoverWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from '@postrider/core/webhooks';
import type { z } from 'zod';

/** A route of the /v1 API. Paths are relative to /v1, and {name} is a path parameter. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operation: Operation<z.ZodType, unknown>;
  /** The operationId in the OpenAPI document: the operation's name, unless two routes share the operation. */
  readonly operation_id: string;
  /** The window that the request counts against. */
  readonly rate_class: 'send' | 'logs' | 'default';
  readonly status: 200 | 201 | 202;
  readonly max_body_bytes: number;
  /** The operation for ?dry_run=true, if there is one. */
  readonly dry_run_operation: Operation<z.ZodType, unknown> | null;
  /** Whether the submit batcher checks the operation's key, window, and scope. */
  readonly self_admitting: boolean;
}

function route(
  method: Route['method'],
  path: string,
  operation: Route['operation'],
  rest: Partial<Omit<Route, 'method' | 'path' | 'operation'>> = {},
): Route {
  return {
    method,
    path,
    operation,
    operation_id: operation.name.replace(/\W/g, '_'),
    rate_class: 'default',
    status: 200,
    max_body_bytes: DEFAULT_BODY_BYTES,
    self_admitting: false,
    dry_run_operation: null,
    ...rest,
  };
}

const sending = { rate_class: 'send', status: 202, max_body_bytes: SEND_BODY_BYTES, self_admitting: true } as const;

/** Every endpoint of /v1. */
export const routes: readonly Route[] = [
  route('POST', '/email/send', sendMessage, { ...sending, dry_run_operation: previewMessage }),
  route('POST', '/email/batch', sendBatch, sending),
  route('GET', '/email/logs', listMessages, { rate_class: 'logs' }),
  route('GET', '/email/logs/{id}', getMessage),
  route('GET', '/email/{id}', getMessage, { operation_id: 'email_show' }),
  route('PATCH', '/email/{id}', rescheduleMessage),
  route('POST', '/email/{id}/cancel', cancelMessage),
  route('POST', '/email/{id}/resend', resendMessage, { status: 202 }),
  route('POST', '/email/{id}/give-up', giveUpMessage),
  route('GET', '/email/{id}/content', getContent),
  route('GET', '/events', listEvents),
  route('GET', '/webhooks', listWebhooks),
  route('POST', '/webhooks', createWebhook, { status: 201 }),
  route('GET', '/webhooks/{id}', getWebhook),
  route('PATCH', '/webhooks/{id}', updateWebhook),
  route('DELETE', '/webhooks/{id}', deleteWebhook),
  route('POST', '/webhooks/{id}/test', testWebhook),
  route('POST', '/webhooks/{id}/rotate-secret', rotateWebhookSecret),
  route('POST', '/webhooks/{id}/recover', recoverWebhook),
  route('GET', '/webhooks/{id}/deliveries', listWebhookDeliveries),
  route('GET', '/webhooks/{id}/deliveries/{delivery_id}', getWebhookDelivery),
  route('POST', '/webhooks/{id}/deliveries/{delivery_id}/replay', replayWebhookDelivery),
  route('GET', '/suppressions', listSuppressions),
  route('POST', '/suppressions', createSuppressions, { status: 201 }),
  route('DELETE', '/suppressions/{email}', deleteSuppression),
  route('GET', '/api-keys', listKeys),
  route('GET', '/api-keys/current', currentKey),
  route('POST', '/api-keys', createKey, { status: 201 }),
  route('POST', '/api-keys/{key_id}/rotate', rotateKey, { status: 201 }),
  route('DELETE', '/api-keys/{key_id}', revokeKey),
  route('GET', '/domains', listDomains),
  route('POST', '/domains', addDomain, { status: 201 }),
  route('GET', '/domains/{domain}', getDomain),
  route('GET', '/domains/{domain}/doctor', examineDomain),
  route('PATCH', '/domains/{domain}', updateDomain),
  route('DELETE', '/domains/{domain}', removeDomain),
  route('POST', '/domains/{domain}/verify', verifyDomain),
  route('POST', '/domains/{domain}/rotate-keys', rotateKeys),
  route('GET', '/captures', listCaptures),
  route('DELETE', '/captures', clearCaptures),
  route('GET', '/captures/{id}', getCapture),
  route('DELETE', '/captures/{id}', deleteCapture),
  route('POST', '/captures/{id}/release', releaseCapture, { status: 202 }),
  route('POST', '/erasures', startErasure, { status: 202 }),
  route('GET', '/erasures/{id}', getErasure),
  route('GET', '/requests', listRequests),
  route('GET', '/requests/{id}', getRequest),
  route('GET', '/usage', getUsage),
  route('GET', '/stats', getStats),
];
