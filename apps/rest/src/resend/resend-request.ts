import type { IncomingHttpHeaders } from 'node:http';
import type { Parsed } from '@postrider/core';

/** A request from a Resend client. */
export interface ResendRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Parsed<unknown>;
  readonly headers: IncomingHttpHeaders;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the fields of a body. If the body is not an object, returns an empty object so that the operation reports the
 * missing fields.
 */
export function fieldsOf({ body }: ResendRequest): Record<string, unknown> {
  if (!body.ok) throw body.error;
  return isObject(body.value) ? body.value : {};
}
