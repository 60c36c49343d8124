import type { Operation } from '@postrider/core';
import { createKey, listKeys, revokeKey } from '@postrider/core/api-keys';
import { getMessage, listMessages, sendMessage } from '@postrider/core/messages';
import type { z } from 'zod';

/** One row of the /v1 surface. Paths are relative to /v1; {name} is a path parameter. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly operation: Operation<z.ZodType, unknown>;
  /** The window that a request is counted in. */
  readonly rate_class: 'send' | 'logs' | 'default';
  readonly status: 200 | 201 | 202;
  readonly max_body_bytes: number;
  /** The operation admits its own requests inside the batched accept, with key, window and scope. */
  readonly self_admitting: boolean;
}

const SMALL_BODY = 100 * 1024;
const SEND_BODY = 14 * 1024 * 1024;

function route(
  method: Route['method'],
  path: string,
  operation: Route['operation'],
  rest: Partial<Pick<Route, 'rate_class' | 'status' | 'max_body_bytes' | 'self_admitting'>> = {},
): Route {
  return {
    method,
    path,
    operation,
    rate_class: 'default',
    status: 200,
    max_body_bytes: SMALL_BODY,
    self_admitting: false,
    ...rest,
  };
}

/** The whole surface, top to bottom. */
export const routes: readonly Route[] = [
  route('POST', '/email/send', sendMessage, {
    rate_class: 'send',
    status: 202,
    max_body_bytes: SEND_BODY,
    self_admitting: true,
  }),
  route('GET', '/email/logs', listMessages, { rate_class: 'logs' }),
  route('GET', '/email/logs/{id}', getMessage, { rate_class: 'logs' }),
  route('GET', '/api-keys', listKeys),
  route('POST', '/api-keys', createKey, { status: 201 }),
  route('DELETE', '/api-keys/{key_id}', revokeKey),
];
