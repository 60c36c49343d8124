import { program_name } from '../process/program.ts';
import type { Reason } from './errors.ts';

/** Advice for each reason, shown on the page that an error's docs_url points to. */
export const advice: Readonly<Record<Reason, string>> = {
  malformed_request:
    'Send requests with an HTTP library instead of writing them by hand. If you already do, a proxy in between may have changed the request.',
  malformed_json: 'The message gives the line and column. Serialize the body with a JSON library, in UTF-8.',
  unsupported_media_type: 'Send `Content-Type: application/json` and no `Content-Encoding`.',
  body_too_large:
    'A send or batch can be up to 14 MiB, with up to 10 MiB of html, text and attachments before base64 encoding. Other bodies can be up to 100 kB. Link to large files, or split the batch.',
  body_timeout:
    'Send the body right after the headers. A common cause is a program that keeps the connection open while it waits for something else.',
  missing_field: 'Add the field named in details.',
  misspelled_field: 'Use the name given in the message. Fields are written in snake_case, such as reply_to.',
  misplaced_field:
    'The message says where the field belongs: dry_run is a query parameter, the idempotency key is a header, and the time goes in scheduled_at.',
  unknown_parameter: 'The message lists the known parameters. To get the next page, use cursor.',
  invalid_type: 'Each invalid field is listed in details with its valid values. The API reference lists every type.',
  invalid_email:
    'Use one mailbox: a@b.c or Name <a@b.c>. The position is given in details, such as to[3]. Validate addresses when people enter them.',
  no_content: 'Send html, text or both. A common cause is a template that rendered nothing.',
  too_many_recipients: 'Send a batch with one email per person. Recipients of the same email can see each other.',
  too_many_tags: 'Keep the tags that you filter by, and move the rest to metadata.',
  invalid_tag: 'Change the tag named in details, or move the text to metadata.',
  invalid_header: 'Use only letters, digits and dashes in names, no line breaks in values, and each name once.',
  reserved_header: 'Use the corresponding field, such as reply_to, or let Postrider set the header.',
  invalid_timestamp: 'Use ISO 8601, such as 2030-01-31T09:00:00Z or 2030-01-31T10:00:00+01:00.',
  invalid_limit: 'Use a number from 1 to 100. To get more results, pass next_cursor.',
  invalid_cursor:
    'Pass next_cursor from the previous page unchanged, with the same filters. To start over, omit the cursor.',
  invalid_status: 'The message lists the valid statuses.',
  invalid_url: 'Use the full URL, such as https://example.com/hooks/postrider.',
  invalid_domain: 'Use the bare name, such as example.com: no scheme, no path, no @.',
  invalid_idempotency_key: 'Use a short string that stays the same for every retry, such as receipt-1815.',
  invalid_query: 'The message gives the position. GraphiQL at /graphiql completes field names and shows their types.',
  invalid_range: 'Choose a since that is earlier than until, both within the retention period.',
  invalid_preview: 'Create a new preview and run its token within 15 minutes, with the same key or as the same user.',
  response_too_large: 'Request fewer emails per query, or download the content from its url field.',
  query_too_complex: 'Request smaller pages, or fewer nested lists.',
  missing_key: `Send an \`Authorization: Bearer\` header with an API key. To create a key on the server, run \`${program_name} keys create --local\`.`,
  malformed_key:
    'Send the word Bearer, one space and the key, which begins with pr_live_ or pr_test_. If the key ends in …, it is an example: replace it with yours.',
  unknown_key:
    'The key belongs to another instance, or part of it is missing. Compare its prefix with the list from GET /v1/api-keys.',
  revoked_key: 'Create a new key. A revoked key cannot be restored.',
  expired_key: 'Create a new key. To avoid interruptions, rotate keys before they expire.',
  address_not_allowed:
    "Call from an IP address in the key's allowed_ips, or create a key without IP restrictions. Behind a proxy, check TRUSTED_PROXIES.",
  invalid_signature: 'Sign requests with the secret of the transport, and check the clock of the machine that signs.',
  invalid_login: `Try again, or ask an operator to reset the password and the second factor: \`${program_name} operators reset-password\`.`,
  invalid_code: `Wait for the next code, check the clock of the phone, or enter a recovery code. Without any, ask for \`${program_name} operators reset-sign-in\` on the server.`,
  session_ended: 'Sign in again.',
  cross_site_request: 'Open the page on Postrider itself. Programs should use an API key.',
  missing_scope:
    'The missing scope is given in required_scope. Use a key that has it. A key cannot grant scopes that it lacks.',
  reauthentication_required: 'Confirm your password at /login/confirm, then repeat the action.',
  code_required: 'Send the code of the authenticator app, or a recovery code, with the password.',
  factor_required: 'Add an authenticator app in Settings → Account.',
  no_membership: 'Ask an admin to add you to a workspace.',
  key_domain_restricted: "Send from one of the key's domains, or use another key.",
  route_not_found: 'Check the method and path in the API reference. Paths begin with /v1.',
  message_not_found:
    'Check the ID, and that the key belongs to the right workspace. Emails in other workspaces are not visible.',
  content_gone:
    'The content expired, was deleted by an admin, or belongs to an email sent with retain set to none. The log entry and its events remain. To send the email again, rebuild it from your own data.',
  domain_not_found: 'Add the domain first, or check which workspace the key belongs to.',
  webhook_not_found: "List the workspace's webhooks. This one may have been deleted.",
  delivery_not_found:
    "List the webhook's deliveries. They expire with their events, or after a month if events are kept forever.",
  api_key_not_found: "List the workspace's API keys.",
  suppression_not_found: 'The address is not suppressed, so there is nothing to remove.',
  workspace_not_found: 'List the workspaces as an operator.',
  plan_not_found: 'List the plans as an operator.',
  invitation_not_found: 'List the pending invitations.',
  session_not_found: 'List your sessions. This one may have ended.',
  factor_not_found: 'Add an authenticator app in Settings → Account.',
  user_not_found: 'Check the email address, or add the user.',
  member_not_found: "List the workspace's members.",
  request_not_found:
    'The request log has only rejected and failed requests, and keeps them for RETENTION_REQUESTS. Accepted emails are in the message log.',
  erasure_not_found: 'Use the ID from the response that started the erasure.',
  capture_not_found:
    'List the captured emails. They are deleted after RETENTION_CAPTURES, or earlier if the workspace exceeds its quota.',
  transport_not_found: 'List the transports.',
  hold_not_found: 'List the holds. This one may have expired.',
  alarm_not_found: 'List the alerts to get their IDs. Only admins of a workspace can see its alerts.',
  queue_not_found: 'List the queues.',
  schedule_not_found: 'List the schedules.',
  job_not_found: 'List the jobs. Finished jobs are removed after a while.',
  bulk_not_found: "List the workspace's bulk operations.",
  domain_not_verified:
    'Publish the records listed by GET /v1/domains/{domain}, then call POST /v1/domains/{domain}/verify. To try the API first, send from sandbox.test.',
  recipient_cap_exceeded: 'Send several emails, or a batch. An operator can change the plan.',
  quota_exceeded: 'Wait until resets_at, or ask an operator to change the plan. GET /v1/usage shows your usage.',
  all_recipients_suppressed:
    'These addresses bounced permanently, complained, or were added by hand. If you know that one is valid, call DELETE /v1/suppressions/{email}.',
  scheduled_in_past: "Omit scheduled_at to send now. Otherwise check your program's clock and time zone.",
  scheduled_too_far: 'Store the email in your own program until it is within that range.',
  already_sent: 'The email can no longer be changed. GET /v1/email/logs/{id} shows its status.',
  not_scheduled: 'Only scheduled emails can be rescheduled.',
  still_open: 'Wait until every recipient has a final status, or cancel the email.',
  not_matching: 'The item changed after the preview, so nothing was done to it. Create a new preview.',
  not_deferred: "Only emails with a deferred recipient can be retried. The log entry shows each recipient's status.",
  already_canceled: 'No action is needed.',
  domain_already_exists: 'Use the existing domain: GET /v1/domains/{domain}.',
  domain_claimed:
    "Remove the domain from the other workspace, remove that workspace's ownership record from DNS, then verify again.",
  domain_not_allowed: "Use a domain that you own. Public suffixes and Postrider's own names are not allowed.",
  api_key_not_active: 'Create a new key.',
  already_rotated: 'Use the replacement key, or rotate the replacement.',
  rotation_in_progress:
    'Publish the records for the new keys. The rotation completes automatically a day after they become visible.',
  idempotency_mismatch:
    'Use a new Idempotency-Key for a different email. For 24 hours a key can only be used with the same body.',
  idempotency_in_progress: "Retry with the same key in a moment to get the first request's response.",
  capture_unreadable: 'Download the raw source instead. The email is damaged or takes too long to parse.',
  key_limit: "Revoke keys that you no longer use. Each key's last_used_at shows when it was last used.",
  domain_limit: 'Remove a domain that you no longer use, or ask the operator for a larger plan.',
  webhook_limit: 'Delete a webhook, or subscribe one webhook to several event types.',
  member_limit: 'Remove a member, or ask the operator for a larger plan.',
  webhook_disabled:
    'Set its status to enabled with PATCH /v1/webhooks/{id}, then call POST /v1/webhooks/{id}/recover with the time of the first failure.',
  private_address:
    'Use a host with a public IP address. An operator can allow private networks with WEBHOOK_ALLOW_NETWORKS.',
  suppression_exists: 'No action is needed.',
  user_exists: 'Ask an operator to add the person to this workspace.',
  invitation_closed: 'Ask for a new invitation.',
  member_exists: "Change the member's role instead.",
  operator_exists: 'No action is needed.',
  last_factor: 'Replace the authenticator app instead, or ask an admin to change the sign-in policy.',
  last_admin: 'Make another member an admin first.',
  plan_exists: 'Choose another name, or update the existing plan.',
  plan_in_use: 'Move these workspaces to another plan first.',
  transport_exists: 'Choose another name.',
  transport_in_use: 'Change the rules that name it, then delete it.',
  transport_limit: 'Delete a transport that no rule names, or ask the operator for a larger plan.',
  unknown_transport: 'Create the transport first, or name one that exists.',
  hold_exists: 'Release the existing hold before you create another.',
  job_not_open: "Check the job's state. It may have run already, or someone else may have changed it first.",
  bulk_finished: 'Start a new operation.',
  bulk_limit: 'Wait until one of them ends, or cancel one.',
  erasure_limit: 'Wait until an erasure completes. GET /v1/erasures/{id} shows its status.',
  recovery_open: 'Wait until the deliveries of the first recovery have been created, then send your request again.',
  send_rate:
    'Wait for the number of seconds in Retry-After, then continue. A batch of up to 100 emails counts as one request.',
  logs_rate: 'Wait for the number of seconds in Retry-After. Use webhooks instead of polling.',
  default_rate:
    'Wait for the number of seconds in Retry-After, then continue. X-RateLimit-Remaining shows how many requests remain.',
  address_rate:
    'Wait for the number of seconds in Retry-After, then send a valid key. Requests with a valid key have their own limit.',
  workspace_rate: 'Wait for the number of seconds in Retry-After, or ask the operator for a larger plan.',
  session_rate: 'Wait for the number of seconds in Retry-After, then continue.',
  body_budget: 'Send fewer large requests in parallel, and retry after the number of seconds in Retry-After.',
  capture_busy: 'Read fewer captured emails in parallel, and retry after the number of seconds in Retry-After.',
  dkim_keys_busy: 'Retry after the number of seconds in Retry-After, with fewer requests in parallel.',
  alarm_test_rate: 'Wait for the number of seconds in Retry-After.',
  feedback_rate: 'Retry after the number of seconds in Retry-After.',
  invitation_rate: 'Wait for the number of seconds in Retry-After.',
  login_rate: 'Wait for the number of seconds in Retry-After. An operator can create a one-time sign-in link.',
  too_many_streams: 'Close streams that you no longer use. A single stream carries all events.',
  graphql_cost:
    'Wait for the number of seconds in Retry-After. Each response shows its cost and the remaining budget in extensions.cost.',
  unexpected:
    'Retry with the same Idempotency-Key. If the error persists, give the operator the request_id: the server log shows the cause.',
};
