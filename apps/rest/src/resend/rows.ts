import type { Context } from '@postrider/core';
import * as domains from './domains.ts';
import * as emails from './emails.ts';
import type { ResendRequest } from './resend-request.ts';
import * as settings from './settings.ts';

/** A Resend method and path that has a counterpart here. */
export interface Row {
  readonly method: string;
  /** Relative to /resend. */
  readonly path: string;
  readonly status: 200 | 201;
  readonly rate_class: 'send' | 'logs' | 'default';
  readonly answer: (ctx: Context, request: ResendRequest) => Promise<unknown>;
}

function row(
  method: string,
  path: string,
  response: Row['answer'],
  rest: Partial<Pick<Row, 'status' | 'rate_class'>> = {},
): Row {
  return { method, path, answer: response, status: 200, rate_class: 'default', ...rest };
}

/** Every supported Resend route. Other Resend paths return a 404 that lists the supported ones. */
export const rows: readonly Row[] = [
  row('POST', '/emails', emails.send, { rate_class: 'send' }),
  row('POST', '/emails/batch', emails.batch, { rate_class: 'send' }),
  row('GET', '/emails', emails.list, { rate_class: 'logs' }),
  row('GET', '/emails/{id}', emails.get),
  row('PATCH', '/emails/{id}', emails.update),
  row('POST', '/emails/{id}/cancel', emails.cancel),
  row('POST', '/domains', domains.create, { status: 201 }),
  row('GET', '/domains', domains.list),
  row('GET', '/domains/{id}', domains.get),
  row('POST', '/domains/{id}/verify', domains.verify),
  row('DELETE', '/domains/{id}', domains.remove),
  row('POST', '/api-keys', settings.createApiKey, { status: 201 }),
  row('GET', '/api-keys', settings.listApiKeys),
  row('DELETE', '/api-keys/{id}', settings.removeApiKey),
  row('POST', '/webhooks', settings.addWebhook, { status: 201 }),
  row('GET', '/webhooks', settings.webhooks),
  row('GET', '/webhooks/{id}', settings.showWebhook),
  row('PATCH', '/webhooks/{id}', settings.changeWebhook),
  row('DELETE', '/webhooks/{id}', settings.removeWebhook),
  row('POST', '/webhooks/{id}/signing-secret/rotate', settings.rotateWebhook),
  row('POST', '/suppressions', settings.addSuppression, { status: 201 }),
  row('GET', '/suppressions', settings.suppressions),
  row('GET', '/suppressions/{id}', settings.showSuppression),
  row('DELETE', '/suppressions/{id}', settings.removeSuppression),
];
