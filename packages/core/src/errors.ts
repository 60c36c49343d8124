import { z } from 'zod';

/** The seven codes of every error, and the one HTTP status that each fixes on every face. */
export const httpStatus = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  unprocessable: 422,
  rate_limited: 429,
  internal_error: 500,
} as const;
export type ErrorCode = keyof typeof httpStatus;
// The keys of the table are the codes, and there is at least one.
export const errorCodes = Object.keys(httpStatus) as [ErrorCode, ...ErrorCode[]];

/**
 * Every reason a caller can be given, with its code and what it means. Documentation, the OpenAPI
 * document and the error pages are made from this table; nothing else names a reason's code.
 */
export const reasons = {
  malformed_request: ['invalid_request', 'What arrived is not a well-formed HTTP request.'],
  malformed_json: ['invalid_request', 'The body is not one JSON object in UTF-8.'],
  unsupported_media_type: ['invalid_request', 'The body was not sent as application/json without a content encoding.'],
  body_too_large: ['invalid_request', 'The body is larger than this endpoint accepts.'],
  body_timeout: ['invalid_request', 'The body did not arrive in time.'],
  missing_field: ['invalid_request', 'A required field is absent.'],
  misspelled_field: ['invalid_request', 'A field looks like a misspelling of a known one.'],
  invalid_type: ['invalid_request', 'A field has the wrong type or an impossible value.'],
  invalid_email: ['invalid_request', 'An address is not one valid mailbox.'],
  no_content: ['invalid_request', 'Neither html nor text has content.'],
  too_many_recipients: ['invalid_request', 'The to field holds more than 50 addresses.'],
  too_many_tags: ['invalid_request', 'A message carries at most 5 tags.'],
  invalid_tag: ['invalid_request', 'A tag is 1 to 64 characters of A-Z a-z 0-9 _ . : -'],
  invalid_header: ['invalid_request', 'A custom header has a bad name or value.'],
  reserved_header: ['invalid_request', 'A custom header is one that the service writes itself.'],
  invalid_timestamp: ['invalid_request', 'A timestamp is not ISO 8601 with an offset or Z.'],
  invalid_limit: ['invalid_request', 'limit is a whole number from 1 to 100.'],
  invalid_cursor: ['invalid_request', 'The cursor was not issued for this list and these filters.'],
  invalid_status: ['invalid_request', 'The status filter names an unknown status.'],
  invalid_url: ['invalid_request', 'The URL is not an absolute http or https address.'],
  invalid_domain: ['invalid_request', 'The name is not a valid domain.'],
  invalid_idempotency_key: ['invalid_request', 'An Idempotency-Key is 1 to 255 printable ASCII characters.'],
  invalid_query: ['invalid_request', 'The GraphQL document does not parse or does not fit the schema.'],
  invalid_range: ['invalid_request', 'The range of time is empty, reversed or longer than what is kept.'],
  invalid_preview: ['invalid_request', 'The preview token was not issued for this action, or its time is over.'],
  query_too_complex: ['invalid_request', 'The query asks for too much at once.'],
  missing_key: ['unauthorized', 'The request carries no API key.'],
  malformed_key: ['unauthorized', 'The Authorization header is not Bearer and one API key.'],
  unknown_key: ['unauthorized', 'No such API key exists.'],
  revoked_key: ['unauthorized', 'The API key has been revoked.'],
  expired_key: ['unauthorized', 'The API key has expired.'],
  address_not_allowed: ['unauthorized', 'The API key may not be used from this address.'],
  invalid_login: ['unauthorized', 'E-mail address and password do not belong together.'],
  session_ended: ['unauthorized', 'Nobody is signed in here, or not any more.'],
  cross_site_request: ['forbidden', 'The request did not come from a page of this service.'],
  missing_scope: ['forbidden', 'The API key lacks the scope that this action needs.'],
  reauthentication_required: [
    'forbidden',
    'The person signed in too long ago for this; it asks for the password again.',
  ],
  no_membership: ['forbidden', 'The person is a member of no workspace.'],
  key_domain_restricted: ['forbidden', 'The API key may not send from this domain.'],
  route_not_found: ['not_found', 'No endpoint has this method and path.'],
  message_not_found: ['not_found', 'No such message exists.'],
  content_gone: ['not_found', 'The content of the message is no longer kept.'],
  domain_not_found: ['not_found', 'No such domain exists.'],
  webhook_not_found: ['not_found', 'No such webhook exists.'],
  delivery_not_found: ['not_found', 'No such webhook delivery exists.'],
  api_key_not_found: ['not_found', 'No such API key exists.'],
  suppression_not_found: ['not_found', 'No such suppression exists.'],
  workspace_not_found: ['not_found', 'No such workspace exists.'],
  plan_not_found: ['not_found', 'No such plan exists.'],
  user_not_found: ['not_found', 'No such person exists.'],
  member_not_found: ['not_found', 'No such member exists.'],
  hold_not_found: ['not_found', 'No such hold exists.'],
  queue_not_found: ['not_found', 'No such queue exists.'],
  job_not_found: ['not_found', 'No such job exists.'],
  bulk_not_found: ['not_found', 'No such bulk operation exists.'],
  domain_not_verified: ['unprocessable', 'The domain of from is not a verified domain of this workspace.'],
  recipient_cap_exceeded: ['unprocessable', 'The message has more unique recipients than the plan allows.'],
  quota_exceeded: ['unprocessable', 'The monthly volume of the plan is used up.'],
  all_recipients_suppressed: ['unprocessable', 'Every recipient is on the suppression list.'],
  scheduled_in_past: ['unprocessable', 'scheduled_at is more than 60 seconds in the past.'],
  scheduled_too_far: ['unprocessable', 'scheduled_at is more than 30 days ahead.'],
  already_sent: ['unprocessable', 'An attempt has already begun.'],
  not_scheduled: ['unprocessable', 'The message does not wait for a later time.'],
  still_open: ['unprocessable', 'Somebody of the message is still to be sent to.'],
  not_matching: ['unprocessable', 'It does not match the filter any more.'],
  not_deferred: ['unprocessable', 'No recipient waits for another attempt.'],
  already_canceled: ['unprocessable', 'The message has been canceled; nothing of it is left to send.'],
  domain_already_exists: ['unprocessable', 'The workspace already has this domain.'],
  domain_claimed: ['unprocessable', 'Another workspace has verified this domain.'],
  domain_not_allowed: ['unprocessable', 'This name cannot be a sending domain.'],
  api_key_not_active: ['unprocessable', 'The API key has been revoked or has expired.'],
  already_rotated: ['unprocessable', 'Another API key has taken the place of this one already.'],
  rotation_in_progress: ['unprocessable', 'The DKIM keys of the domain are being changed already.'],
  idempotency_mismatch: ['unprocessable', 'The Idempotency-Key was used with another body.'],
  idempotency_in_progress: ['unprocessable', 'The first request with this Idempotency-Key is still under way.'],
  key_limit: ['unprocessable', 'The workspace has the highest number of active API keys of this mode.'],
  webhook_limit: ['unprocessable', 'The workspace has the highest number of webhooks of this mode.'],
  webhook_disabled: ['unprocessable', 'The webhook is disabled; nothing is posted to it.'],
  private_address: ['unprocessable', 'The host resolves to an address that is not public.'],
  suppression_exists: ['unprocessable', 'The address is already suppressed.'],
  user_exists: ['unprocessable', 'This person is known in another workspace; an operator can add them.'],
  member_exists: ['unprocessable', 'This person is a member of the workspace already.'],
  operator_exists: ['unprocessable', 'This person is an operator already.'],
  last_admin: ['unprocessable', 'Somebody must remain who can administer.'],
  plan_exists: ['unprocessable', 'There is a plan of this name already.'],
  plan_in_use: ['unprocessable', 'Workspaces are on this plan.'],
  hold_exists: ['unprocessable', 'The same is held already.'],
  job_not_open: ['unprocessable', 'The job is not in a state in which this can be done.'],
  bulk_finished: ['unprocessable', 'The bulk operation has ended.'],
  bulk_limit: ['unprocessable', 'The workspace has the highest number of bulk operations open.'],
  send_rate: ['rate_limited', 'Too many send requests in this minute.'],
  logs_rate: ['rate_limited', 'Too many log requests in this minute.'],
  default_rate: ['rate_limited', 'Too many requests in this minute.'],
  address_rate: ['rate_limited', 'Too many requests without a valid key from this address in this minute.'],
  session_rate: ['rate_limited', 'Too many calls of one session in this minute.'],
  login_rate: ['rate_limited', 'Too many attempts to sign in failed.'],
  too_many_streams: ['rate_limited', 'The key has the highest number of streams open.'],
  graphql_cost: ['rate_limited', 'The GraphQL cost budget of this minute is used up.'],
  unexpected: ['internal_error', 'The service failed; the request may be retried.'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;
export type Reason = keyof typeof reasons;

export function codeOf(reason: Reason): ErrorCode {
  return reasons[reason][0];
}

export interface ErrorDetail {
  readonly param: string;
  readonly reason: Reason;
  readonly message: string;
}

export interface ErrorFacts {
  readonly details?: readonly ErrorDetail[];
  readonly required_scope?: string;
  /** Extra public facts of one reason, such as limit, used and resets_at of quota_exceeded. */
  readonly extra?: Readonly<Record<string, string | number | null>>;
}

/** What the caller did wrong. Faces forward it; anything else that is thrown is a fault of ours. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly reason: Reason;
  readonly facts: ErrorFacts;

  constructor(reason: Reason, message: string, facts: ErrorFacts = {}) {
    super(message);
    this.name = 'AppError';
    this.code = codeOf(reason);
    this.reason = reason;
    this.facts = facts;
  }
}

// The keys of the table are its reasons, and there is at least one.
const reasonNames = Object.keys(reasons) as [Reason, ...Reason[]];
const reasonField = z
  .enum(reasonNames)
  .meta({ id: 'Reason', description: 'What exactly was wrong; branch on it beyond the code. More may come.' });

/** What everybody may see of an error, by its names on the wire. */
export const publicErrorSchema = z.looseObject({
  code: z.enum(errorCodes).meta({ description: 'Fixes the HTTP status.' }),
  reason: reasonField,
  message: z.string().meta({ description: 'What to change, for people.' }),
  details: z
    .array(
      z.object({
        param: z.string().meta({ description: 'The field, as a path.', examples: ['to[3]', 'headers.X-Campaign'] }),
        reason: reasonField,
        message: z.string(),
      }),
    )
    .readonly()
    .optional()
    .meta({ description: 'Every bad field at once.' }),
  required_scope: z.string().optional().meta({ description: 'The scope that the key lacks.' }),
});
export type PublicError = z.output<typeof publicErrorSchema>;

export function errorFields(error: AppError): PublicError {
  const { details, required_scope, extra } = error.facts;
  return {
    code: error.code,
    reason: error.reason,
    message: error.message,
    ...(details && { details }),
    ...(required_scope && { required_scope }),
    ...extra,
  };
}

/** One refusal for many bad fields: the first names the error, all of them are listed. */
export function refuseFields(details: readonly [ErrorDetail, ...ErrorDetail[]]): AppError {
  const [first] = details;
  const more = details.length > 1 ? ` (${details.length - 1} more in details)` : '';
  return new AppError(first.reason, `${first.message}${more}`, { details });
}
