import { z } from 'zod';

/** Each transport maps these codes to its own status codes in a total table. */
export const errorCodes = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'unprocessable',
  'rate_limited',
  'internal_error',
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/** Every reason with its code and meaning: the source for the docs, the OpenAPI document and the error pages. */
export const reasons = {
  malformed_request: ['invalid_request', 'The request is not valid HTTP.'],
  malformed_json: ['invalid_request', 'The body is not valid JSON in UTF-8.'],
  unsupported_media_type: ['invalid_request', 'The body is not application/json, or has a content encoding.'],
  body_too_large: ['invalid_request', 'The body is larger than this endpoint accepts.'],
  body_timeout: ['invalid_request', 'The body did not arrive in time.'],
  missing_field: ['invalid_request', 'A required field is missing.'],
  misspelled_field: ['invalid_request', 'A field looks like a misspelling of a known one.'],
  misplaced_field: ['invalid_request', 'A field is in the wrong place.'],
  unknown_parameter: ['invalid_request', 'The query has an unknown parameter.'],
  invalid_type: ['invalid_request', 'A field has the wrong type or an invalid value.'],
  invalid_email: ['invalid_request', 'An address is not a single valid mailbox.'],
  no_content: ['invalid_request', 'Neither html nor text has content.'],
  too_many_recipients: ['invalid_request', 'The to field has more than 50 addresses.'],
  too_many_tags: ['invalid_request', 'A message can have at most 5 tags.'],
  invalid_tag: ['invalid_request', 'Tags must be 1 to 128 printable characters.'],
  invalid_header: ['invalid_request', 'A custom header has an invalid name or value.'],
  reserved_header: ['invalid_request', 'A custom header is reserved for Postrider.'],
  invalid_timestamp: ['invalid_request', 'A timestamp is not a valid ISO 8601 date and time.'],
  invalid_limit: ['invalid_request', 'limit must be a whole number from 1 to 100.'],
  invalid_cursor: ['invalid_request', 'The cursor was not issued for this list and these filters.'],
  invalid_status: ['invalid_request', 'The status filter names an unknown status.'],
  invalid_url: ['invalid_request', 'The URL is not an absolute HTTP or HTTPS URL.'],
  invalid_domain: ['invalid_request', 'The name is not a valid domain.'],
  invalid_idempotency_key: ['invalid_request', 'An Idempotency-Key must be 1 to 255 printable ASCII characters.'],
  invalid_query: ['invalid_request', 'The GraphQL document does not parse or does not match the schema.'],
  invalid_range: ['invalid_request', 'The time range is empty, reversed or longer than the retention period.'],
  invalid_preview: ['invalid_request', 'The preview token was not issued for this action, or has expired.'],
  response_too_large: ['invalid_request', 'The response would be larger than 4 MiB.'],
  query_too_complex: ['invalid_request', 'The query exceeds the complexity limit.'],
  missing_key: ['unauthorized', 'The request has no API key.'],
  malformed_key: ['unauthorized', 'The Authorization header is not Bearer followed by one API key.'],
  unknown_key: ['unauthorized', 'The API key does not exist.'],
  revoked_key: ['unauthorized', 'The API key has been revoked.'],
  expired_key: ['unauthorized', 'The API key has expired.'],
  address_not_allowed: ['unauthorized', 'The API key cannot be used from this IP address.'],
  invalid_signature: ['unauthorized', 'The feedback request is not signed with the secret of its transport.'],
  invalid_login: ['unauthorized', 'Wrong email or password.'],
  invalid_code: ['unauthorized', 'The code of the second factor is wrong or was used.'],
  session_ended: ['unauthorized', 'No user is signed in, or the session has ended.'],
  cross_site_request: ['forbidden', 'The request did not come from a Postrider page.'],
  missing_scope: ['forbidden', 'The API key does not have the scope required for this action.'],
  reauthentication_required: ['forbidden', 'The sign-in is too old for this action; confirm the password.'],
  code_required: ['forbidden', 'The account has a second factor; the password alone is not enough.'],
  factor_required: ['forbidden', 'A policy requires a second factor, which the account does not have.'],
  no_membership: ['forbidden', 'The user is not a member of any workspace.'],
  key_domain_restricted: ['forbidden', 'The API key is not allowed to send from this domain.'],
  route_not_found: ['not_found', 'No endpoint has this method and path.'],
  message_not_found: ['not_found', 'The message does not exist.'],
  content_gone: ['not_found', 'The message content was deleted.'],
  domain_not_found: ['not_found', 'The domain does not exist.'],
  webhook_not_found: ['not_found', 'The webhook does not exist.'],
  delivery_not_found: ['not_found', 'The webhook delivery does not exist.'],
  api_key_not_found: ['not_found', 'The API key does not exist.'],
  suppression_not_found: ['not_found', 'The suppression does not exist.'],
  workspace_not_found: ['not_found', 'The workspace does not exist.'],
  plan_not_found: ['not_found', 'The plan does not exist.'],
  session_not_found: ['not_found', 'The session does not exist.'],
  factor_not_found: ['not_found', 'The account has no second factor.'],
  user_not_found: ['not_found', 'The user does not exist.'],
  invitation_not_found: ['not_found', 'The invitation does not exist.'],
  member_not_found: ['not_found', 'The member does not exist.'],
  alarm_not_found: ['not_found', 'The alert does not exist.'],
  request_not_found: ['not_found', 'The request is not in the log.'],
  erasure_not_found: ['not_found', 'The erasure does not exist.'],
  capture_not_found: ['not_found', 'The captured email does not exist.'],
  transport_not_found: ['not_found', 'The transport does not exist.'],
  hold_not_found: ['not_found', 'The hold does not exist.'],
  queue_not_found: ['not_found', 'The queue does not exist.'],
  schedule_not_found: ['not_found', 'The schedule does not exist.'],
  job_not_found: ['not_found', 'The job does not exist.'],
  bulk_not_found: ['not_found', 'The bulk operation does not exist.'],
  domain_not_verified: ['unprocessable', 'The from domain is not verified in this workspace.'],
  recipient_cap_exceeded: ['unprocessable', 'The message has more unique recipients than the plan allows.'],
  quota_exceeded: ['unprocessable', "The plan's monthly volume is used up."],
  all_recipients_suppressed: ['unprocessable', 'Every recipient is on the suppression list.'],
  scheduled_in_past: ['unprocessable', 'scheduled_at is more than 60 seconds in the past.'],
  scheduled_too_far: ['unprocessable', 'scheduled_at is more than 366 days ahead.'],
  already_sent: ['unprocessable', 'A delivery attempt has already begun.'],
  not_scheduled: ['unprocessable', 'The message is not scheduled for a later time.'],
  still_open: ['unprocessable', 'The message still has pending recipients.'],
  not_matching: ['unprocessable', 'The item no longer matches the filter.'],
  not_deferred: ['unprocessable', 'The message has no deferred recipient.'],
  already_canceled: ['unprocessable', 'The message has already been canceled.'],
  domain_already_exists: ['unprocessable', 'The workspace already has this domain.'],
  domain_claimed: ['unprocessable', 'Another workspace has verified this domain.'],
  domain_not_allowed: ['unprocessable', 'This name cannot be a sending domain.'],
  api_key_not_active: ['unprocessable', 'The API key has been revoked or has expired.'],
  already_rotated: ['unprocessable', 'The API key has already been rotated.'],
  rotation_in_progress: ['unprocessable', 'A DKIM key rotation is already in progress for this domain.'],
  idempotency_mismatch: ['unprocessable', 'The Idempotency-Key was already used with a different body.'],
  idempotency_in_progress: ['unprocessable', 'The first request with this Idempotency-Key is still in progress.'],
  capture_unreadable: ['unprocessable', 'The captured email cannot be parsed.'],
  key_limit: ['unprocessable', 'The workspace has reached its API key limit.'],
  domain_limit: ['unprocessable', 'The workspace has reached its domain limit.'],
  webhook_limit: ['unprocessable', 'The workspace has reached its webhook limit.'],
  member_limit: ['unprocessable', 'The workspace has reached its member limit.'],
  webhook_disabled: ['unprocessable', 'The webhook is disabled; no events are sent to it.'],
  private_address: ['unprocessable', 'The host resolves to a non-public address.'],
  suppression_exists: ['unprocessable', 'The address is already suppressed.'],
  user_exists: ['unprocessable', 'This user already exists in another workspace; an operator can add them.'],
  invitation_closed: ['unprocessable', 'The invitation was used, was revoked or has expired.'],
  member_exists: ['unprocessable', 'This user is already a workspace member.'],
  last_factor: ['unprocessable', 'A policy requires the second factor.'],
  operator_exists: ['unprocessable', 'This user is already an operator.'],
  last_admin: ['unprocessable', 'At least one administrator must remain.'],
  plan_exists: ['unprocessable', 'A plan with this name already exists.'],
  plan_in_use: ['unprocessable', 'Workspaces are still on this plan.'],
  transport_exists: ['unprocessable', 'A transport with this name already exists.'],
  transport_in_use: ['unprocessable', 'A rule names the transport.'],
  transport_limit: ['unprocessable', 'The instance or the workspace has reached its transport limit.'],
  unknown_transport: ['unprocessable', 'A rule names a transport that does not exist.'],
  hold_exists: ['unprocessable', 'An identical hold already exists.'],
  job_not_open: ['unprocessable', 'The job is not in a state that allows this action.'],
  bulk_finished: ['unprocessable', 'The bulk operation has ended.'],
  bulk_limit: ['unprocessable', 'The workspace has reached its limit for open bulk operations.'],
  erasure_limit: ['unprocessable', 'The workspace has reached its limit for open erasures.'],
  recovery_open: ['unprocessable', 'A recovery for this webhook is still in progress.'],
  send_rate: ['rate_limited', 'Too many send requests this minute.'],
  logs_rate: ['rate_limited', 'Too many log requests this minute.'],
  default_rate: ['rate_limited', 'Too many requests this minute.'],
  address_rate: ['rate_limited', 'This IP address has sent too many requests without a valid key this minute.'],
  workspace_rate: ['rate_limited', "Too many requests from the workspace's API keys this minute."],
  session_rate: ['rate_limited', 'Too many requests from this session this minute.'],
  body_budget: ['rate_limited', 'Too many large requests from this workspace are being read or stored.'],
  capture_busy: ['rate_limited', 'Too many captured emails in this workspace are being read.'],
  dkim_keys_busy: ['rate_limited', 'Too many DKIM keys are waiting to be generated.'],
  alarm_test_rate: ['rate_limited', 'Too many test alerts this hour.'],
  feedback_rate: ['rate_limited', 'The relay sends feedback too often, or too many of its reports are pending.'],
  invitation_rate: ['rate_limited', 'Too many invitations were emailed today.'],
  login_rate: ['rate_limited', 'Too many failed sign-in attempts.'],
  too_many_streams: ['rate_limited', 'The key has reached its limit for open streams.'],
  graphql_cost: ['rate_limited', "This minute's GraphQL cost budget is used up."],
  unexpected: ['internal_error', 'Internal error; you can retry the request.'],
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
  /** For the Retry-After header; without it the limit resets at the end of the minute. */
  readonly retry_after_seconds?: number;
  /** Extra public fields of a reason, such as limit, used and resets_at for quota_exceeded. */
  readonly extra?: Readonly<Record<string, string | number | null>>;
}

/** An error caused by the caller, which APIs return as is. Anything else that is thrown becomes an internal error. */
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

// The keys of the table are its reasons, and it has at least one.
const reasonNames = Object.keys(reasons) as [Reason, ...Reason[]];
const reasonField = z
  .enum(reasonNames)
  .meta({ id: 'Reason', description: 'The exact reason, more specific than the code. New reasons may be added.' });

/** An error as clients receive it. */
export const publicErrorSchema = z
  .looseObject({
    code: z.enum(errorCodes).meta({ description: 'The kind of error, which determines the HTTP status.' }),
    reason: reasonField,
    message: z.string().meta({ description: 'What is wrong and how to fix it, for people. The text may change.' }),
    details: z
      .array(
        z.object({
          param: z.string().meta({ description: 'The path of the field.', examples: ['to[3]', 'headers.X-Campaign'] }),
          reason: reasonField,
          message: z.string().meta({ description: 'What is wrong with this field, for people.' }),
        }),
      )
      .readonly()
      .optional()
      .meta({ description: 'All invalid fields.' }),
    required_scope: z.string().optional().meta({ description: 'The scope that the key lacks.' }),
  })
  .meta({ description: 'Why this item was rejected.' });
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

/**
 * Builds the JSON error body, the same on every path. An internal error contains only the request id, which identifies
 * its log entries.
 */
export function errorBody(error: AppError, request_id: string, public_url: string) {
  return { error: { ...errorFields(error), request_id, docs_url: `${public_url}/errors/${error.reason}` } };
}

/** Returns one error for multiple invalid fields: the first provides the reason and message, details lists all. */
export function refuseFields(details: readonly [ErrorDetail, ...ErrorDetail[]]): AppError {
  const [first] = details;
  const more = details.length > 1 ? ` (${details.length - 1} more in details)` : '';
  return new AppError(first.reason, `${first.message}${more}`, { details });
}
