import { fieldNames, type Reason } from '@postrider/core';
import { UNBUDGETED_BYTES } from './read-body.ts';
import type { Route } from './routes.ts';

/** Errors that every request can get before its operation runs, or if the service fails. */
export const commonReasons: readonly Reason[] = [
  'malformed_request',
  'unknown_parameter',
  'invalid_type',
  'invalid_idempotency_key',
  'missing_key',
  'malformed_key',
  'unknown_key',
  'revoked_key',
  'expired_key',
  'address_not_allowed',
  'session_ended',
  'address_rate',
  'workspace_rate',
  'session_rate',
  'unexpected',
];

const bodyReasons: readonly Reason[] = [
  'malformed_json',
  'unsupported_media_type',
  'body_too_large',
  'body_timeout',
  'missing_field',
  'misspelled_field',
];

const rateReasons = { send: 'send_rate', logs: 'logs_rate', default: 'default_rate' } as const;

/** Returns every error that a route can respond with, without its dry run's. */
export function reasonsOf(route: Route): readonly Reason[] {
  const { operation, method, path, rate_class, max_body_bytes } = route;
  const in_path = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const has_body = method !== 'GET' && fieldNames(operation.input).some((name) => !in_path.includes(name));
  return [
    ...new Set<Reason>([
      ...commonReasons,
      ...(has_body ? bodyReasons : []),
      ...(max_body_bytes > UNBUDGETED_BYTES ? ['body_budget' as const] : []),
      ...(operation.scope !== null || !operation.sandbox ? ['missing_scope' as const] : []),
      rateReasons[rate_class],
      ...(sendsMail(route) ? ['send_rate' as const] : []),
      ...operation.reasons,
    ]),
  ];
}

/**
 * Returns whether an operation sends email. Such operations are not inherently idempotent and accept an
 * Idempotency-Key.
 */
export function sendsMail({ rate_class, operation }: Route): boolean {
  return rate_class === 'send' || operation.name === 'email.resend' || operation.name === 'captures.release';
}
