// Written by `node scripts/write-sdk.ts` from docs/openapi.json.

export interface Acknowledgement {
  id: string;
  /** Always queued, even for scheduled email. */
  status: "queued";
  created_at: string;
}

export interface ApiKey {
  object: "api_key";
  id: string;
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  status: "active" | "revoked" | "expired" | (string & {});
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
}

export interface Attachment {
  readonly filename: string;
  readonly content: string;
  /** Derived from the filename by default. */
  readonly content_type?: string | null | undefined;
  /** Lets html reference the attachment as cid:… */
  readonly content_id?: string | null | undefined;
}

export interface Attempt {
  id: string;
  recipient_id: string;
  /** 1 for the first attempt. */
  number: number;
  /** unknown: the connection or worker was lost after DATA, so the email may have been delivered. */
  outcome: "accepted" | "deferred" | "rejected" | "unknown" | (string & {});
  /** The rejection category: mailbox, domain, quota, policy, reputation, authentication, content, throttled, protocol, network, signing, other. */
  category: string | null;
  /** The SMTP stage reached; worker_lost if the worker died before recording it. */
  stage: string;
  /** The server contacted; empty if none. */
  target: string;
  /** The IP address of the server. */
  address: string | null;
  /** The TLS policy of the session. */
  tls_policy: string | null;
  tls: {
    protocol: string;
    cipher: string;
    authorized: boolean;
  } | null;
  reply: {
    code: number;
    enhanced: string | null;
    text: string;
  } | null;
  error: string | null;
  /** Duration of each stage in milliseconds. */
  phases_ms: {
    connect: number;
    tls: number;
    mail: number;
    data: number;
  };
  transcript: string | null;
  started_at: string;
  finished_at: string;
}

export interface Bounce {
  /** hard: the mailbox or its domain does not exist. Unknown causes are soft. */
  class: "hard" | "soft" | (string & {});
  category: "mailbox" | "domain" | "quota" | "policy" | "reputation" | "authentication" | "content" | "throttled" | "protocol" | "network" | "signing" | "other" | (string & {});
  /** The enhanced status code, or the reply code. */
  code: string | null;
}

export interface Capture {
  object: "capture";
  id: string;
  /** The envelope sender; empty for a bounce. */
  from: string;
  /** The From address of email sent through Postrider; otherwise the envelope sender. */
  sender: string;
  /** The envelope recipients. */
  to: (string)[];
  subject: string;
  /** null: sent by another application. */
  email_id: string | null;
  size_bytes: number;
  received_at: string;
}

export interface CaptureDetail {
  object: "capture";
  id: string;
  /** The envelope sender; empty for a bounce. */
  from: string;
  /** The From address of email sent through Postrider; otherwise the envelope sender. */
  sender: string;
  /** The envelope recipients. */
  to: (string)[];
  subject: string;
  /** null: sent by another application. */
  email_id: string | null;
  size_bytes: number;
  received_at: string;
  html: string | null;
  text: string | null;
  /** Decoded, in message order. */
  headers: ({
      name: string;
      value: string;
  })[];
  attachments: ({
      filename: string | null;
      content_type: string;
      size_bytes: number;
      content_id: string | null;
  })[];
  /** From html, then from text, without duplicates. */
  links: (string)[];
  /** One-time codes found in the text. */
  codes: (string)[];
  /** The raw source, truncated to one megabyte. */
  raw: string;
}

/** A recipient's status. While any recipient is open, an email has the least advanced open status, in the order scheduled, queued, deferred, sending. Once all recipients are closed, it has the worst status, in the order of the remaining values. */
export type DeliveryStatus = "scheduled" | "queued" | "deferred" | "sending" | "failed" | "bounced" | "complained" | "suppressed" | "canceled" | "delivered" | (string & {});

export interface DeliveryWaiting {
  reason: "endpoint_disabled" | "hold" | "queue_paused" | "endpoint_paused" | (string & {});
  /** The earliest next attempt; null if it waits until a hold is released or the webhook is enabled. */
  until: string | null;
  /** With hold and queue_paused: the hold. */
  hold_id: string | null;
}

export interface DnsRecord {
  purpose: "ownership" | "dkim" | "return_path" | "spf" | "dmarc" | (string & {});
  /** Whether verification requires this record. */
  required: boolean;
  type: "TXT" | "CNAME" | "MX" | (string & {});
  /** As entered at a DNS provider: without the zone, @ for the zone itself. */
  host: string;
  fqdn: string;
  value: string;
  ttl: number;
  status: "pending" | "ok" | "missing" | "mismatch" | "truncated" | "multiple" | "lookup_error" | (string & {});
  /** Values found by the last check. */
  found: (string)[];
  /** The results by name server, authoritative first. Caches are only queried if the authoritative record is correct. */
  observed: ({
      resolver: string;
      /** Whether the server is authoritative for the zone, not a cache. */
      authoritative: boolean;
      /** The first five. */
      values: (string)[];
      /** In seconds; null if not found. */
      ttl: number | null;
      checked_at: string;
  })[];
  /** The exact problem; null before the first check. */
  diagnosis: "right" | "stale" | "missing" | "host_doubled" | "wrong_name" | "alias_in_the_way" | "proxied" | "mismatch" | "key_revoked" | "truncated" | "split_wrongly" | "two_records" | "spf_too_many_lookups" | "dmarc_misaligned" | "lookup_failed" | (string & {}) | null;
  /** How to fix it. */
  hint: string | null;
  /** For a dkim record: whether its key signs, will sign, or signed email that is still in transit. */
  key_role: "next" | "active" | "retired" | (string & {}) | null;
}

export interface Domain {
  object: "domain";
  id: string;
  name: string;
  status: "pending" | "verified" | "at_risk" | "failed" | "suspended" | (string & {});
  can_send: boolean;
  /** The reason for the status. */
  status_reason: string | null;
  /** The return path for bounces; null: the service default. */
  return_path: string | null;
  /** Whether email gets a second DKIM signature (Ed25519). */
  dkim_ed25519: boolean;
  created_at: string;
  verified_at: string | null;
  last_checked_at: string | null;
  next_check_at: string | null;
  dns_records: (DnsRecord)[];
}

export interface DomainExamination {
  object: "domain_examination";
  name: string;
  /** Whether the workspace has this domain; if not, it has no keys. */
  added: boolean;
  status: "pending" | "verified" | "at_risk" | "failed" | "suspended" | (string & {}) | null;
  /** Whether there are no problems. Recommended records may still be missing. */
  healthy: boolean;
  dns_records: (DnsRecord)[];
  /** The records as a zone file fragment. */
  zone_file: string;
  /** Setup steps for any DNS provider, as text. */
  steps: (string)[];
}

export interface Erasure {
  object: "erasure";
  id: string;
  status: "queued" | "running" | "completed" | (string & {});
  counts: {
    recipients: number;
    /** Recipients whose pending email was canceled. */
    canceled: number;
    /** Emails whose addresses, subject, tags or metadata were redacted. */
    messages: number;
    bodies: number;
    /** Content kept because other people received it too. */
    bodies_kept: number;
    attempts: number;
    transcripts: number;
    events: number;
    webhook_deliveries: number;
    captures: number;
    requests: number;
    idempotency_keys: number;
    /** Kept as a hash. */
    suppressions: number;
    /** Statistics, failures, bulk operations and jobs. */
    other_rows: number;
  };
  /** Where the address may still be stored. */
  remains: (string)[];
  created_at: string;
  finished_at: string | null;
}

export interface ErrorAnswer {
  error: {
    /** The kind of error, which determines the HTTP status. */
    code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
    reason: Reason;
    /** How to fix the error. */
    message: string;
    /** All invalid fields. */
    details?: ({
        /** The path of the field. */
        param: string;
        reason: Reason;
        message: string;
    })[];
    /** The scope that the key lacks. */
    required_scope?: string;
    /** Identifies the request in the log. Include it when you ask for help. */
    request_id: string;
    /** Documentation for the reason. */
    docs_url: string;
    [fact: string]: unknown;
  };
}

export interface EventBase {
  id: string;
  type: string;
  created_at: string;
  /** Increases by one per message event; 0 for events without a message. */
  sequence: number;
  email_id: string | null;
  recipient_id: string | null;
  /** What the event is about, with details that depend on its type. */
  data: {
    email: {
      id: string;
      from: string;
      to: (string)[];
      subject: string;
      tags: (string)[];
      metadata: Record<string, string>;
      message_id: string;
      created_at: string;
    } | null;
    /** The recipient, with the status that the event set; null: the event applies to the whole message. */
    recipient: {
      id: string;
      email: string;
      status: string;
    } | null;
    [fact: string]: unknown;
  };
}

export interface ExplainedRecipient {
  id: string;
  email: string;
  kind: "to" | "cc" | "bcc" | (string & {});
  status: DeliveryStatus;
  /** Whether the email went to the test inbox instead of a mail server. That counts as delivered. */
  captured: boolean;
  attempts: number;
  /** The last response from the receiving server. */
  last_response: string | null;
  next_attempt_at: string | null;
  /** Why it bounced; null if the status is not bounced, or once the event has expired. */
  bounce: Bounce | null;
  /** Why it has not been sent yet; null while sending and when closed. */
  waiting: Waiting | null;
  /** What last_response means, while deferred and after a bounce or failure. Its texts may change. */
  explanation: Explanation | null;
}

export interface Explanation {
  cause: "mailbox_unknown" | "address_malformed" | "address_ambiguous" | "mailbox_moved" | "mailbox_disabled" | "mailbox_other" | "list_failed" | "list_closed" | "owner_changed" | "mailbox_full" | "server_full" | "domain_unknown" | "domain_accepts_none" | "routing" | "sender_address" | "not_authenticated" | "policy_or_records" | "dkim_failed" | "spf_failed" | "dmarc_failed" | "reverse_dns" | "login_failed" | "tls_required" | "tls_failed" | "ip_blocked" | "unsolicited" | "reputation" | "spam" | "virus" | "too_large" | "content_unsupported" | "malformed" | "rate_limited" | "mailbox_rate" | "greylisted" | "not_permitted" | "known_senders_only" | "relaying" | "too_many_recipients" | "protocol" | "server_unavailable" | "unreachable" | "dns_failed" | "connection_lost" | "expired" | "signing_failed" | "content_deleted" | "other" | (string & {});
  /** The mailbox provider whose wording was recognized. */
  provider: string | null;
  /** What happened. */
  meaning: string;
  /** What the sender can do. */
  action: string;
}

export interface LogEntry {
  object: "email";
  id: string;
  /** The least advanced open status among its recipients or, once all of them are closed, the worst status. */
  status: DeliveryStatus;
  /** Whether any recipient was captured. */
  captured: boolean;
  from: string;
  to: (string)[];
  cc: (string)[];
  bcc: (string)[];
  reply_to: string | null;
  subject: string;
  tags: (string)[];
  metadata: Record<string, string>;
  created_at: string;
  scheduled_at: string | null;
  /** The start of the first attempt. */
  sent_at: string | null;
  delivered_at: string | null;
  priority: Priority;
  retain: Retain;
  recipients: (Recipient)[];
  last_event: {
    type: string;
    at: string;
  };
  /** The Message-ID header of every copy. */
  message_id: string;
  api_key_id: string | null;
  request_id: string;
  /** Approximate size of bodies and encoded attachments. */
  size_bytes: number;
  /** The message that this one resends. */
  resend_of: string | null;
}

export interface LogEntryDetail {
  object: "email";
  id: string;
  /** The least advanced open status among its recipients or, once all of them are closed, the worst status. */
  status: DeliveryStatus;
  /** Whether any recipient was captured. */
  captured: boolean;
  from: string;
  to: (string)[];
  cc: (string)[];
  bcc: (string)[];
  reply_to: string | null;
  subject: string;
  tags: (string)[];
  metadata: Record<string, string>;
  created_at: string;
  scheduled_at: string | null;
  /** The start of the first attempt. */
  sent_at: string | null;
  delivered_at: string | null;
  priority: Priority;
  retain: Retain;
  recipients: (ExplainedRecipient)[];
  last_event: {
    type: string;
    at: string;
  };
  /** The Message-ID header of every copy. */
  message_id: string;
  api_key_id: string | null;
  request_id: string;
  /** Approximate size of bodies and encoded attachments. */
  size_bytes: number;
  /** The message that this one resends. */
  resend_of: string | null;
  events: (EventBase)[];
  attempts: (Attempt)[];
}

/** Current use of the resources that the plan limits. */
export interface PlanUse {
  /** Active live and sandbox keys. */
  api_keys: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Not counting the sandbox domain. */
  domains: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Live and sandbox webhooks. */
  webhooks: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  members: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Requests from all API keys this minute. Not counted if there is no limit. */
  workspace_rate: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Above the limit, the oldest captured email is deleted. */
  capture_bytes: {
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
}

/** The email's priority within its workspace. While emails of all three priorities wait for a destination, they are sent in a ratio of 8:4:1. The priority is not added to the headers. */
export type Priority = "high" | "normal" | "bulk" | (string & {});

/** The exact reason, more specific than the code. New reasons may be added. */
export type Reason = "malformed_request" | "malformed_json" | "unsupported_media_type" | "body_too_large" | "body_timeout" | "missing_field" | "misspelled_field" | "misplaced_field" | "unknown_parameter" | "invalid_type" | "invalid_email" | "no_content" | "too_many_recipients" | "too_many_tags" | "invalid_tag" | "invalid_header" | "reserved_header" | "invalid_timestamp" | "invalid_limit" | "invalid_cursor" | "invalid_status" | "invalid_url" | "invalid_domain" | "invalid_idempotency_key" | "invalid_query" | "invalid_range" | "invalid_preview" | "response_too_large" | "query_too_complex" | "missing_key" | "malformed_key" | "unknown_key" | "revoked_key" | "expired_key" | "address_not_allowed" | "invalid_login" | "session_ended" | "cross_site_request" | "missing_scope" | "reauthentication_required" | "no_membership" | "key_domain_restricted" | "route_not_found" | "message_not_found" | "content_gone" | "domain_not_found" | "webhook_not_found" | "delivery_not_found" | "api_key_not_found" | "suppression_not_found" | "workspace_not_found" | "plan_not_found" | "user_not_found" | "invitation_not_found" | "member_not_found" | "alarm_not_found" | "request_not_found" | "erasure_not_found" | "capture_not_found" | "hold_not_found" | "queue_not_found" | "schedule_not_found" | "job_not_found" | "bulk_not_found" | "domain_not_verified" | "recipient_cap_exceeded" | "quota_exceeded" | "all_recipients_suppressed" | "scheduled_in_past" | "scheduled_too_far" | "already_sent" | "not_scheduled" | "still_open" | "not_matching" | "not_deferred" | "already_canceled" | "domain_already_exists" | "domain_claimed" | "domain_not_allowed" | "api_key_not_active" | "already_rotated" | "rotation_in_progress" | "idempotency_mismatch" | "idempotency_in_progress" | "capture_unreadable" | "key_limit" | "domain_limit" | "webhook_limit" | "member_limit" | "webhook_disabled" | "private_address" | "suppression_exists" | "user_exists" | "invitation_closed" | "member_exists" | "operator_exists" | "last_admin" | "plan_exists" | "plan_in_use" | "hold_exists" | "job_not_open" | "bulk_finished" | "bulk_limit" | "erasure_limit" | "recovery_open" | "send_rate" | "logs_rate" | "default_rate" | "address_rate" | "workspace_rate" | "session_rate" | "body_budget" | "capture_busy" | "alarm_test_rate" | "invitation_rate" | "login_rate" | "too_many_streams" | "graphql_cost" | "unexpected" | (string & {});

export interface Recipient {
  id: string;
  email: string;
  kind: "to" | "cc" | "bcc" | (string & {});
  status: DeliveryStatus;
  /** Whether the email went to the test inbox instead of a mail server. That counts as delivered. */
  captured: boolean;
  attempts: number;
  /** The last response from the receiving server. */
  last_response: string | null;
  next_attempt_at: string | null;
  /** Why it bounced; null if the status is not bounced, or once the event has expired. */
  bounce: Bounce | null;
  /** Why it has not been sent yet; null while sending and when closed. */
  waiting: Waiting | null;
}

export interface RequestLogEntry {
  object: "request";
  id: string;
  at: string;
  api: "rest" | "trpc" | (string & {});
  method: string;
  /** The route without IDs and addresses. */
  path: string;
  status: number;
  code: string;
  reason: string;
  /** With masked addresses. */
  message: string;
  api_key_id: string | null;
  user_id: string | null;
  duration_ms: number;
  faults: ({
      /** The field as a JSON pointer. */
      pointer: string;
      reason: string;
      message: string;
  })[];
  /** The request body, up to 4 kB, with addresses masked and content omitted; null if there was no body. */
  body: unknown;
}

/** none: html, text and attachments are deleted within a minute of the last attempt; the log, events and attempts are kept. */
export type Retain = "default" | "none" | (string & {});

export type Scope = "email:send" | "email:logs:read" | "domains:read" | "domains:write" | "webhooks:manage" | "admin" | "operator" | (string & {});

export interface SendRequest {
  /** The sender, a@b.c or Name <a@b.c>. The workspace must have verified its domain. */
  readonly from: string;
  /** Up to 50 addresses, each a@b.c or Name <a@b.c>. The plan limits the total across to, cc and bcc. */
  readonly to: string | readonly (string)[];
  readonly subject: string;
  /** At least one of html and text must not be empty. */
  readonly html?: string | null | undefined;
  /** Derived from html by default. */
  readonly text?: string | null | undefined;
  readonly cc?: string | readonly (string)[] | null | undefined;
  /** Not added to the headers. */
  readonly bcc?: string | readonly (string)[] | null | undefined;
  readonly reply_to?: string | null | undefined;
  readonly headers?: Record<string, string | number | boolean> | null | undefined;
  readonly tags?: readonly (string)[] | null | undefined;
  readonly metadata?: Record<string, string | number | boolean> | null | undefined;
  /** At most 10 MiB decoded, including html and text. */
  readonly attachments?: readonly (Attachment)[] | null | undefined;
  /** ISO 8601, UTC if there is no offset, up to 366 days ahead. A time up to 60 seconds in the past means now. */
  readonly scheduled_at?: string | null | undefined;
  readonly priority?: Priority | null | undefined;
  readonly retain?: Retain | null | undefined;
}

export interface Suppression {
  object: "suppression";
  id: string;
  /** Lowercase; matching is case-insensitive. */
  email: string;
  /** The server response, or the reason from the request. */
  reason: string | null;
  /** How the address was added. */
  source: "manual" | "import" | "bounce" | "complaint" | (string & {});
  /** The event that caused it. */
  source_event_id: string | null;
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
}

/** Each unique recipient counts as one email. */
export interface Usage {
  object: "usage";
  /** The calendar month in UTC. */
  month: string;
  used: number;
  /** null: the plan has no monthly limit. */
  limit: number | null;
  remaining: number | null;
  resets_at: string;
  by_day: ({
      date: string;
      used: number;
  })[];
  plan_use: PlanUse;
}

export interface Waiting {
  reason: "scheduled" | "retry_backoff" | "hold" | "queue_paused" | "throttled" | "no_worker" | "in_line" | (string & {});
  until: string | null;
  last_reply: string | null;
  /** With hold and queue_paused: what is stopped, and why. */
  hold: {
    id: string;
    reason: string;
    expires_at: string | null;
  } | null;
  /** With throttled: a failing destination, a limit set by an operator, or the resume rate after a hold. */
  policy: {
    kind: "destination_failures" | "destination_limit" | "resume_rate" | (string & {});
    destination: string | null;
    connections: number | null;
    messages_per_minute: number | null;
  } | null;
  /** With no_worker: when a worker was last seen, or when the email became due if no worker has ever been seen. */
  since: string | null;
  /** With in_line: the number of unclaimed deliveries ahead, counted up to 10000. For email that waits for its destination, only deliveries of the same workspace and priority count, up to 1000. Null in lists. */
  ahead: number | null;
  /** With in_line: the estimated wait, based on the last minute's rate. Null if unknown, and in lists. */
  eta_seconds: number | null;
}

export interface Webhook {
  object: "webhook";
  id: string;
  url: string;
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  created_at: string;
  /** When it last returned 2xx, to the minute. */
  last_success_at: string | null;
  /** The time of its first failure, once no delivery has succeeded for ten minutes. */
  failing_since: string | null;
  /** Paused until this time after repeated failures. */
  paused_until: string | null;
}

export interface WebhookDelivery {
  object: "webhook_delivery";
  id: string;
  webhook_id: string;
  /** The webhook-id header of every attempt. */
  event_id: string;
  event_type: string;
  status: "pending" | "delivered" | "failed" | (string & {});
  attempts: number;
  created_at: string;
  /** According to the retry schedule; see waiting. */
  next_attempt_at: string | null;
  /** Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold. */
  waiting: DeliveryWaiting | null;
  last_attempt_at: string | null;
  /** Duration of the last attempt. */
  duration_ms: number | null;
  /** When it succeeded or failed permanently. */
  finished_at: string | null;
  /** HTTP status of the last response. */
  response_status: number | null;
  /** The first kilobyte of the last response. */
  response_body: string | null;
  /** Why there was no response, or why delivery was abandoned. */
  error: string | null;
}

export interface WebhookDeliveryDetail {
  object: "webhook_delivery";
  id: string;
  webhook_id: string;
  /** The webhook-id header of every attempt. */
  event_id: string;
  event_type: string;
  status: "pending" | "delivered" | "failed" | (string & {});
  attempts: number;
  created_at: string;
  /** According to the retry schedule; see waiting. */
  next_attempt_at: string | null;
  /** Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold. */
  waiting: DeliveryWaiting | null;
  last_attempt_at: string | null;
  /** Duration of the last attempt. */
  duration_ms: number | null;
  /** When it succeeded or failed permanently. */
  finished_at: string | null;
  /** HTTP status of the last response. */
  response_status: number | null;
  /** The first kilobyte of the last response. */
  response_body: string | null;
  /** Why there was no response, or why delivery was abandoned. */
  error: string | null;
  /** Current URL of the webhook; null after it is deleted. */
  url: string | null;
  /** The request body; null after the event expires. */
  request_body: unknown;
  /** The newest 50 attempts, oldest first. */
  posts: (WebhookPost)[];
}

export interface WebhookPost {
  /** 1 for the first attempt since the delivery started or was replayed. */
  number: number;
  /** When the request was sent. */
  at: string;
  duration_ms: number | null;
  /** As sent, including the signature; null if the first attempt succeeded. */
  request_headers: Record<string, string> | null;
  /** null: no response. */
  response_status: number | null;
  /** Without cookies; null if the first attempt succeeded. */
  response_headers: Record<string, string> | null;
  /** The first kilobyte. */
  response_body: string | null;
  error: string | null;
}

export interface EmailSendDryRunAnswer {
  object: "email_preview";
  status: "queued" | "scheduled" | (string & {});
  scheduled_at: string | null;
  recipients: ({
      email: string;
      kind: "to" | "cc" | "bcc" | (string & {});
      verdict: "would_send" | "suppressed" | (string & {});
  })[];
  /** The email as it would be sent, before signing. */
  mime: string;
}

export interface EmailBatchAnswer {
  data: (Acknowledgement | {
      error: {
        /** The kind of error, which determines the HTTP status. */
        code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
        reason: Reason;
        /** How to fix the error. */
        message: string;
        /** All invalid fields. */
        details?: ({
            /** The path of the field. */
            param: string;
            reason: Reason;
            message: string;
        })[];
        /** The scope that the key lacks. */
        required_scope?: string;
        [fact: string]: unknown;
      };
  })[];
}

export type EmailBatchBody = readonly (SendRequest)[] | {
  readonly messages: readonly (SendRequest)[];
  /** If one message is rejected, the whole batch is rejected and nothing is sent. */
  readonly all_or_nothing?: boolean | null | undefined;
};

export interface EmailLogsQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: scheduled, queued, deferred, sending, failed, bounced, complained, suppressed, canceled, delivered. */
  readonly status?: string | undefined;
  /** A tag; repeat the parameter to require several tags. */
  readonly tag?: string | readonly (string)[] | undefined;
  /** A recipient, including cc and bcc. */
  readonly to?: string | undefined;
  /** One address: a@b.c or Name <a@b.c>. */
  readonly from?: string | undefined;
  /** Sender domain. */
  readonly domain?: string | undefined;
  /** A recipient domain, including cc and bcc. */
  readonly to_domain?: string | undefined;
  readonly priority?: Priority | undefined;
  /** Created at or after this time. */
  readonly since?: string | undefined;
  /** Created before this time. */
  readonly until?: string | undefined;
}

export interface EmailRescheduleBody {
  /** ISO 8601, UTC if there is no offset, up to 366 days ahead. A time up to 60 seconds in the past means now. */
  readonly scheduled_at: string;
}

export interface EmailGiveUpBody {
  /** Reason for the audit log. */
  readonly reason?: string | null | undefined;
}

export interface EmailContentAnswer {
  object: "email_content";
  id: string;
  html: string | null;
  text: string | null;
  /** The custom headers. */
  headers: Record<string, string>;
  attachments: ({
      filename: string;
      /** As given in the request; null if derived from the filename. */
      content_type: string | null;
      content_id: string | null;
      size_bytes: number;
  })[];
  /** The MIME source sent to every recipient, before signing. */
  raw: string;
}

export interface EventsListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: email.queued, email.scheduled, email.delivered, email.delivery_delayed, email.bounced, email.complained, email.failed, email.suppressed, email.canceled, domain.verified, domain.at_risk, domain.failed, webhook.failing, webhook.disabled, suppression.added, suppression.removed, quota.warning. */
  readonly type?: string | undefined;
  /** Only events of this email. */
  readonly email_id?: string | undefined;
  /** At or after this time. */
  readonly since?: string | undefined;
  /** Before this time. */
  readonly until?: string | undefined;
}

export interface WebhooksListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
}

export interface WebhooksCreateAnswer {
  object: "webhook";
  id: string;
  url: string;
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  created_at: string;
  /** When it last returned 2xx, to the minute. */
  last_success_at: string | null;
  /** The time of its first failure, once no delivery has succeeded for ten minutes. */
  failing_since: string | null;
  /** Paused until this time after repeated failures. */
  paused_until: string | null;
  /** Returned once. Use it to verify Standard Webhooks signatures. */
  secret: string;
}

export interface WebhooksCreateBody {
  readonly url: string;
  /** all, or a list of event types. */
  readonly events?: "all" | readonly ("email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning")[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly format?: "postrider" | "resend" | null | undefined;
  /** The mode whose events it receives. The default is sandbox for sandbox keys and live otherwise. */
  readonly mode?: "live" | "sandbox" | null | undefined;
}

export interface WebhooksUpdateBody {
  readonly url?: string | null | undefined;
  /** all, or a list of event types. */
  readonly events?: "all" | readonly ("email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning")[] | null | undefined;
  readonly description?: string | null | undefined;
  /** Disabling drops pending deliveries. POST /v1/webhooks/{id}/recover resends them. */
  readonly status?: "enabled" | "disabled" | null | undefined;
}

export interface WebhooksDeleteAnswer {
  object: "webhook";
  id: string;
  deleted: true;
}

export interface WebhooksTestBody {
  /** The type of the example event. */
  readonly type?: "email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning" | null | undefined;
}

export interface WebhooksRotateSecretAnswer {
  object: "webhook";
  id: string;
  url: string;
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  created_at: string;
  /** When it last returned 2xx, to the minute. */
  last_success_at: string | null;
  /** The time of its first failure, once no delivery has succeeded for ten minutes. */
  failing_since: string | null;
  /** Paused until this time after repeated failures. */
  paused_until: string | null;
  /** Returned once. Use it to verify Standard Webhooks signatures. */
  secret: string;
}

export interface WebhooksRecoverAnswer {
  object: "webhook_recovery";
  webhook_id: string;
  since: string;
  until: string;
  /** The deliveries appear in the list as they are created. */
  status: "started";
}

export interface WebhooksRecoverBody {
  /** Events at or after this time. */
  readonly since: string;
  /** Events before this time; default: now. */
  readonly until?: string | null | undefined;
}

export interface WebhooksDeliveriesQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: pending, delivered, failed. */
  readonly status?: string | undefined;
  /** One or more of these, comma-separated: email.queued, email.scheduled, email.delivered, email.delivery_delayed, email.bounced, email.complained, email.failed, email.suppressed, email.canceled, domain.verified, domain.at_risk, domain.failed, webhook.failing, webhook.disabled, suppression.added, suppression.removed, quota.warning. */
  readonly type?: string | undefined;
  /** Events at or after this time. */
  readonly since?: string | undefined;
  /** Events before this time. */
  readonly until?: string | undefined;
}

export interface SuppressionsListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: manual, import, bounce, complaint. */
  readonly source?: string | undefined;
  /** Email address, case-insensitive. */
  readonly email?: string | undefined;
}

export type SuppressionsCreateAnswer = Suppression | {
  data: (Suppression | {
      error: {
        /** The kind of error, which determines the HTTP status. */
        code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
        reason: Reason;
        /** How to fix the error. */
        message: string;
        /** All invalid fields. */
        details?: ({
            /** The path of the field. */
            param: string;
            reason: Reason;
            message: string;
        })[];
        /** The scope that the key lacks. */
        required_scope?: string;
        [fact: string]: unknown;
      };
  })[];
};

export interface SuppressionsCreateBody {
  readonly email?: string | null | undefined;
  /** A description for your team. */
  readonly reason?: string | null | undefined;
  readonly expires_at?: string | null | undefined;
  /** Up to 1000 entries instead of a single email, each added or rejected individually. */
  readonly suppressions?: readonly ({
      readonly email: string;
      /** A description for your team. */
      readonly reason?: string | null | undefined;
      readonly expires_at?: string | null | undefined;
  })[] | null | undefined;
}

export interface SuppressionsDeleteAnswer {
  object: "suppression";
  id: string;
  email: string;
  deleted: true;
}

export interface ApiKeysListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: active, revoked, expired. */
  readonly status?: string | undefined;
}

export interface ApiKeysCreateAnswer {
  object: "api_key";
  id: string;
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  status: "active" | "revoked" | "expired" | (string & {});
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  /** pr_live_… or pr_test_…, only returned here. */
  secret: string;
}

export interface ApiKeysCreateBody {
  readonly name: string;
  readonly scopes: readonly (Scope)[];
  /** Sandbox keys send to the simulator only. */
  readonly mode?: "live" | "sandbox" | null | undefined;
  /** Domains allowed in the from address. Empty: any. */
  readonly domains?: readonly (string)[] | null | undefined;
  /** Client IP addresses and networks allowed to use the key. Empty: any. */
  readonly allowed_ips?: readonly (string)[] | null | undefined;
  readonly expires_at?: string | null | undefined;
}

export interface ApiKeysCurrentAnswer {
  object: "api_key";
  id: string;
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  status: "active" | "revoked" | "expired" | (string & {});
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  plan: string;
  limits: {
    monthly_emails: number | null;
    recipients_per_request: number;
    send_per_minute: number;
    logs_per_minute: number;
    default_per_minute: number;
  };
  usage: Usage;
}

export interface ApiKeysRotateAnswer {
  object: "api_key";
  id: string;
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  status: "active" | "revoked" | "expired" | (string & {});
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  /** pr_live_… or pr_test_…, only returned here. */
  secret: string;
}

export interface ApiKeysRevokeAnswer {
  object: "api_key";
  id: string;
  status: "revoked";
  revoked_at: string;
}

export interface DomainsListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more of these, comma-separated: pending, verified, at_risk, failed, suspended. */
  readonly status?: string | undefined;
}

export interface DomainsAddBody {
  readonly name: string;
  /** DKIM selector. It must differ from the selectors of your other email services. */
  readonly dkim_selector?: string | null | undefined;
  /** Subdomain for the return path, which receives bounces. */
  readonly return_path?: string | null | undefined;
  /** Whether email gets a second DKIM signature (Ed25519), which needs a second DNS record. */
  readonly dkim_ed25519?: boolean | null | undefined;
}

export interface DomainsUpdateBody {
  /** Subdomain for the return path, which receives bounces. */
  readonly return_path?: string | null | undefined;
  /** Whether email gets a second DKIM signature (Ed25519), which needs a second DNS record. */
  readonly dkim_ed25519?: boolean | null | undefined;
}

export interface DomainsRemoveAnswer {
  object: "domain";
  name: string;
  deleted: true;
}

export interface CapturesListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** Part of a recipient, case-insensitive. */
  readonly to?: string | undefined;
  /** Part of the sender, case-insensitive. */
  readonly from?: string | undefined;
  /** Part of the subject, case-insensitive. */
  readonly subject?: string | undefined;
  /** Received at or after this time. */
  readonly since?: string | undefined;
  /** Seconds to wait for the first match. */
  readonly wait?: number | undefined;
}

export interface CapturesClearAnswer {
  object: "captures";
  deleted: number;
}

export interface CapturesDeleteAnswer {
  object: "capture";
  id: string;
  deleted: true;
}

export interface CapturesReleaseBody {
  /** Recipients to use instead of the original ones. */
  readonly to?: string | readonly (string)[] | null | undefined;
}

export interface ErasuresStartBody {
  readonly email: string;
}

export interface RequestsListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more reasons, comma-separated. */
  readonly reason?: string | undefined;
  readonly api_key_id?: string | undefined;
  /** At or after this time. */
  readonly since?: string | undefined;
  /** Before this time. */
  readonly until?: string | undefined;
}

export interface StatsGetAnswer {
  object: "stats";
  bucket: "minute" | "hour" | "day" | (string & {});
  group_by: "none" | "domain" | "tag" | "provider" | "destination" | "api_key" | (string & {});
  since: string;
  until: string;
  /** Data after this time is not complete yet. */
  complete_until: string;
  series: ({
      metric: "accepted" | "delivered" | "captured" | "bounced" | "deferred" | "failed" | "complained" | "suppressed" | "canceled" | "accept_to_first_attempt_p50" | "accept_to_first_attempt_p95" | "accept_to_first_attempt_p99" | "accept_to_delivered_p50" | "accept_to_delivered_p95" | "accept_to_delivered_p99" | (string & {});
      /** The dimension's value; null for everything without its own series. */
      key: string | null;
      points: ({
          at: string;
          value: number | null;
      })[];
  })[];
}

export interface StatsGetQuery {
  /** At or after this time. Default: 24 hours ago. */
  readonly since?: string | undefined;
  /** Before this time. Default: now. */
  readonly until?: string | undefined;
  /** Interval of each point. */
  readonly step?: "minute" | "hour" | "day" | undefined;
  /** Groups outcomes by sending domain, tag or recipient domain. The ten busiest groups get their own series. */
  readonly group_by?: "domain" | "tag" | "destination" | undefined;
}

/** What each type of event adds to its data. */
export interface EventFacts {
  "email.queued": Record<string, unknown>;
  "email.scheduled": Record<string, unknown>;
  "email.delivered": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The server's reply. */
    response?: string | null;
    /** Set if the email went to the test inbox instead of a mail server. */
    captured?: true;
  };
  "email.delivery_delayed": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The server's reply. */
    response?: string | null;
  };
  "email.bounced": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The server's reply. */
    response?: string | null;
    bounce?: {
      /** hard: the mailbox or its domain does not exist. Unknown causes are soft. */
      class: "hard" | "soft" | (string & {});
      category: string;
      /** The enhanced status code, or the reply code. */
      code: string | null;
      [fact: string]: unknown;
    };
  };
  "email.complained": Record<string, unknown>;
  "email.failed": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The server's reply. */
    response?: string | null;
  };
  "email.suppressed": {
    suppression_id?: string;
  };
  "email.canceled": Record<string, unknown>;
  "domain.verified": {
    domain: {
      id: string;
      name: string;
      status: string;
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "domain.at_risk": {
    domain: {
      id: string;
      name: string;
      status: string;
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "domain.failed": {
    domain: {
      id: string;
      name: string;
      status: string;
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "webhook.failing": {
    webhook: {
      id: string;
      url: string;
      status: string;
      reason: string;
      failing_since: string | null;
      [fact: string]: unknown;
    };
  };
  "webhook.disabled": {
    webhook: {
      id: string;
      url: string;
      status: string;
      reason: string;
      failing_since: string | null;
      [fact: string]: unknown;
    };
  };
  "suppression.added": {
    suppression: {
      id: string;
      email: string;
      source: string;
      reason: string | null;
      source_event_id: string | null;
      [fact: string]: unknown;
    };
  };
  "suppression.removed": {
    suppression: {
      id: string;
      email: string;
      source: string;
      reason: string | null;
      source_event_id: string | null;
      [fact: string]: unknown;
    };
    cause?: string;
  };
  "quota.warning": {
    quota: {
      limit: number;
      used: number;
      resets_at: string;
      [fact: string]: unknown;
    };
  };
}

export type EventType = keyof EventFacts;

/** An event as it is posted to webhooks; `type` narrows its data. */
export type WebhookEvent = {
  [T in EventType]: Omit<EventBase, 'type' | 'data'> & { type: T; data: EventBase['data'] & EventFacts[T] };
}[EventType];
