// Written by `node scripts/write-sdk.ts` from docs/openapi.json.

export interface Acknowledgement {
  /** The email ID. */
  id: string;
  /** Always queued, even for scheduled email. */
  status: "queued";
  /** When the email was accepted. */
  created_at: string;
}

export interface ApiKey {
  /** Always `api_key`. */
  object: "api_key";
  /** API key ID with the prefix `key_`. */
  id: string;
  /** Name for your team. Not unique. */
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  /** The permissions of the key. */
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  /** Only active keys are accepted. */
  status: "active" | "revoked" | "expired" | (string & {});
  /** When the key was created. */
  created_at: string;
  /** When it expires. null: never. */
  expires_at: string | null;
  /** When it was last used, to the minute. null: never. */
  last_used_at: string | null;
  /** When it was revoked. null: not revoked. */
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
}

export interface Attachment {
  /** Name that the recipient sees. */
  readonly filename: string;
  /** Base64 with padding. */
  readonly content: string;
  /** Derived from the filename by default. */
  readonly content_type?: string | null | undefined;
  /** Lets html reference the attachment as cid:… */
  readonly content_id?: string | null | undefined;
}

export interface Attempt {
  /** Attempt ID with the prefix `att_`. */
  id: string;
  /** Recipient ID with the prefix `rcp_`. */
  recipient_id: string;
  /** 1 for the first attempt. */
  number: number;
  /** unknown: the connection or worker was lost after DATA, so the email may have been delivered. */
  outcome: "accepted" | "deferred" | "rejected" | "unknown" | (string & {});
  /** The rejection category: mailbox, domain, quota, policy, reputation, authentication, content, throttled, protocol, network, signing, other. */
  category: string | null;
  /** The SMTP stage reached; worker_lost if the worker died before recording it. */
  stage: string;
  /** The transport that was tried last. null: the default one. */
  transport_id: string | null;
  /** The server contacted; empty if none. */
  target: string;
  /** The IP address of the server. */
  address: string | null;
  /** The TLS policy of the session. */
  tls_policy: string | null;
  /** The encryption of the session. null: not encrypted, or no session. */
  tls: {
    /** TLS version, such as TLSv1.3. */
    protocol: string;
    /** Name of the cipher suite. */
    cipher: string;
    /** Whether the certificate of the server was verified. */
    authorized: boolean;
  } | null;
  /** The reply that decided the attempt. null: none. */
  reply: {
    /** SMTP reply code, such as 250. */
    code: number;
    /** Enhanced status code, such as 5.1.1. null: none. */
    enhanced: string | null;
    /** The text after the codes, as one line. */
    text: string;
  } | null;
  /** The local or connection error. null: none. */
  error: string | null;
  /** Duration of each stage in milliseconds. */
  phases_ms: {
    /** Opening the connection; 0 on a reused one. */
    connect: number;
    /** STARTTLS upgrade; 0 without one or on a reused connection. */
    tls: number;
    /** From MAIL to the start of the content. */
    mail: number;
    /** From the start of the content to the result; 0 if none was sent. */
    data: number;
  };
  /** The SMTP dialogue. null: not kept, or expired. */
  transcript: string | null;
  /** When the attempt started. */
  started_at: string;
  /** When the result was recorded. */
  finished_at: string;
}

export interface Bounce {
  /** hard: the mailbox or its domain does not exist. Unknown causes are soft. */
  class: "hard" | "soft" | (string & {});
  /** The cause of the rejection. */
  category: "mailbox" | "domain" | "quota" | "policy" | "reputation" | "authentication" | "content" | "throttled" | "protocol" | "network" | "signing" | "other" | (string & {});
  /** The enhanced status code, or the reply code. */
  code: string | null;
  /** relay_suppressed: the relay didn't try, because the address is on a suppression list of its own. null: any other. */
  reason: "relay_suppressed" | null;
}

export interface Capture {
  /** Always `capture`. */
  object: "capture";
  /** Capture ID with the prefix `cap_`. */
  id: string;
  /** The envelope sender; empty for a bounce. */
  from: string;
  /** The From address of email sent through Postrider; otherwise the envelope sender. */
  sender: string;
  /** The envelope recipients. */
  to: (string)[];
  /** The decoded Subject header. */
  subject: string;
  /** null: sent by another application. */
  email_id: string | null;
  /** Size of the raw source. */
  size_bytes: number;
  /** When the email was captured. */
  received_at: string;
}

export interface CaptureDetail {
  /** Always `capture`. */
  object: "capture";
  /** Capture ID with the prefix `cap_`. */
  id: string;
  /** The envelope sender; empty for a bounce. */
  from: string;
  /** The From address of email sent through Postrider; otherwise the envelope sender. */
  sender: string;
  /** The envelope recipients. */
  to: (string)[];
  /** The decoded Subject header. */
  subject: string;
  /** null: sent by another application. */
  email_id: string | null;
  /** Size of the raw source. */
  size_bytes: number;
  /** When the email was captured. */
  received_at: string;
  /** The HTML part. null: none. */
  html: string | null;
  /** The plain-text part. null: none. */
  text: string | null;
  /** Decoded, in message order. */
  headers: ({
      /** As spelled in the email. */
      name: string;
      /** Unfolded and decoded. */
      value: string;
  })[];
  /** Attached and inline files, without their content. */
  attachments: ({
      /** null: the part has no filename. */
      filename: string | null;
      /** Media type, such as application/pdf. */
      content_type: string;
      /** Decoded size. */
      size_bytes: number;
      /** Referenced as cid:… in html. null: none. */
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
  /** endpoint_paused: paused after repeated failures. */
  reason: "endpoint_disabled" | "hold" | "queue_paused" | "endpoint_paused" | (string & {});
  /** The earliest next attempt; null if it waits until a hold is released or the webhook is enabled. */
  until: string | null;
  /** With hold and queue_paused: the hold. */
  hold_id: string | null;
}

export interface DnsRecord {
  /** ownership proves that you control the domain. */
  purpose: "ownership" | "dkim" | "return_path" | "spf" | "dmarc" | (string & {});
  /** Whether verification requires this record. */
  required: boolean;
  /** DNS record type. */
  type: "TXT" | "CNAME" | "MX" | (string & {});
  /** As entered at a DNS provider: without the zone, @ for the zone itself. */
  host: string;
  /** The full name, without a trailing dot. */
  fqdn: string;
  /** The value to publish. */
  value: string;
  /** Recommended TTL in seconds. */
  ttl: number;
  /** Result of the last check. pending: not checked yet. */
  status: "pending" | "ok" | "missing" | "mismatch" | "truncated" | "multiple" | "lookup_error" | (string & {});
  /** Values found by the last check. */
  found: (string)[];
  /** The results by name server, authoritative first. Caches are only queried if the authoritative record is correct. */
  observed: ({
      /** The address of the name server. */
      resolver: string;
      /** Whether the server is authoritative for the zone, not a cache. */
      authoritative: boolean;
      /** The first five. */
      values: (string)[];
      /** In seconds; null if not found. */
      ttl: number | null;
      /** When the record was checked. */
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
  /** Always `domain`. */
  object: "domain";
  /** Domain ID with the prefix `dom_`. */
  id: string;
  /** In lowercase ASCII (Punycode). */
  name: string;
  /** at_risk: a required record is missing or wrong; fails after 72 hours. */
  status: "pending" | "verified" | "at_risk" | "failed" | "suspended" | (string & {});
  /** Whether live email from this domain is accepted. */
  can_send: boolean;
  /** The reason for the status. */
  status_reason: string | null;
  /** The return path for bounces; null: the service default. */
  return_path: string | null;
  /** Whether email gets a second DKIM signature (Ed25519). */
  dkim_ed25519: boolean;
  /** When the domain was added. */
  created_at: string;
  /** When it last became verified. null: never. */
  verified_at: string | null;
  /** When its DNS records were last checked. null: never. */
  last_checked_at: string | null;
  /** When the next automatic check is due. null: none. */
  next_check_at: string | null;
  /** The records to publish. Empty for the sandbox domain. */
  dns_records: (DnsRecord)[];
}

export interface DomainExamination {
  /** Always `domain_examination`. */
  object: "domain_examination";
  /** In lowercase ASCII (Punycode). */
  name: string;
  /** Whether the workspace has this domain; if not, it has no keys. */
  added: boolean;
  /** Status in the workspace. null: not added. */
  status: "pending" | "verified" | "at_risk" | "failed" | "suspended" | (string & {}) | null;
  /** Whether there are no problems. Recommended records may still be missing. */
  healthy: boolean;
  /** The expected records, with the results of this check. */
  dns_records: (DnsRecord)[];
  /** The records as a zone file fragment. */
  zone_file: string;
  /** Setup steps for any DNS provider, as text. */
  steps: (string)[];
}

export interface Erasure {
  /** Always `erasure`. */
  object: "erasure";
  /** Erasure ID with the prefix `ers_`. */
  id: string;
  /** completed: the counts are final. */
  status: "queued" | "running" | "completed" | (string & {});
  /** Number of items affected so far, by kind. */
  counts: {
    /** Recipients whose address was replaced. */
    recipients: number;
    /** Recipients whose pending email was canceled. */
    canceled: number;
    /** Emails whose addresses, subject, tags or metadata were redacted. */
    messages: number;
    /** Emails whose content was deleted. */
    bodies: number;
    /** Content kept because other people received it too. */
    bodies_kept: number;
    /** Attempts whose reply or error was redacted. */
    attempts: number;
    /** Deleted SMTP transcripts. */
    transcripts: number;
    /** Events whose data was redacted. */
    events: number;
    /** Redacted webhook deliveries and their attempts. */
    webhook_deliveries: number;
    /** Deleted captured emails. */
    captures: number;
    /** Deleted entries of the request log. */
    requests: number;
    /** Deleted stored responses. */
    idempotency_keys: number;
    /** Kept as a hash. */
    suppressions: number;
    /** Statistics, failures, bulk operations and jobs. */
    other_rows: number;
  };
  /** Where the address may still be stored. */
  remains: (string)[];
  /** When the erasure was requested. */
  created_at: string;
  /** When it completed. null: not yet. */
  finished_at: string | null;
}

export interface ErrorAnswer {
  /** Why the request failed. */
  error: {
    /** The kind of error, which determines the HTTP status. */
    code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
    reason: Reason;
    /** What is wrong and how to fix it, for people. The text may change. */
    message: string;
    /** All invalid fields. */
    details?: ({
        /** The path of the field. */
        param: string;
        reason: Reason;
        /** What is wrong with this field, for people. */
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
  /** The event ID, also sent as the webhook-id header. */
  id: string;
  /** The event type. New types may be added. */
  type: string;
  /** When the event was recorded. */
  created_at: string;
  /** Increases by one per message event; 0 for events without a message. */
  sequence: number;
  /** The email. null: the event is not about an email. */
  email_id: string | null;
  /** The recipient. null: the event is not about one recipient. */
  recipient_id: string | null;
  /** What the event is about, with details that depend on its type. */
  data: {
    /** The email that the event is about; null if none. */
    email: {
      /** The email ID. */
      id: string;
      /** The sender, a@b.c or Name <a@b.c>. */
      from: string;
      /** Addresses in the To header, each a@b.c or Name <a@b.c>. */
      to: (string)[];
      /** The Subject header, not encoded. */
      subject: string;
      /** Labels from the request. */
      tags: (string)[];
      /** Key-value pairs from the request, as text. */
      metadata: Record<string, string>;
      /** The Message-ID header of every copy. */
      message_id: string;
      /** When the email was accepted. */
      created_at: string;
    } | null;
    /** The recipient, with the status that the event set; null: the event applies to the whole message. */
    recipient: {
      /** Recipient ID with the prefix `rcp_`. */
      id: string;
      /** The address without a display name. */
      email: string;
      /** The delivery status that the event set. */
      status: string;
    } | null;
    [fact: string]: unknown;
  };
}

export interface ExplainedRecipient {
  /** Recipient ID with the prefix `rcp_`. */
  id: string;
  /** The address without a display name. */
  email: string;
  /** The first field of the request that contains the address. */
  kind: "to" | "cc" | "bcc" | (string & {});
  status: DeliveryStatus;
  /** Whether the email went to the test inbox instead of a mail server. That counts as delivered. */
  captured: boolean;
  /** What delivered means here. true: a relay accepted the email. false: the recipient's server did, or it was captured. null: not delivered, or delivered before this was recorded. */
  relayed: boolean | null;
  /** When the relay reported that the recipient's server accepted the email. null: it didn't, or isn't set up to. */
  confirmed_at: string | null;
  /** Number of delivery attempts so far. */
  attempts: number;
  /** The last response from the receiving server. */
  last_response: string | null;
  /** When the next attempt is due. null: neither scheduled nor deferred. */
  next_attempt_at: string | null;
  /** Why it bounced; null if the status is not bounced, or once the event has expired. */
  bounce: Bounce | null;
  /** Why it has not been sent yet; null while sending and when closed. */
  waiting: Waiting | null;
  /** What last_response means, while deferred and after a bounce or failure. Its texts may change. */
  explanation: Explanation | null;
}

export interface Explanation {
  /** Stable name of the cause. */
  cause: "mailbox_unknown" | "address_malformed" | "address_ambiguous" | "mailbox_moved" | "mailbox_disabled" | "mailbox_other" | "list_failed" | "list_closed" | "owner_changed" | "mailbox_full" | "server_full" | "domain_unknown" | "domain_accepts_none" | "routing" | "sender_address" | "not_authenticated" | "policy_or_records" | "dkim_failed" | "spf_failed" | "dmarc_failed" | "reverse_dns" | "login_failed" | "tls_required" | "tls_failed" | "ip_blocked" | "unsolicited" | "reputation" | "spam" | "virus" | "too_large" | "content_unsupported" | "malformed" | "rate_limited" | "mailbox_rate" | "greylisted" | "not_permitted" | "known_senders_only" | "relaying" | "too_many_recipients" | "protocol" | "server_unavailable" | "unreachable" | "dns_failed" | "connection_lost" | "expired" | "signing_failed" | "content_deleted" | "other" | (string & {});
  /** The mailbox provider whose wording was recognized. */
  provider: string | null;
  /** What happened. */
  meaning: string;
  /** What the sender can do. */
  action: string;
}

export interface LogEntry {
  /** Always `email`. */
  object: "email";
  /** Email ID with the prefix `msg_`. */
  id: string;
  /** The least advanced open status among its recipients or, once all of them are closed, the worst status. */
  status: DeliveryStatus;
  /** Whether any recipient was captured. */
  captured: boolean;
  /** The sender, a@b.c or Name <a@b.c>. */
  from: string;
  /** Addresses in the To header, each a@b.c or Name <a@b.c>. */
  to: (string)[];
  /** Addresses in the Cc header, each a@b.c or Name <a@b.c>. */
  cc: (string)[];
  /** Recipients that are in no header, each a@b.c or Name <a@b.c>. */
  bcc: (string)[];
  /** The address for replies. null: the sender. */
  reply_to: string | null;
  /** The Subject header, not encoded. */
  subject: string;
  /** Labels from the request. */
  tags: (string)[];
  /** Key-value pairs from the request, as text. */
  metadata: Record<string, string>;
  /** When the email was accepted. */
  created_at: string;
  /** The requested send time. null: not scheduled. */
  scheduled_at: string | null;
  /** The start of the first attempt. */
  sent_at: string | null;
  /** The latest delivery to any recipient. null: none yet. */
  delivered_at: string | null;
  priority: Priority;
  retain: Retain;
  /** One entry per unique address. */
  recipients: (Recipient)[];
  /** The newest event. */
  last_event: {
    /** The event type. */
    type: string;
    /** When the event happened. */
    at: string;
  };
  /** The Message-ID header of every copy. */
  message_id: string;
  /** The API key that sent it. null: sent without one. */
  api_key_id: string | null;
  /** The request that created the email. */
  request_id: string;
  /** Approximate size of bodies and encoded attachments. */
  size_bytes: number;
  /** The message that this one resends. */
  resend_of: string | null;
}

export interface LogEntryDetail {
  /** Always `email`. */
  object: "email";
  /** Email ID with the prefix `msg_`. */
  id: string;
  /** The least advanced open status among its recipients or, once all of them are closed, the worst status. */
  status: DeliveryStatus;
  /** Whether any recipient was captured. */
  captured: boolean;
  /** The sender, a@b.c or Name <a@b.c>. */
  from: string;
  /** Addresses in the To header, each a@b.c or Name <a@b.c>. */
  to: (string)[];
  /** Addresses in the Cc header, each a@b.c or Name <a@b.c>. */
  cc: (string)[];
  /** Recipients that are in no header, each a@b.c or Name <a@b.c>. */
  bcc: (string)[];
  /** The address for replies. null: the sender. */
  reply_to: string | null;
  /** The Subject header, not encoded. */
  subject: string;
  /** Labels from the request. */
  tags: (string)[];
  /** Key-value pairs from the request, as text. */
  metadata: Record<string, string>;
  /** When the email was accepted. */
  created_at: string;
  /** The requested send time. null: not scheduled. */
  scheduled_at: string | null;
  /** The start of the first attempt. */
  sent_at: string | null;
  /** The latest delivery to any recipient. null: none yet. */
  delivered_at: string | null;
  priority: Priority;
  retain: Retain;
  /** One entry per unique address. */
  recipients: (ExplainedRecipient)[];
  /** The newest event. */
  last_event: {
    /** The event type. */
    type: string;
    /** When the event happened. */
    at: string;
  };
  /** The Message-ID header of every copy. */
  message_id: string;
  /** The API key that sent it. null: sent without one. */
  api_key_id: string | null;
  /** The request that created the email. */
  request_id: string;
  /** Approximate size of bodies and encoded attachments. */
  size_bytes: number;
  /** The message that this one resends. */
  resend_of: string | null;
  /** The timeline, without expired events. */
  events: (EventBase)[];
  /** Delivery attempts, without expired ones. */
  attempts: (Attempt)[];
}

/** Current use of the resources that the plan limits. */
export interface PlanUse {
  /** Active live and sandbox keys. */
  api_keys: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Not counting the sandbox domain. */
  domains: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Live and sandbox webhooks. */
  webhooks: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Not counting pending invitations. */
  members: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** The workspace's own transports. */
  transports: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Requests from all API keys this minute. Not counted if there is no limit. */
  workspace_rate: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
  /** Above the limit, the oldest captured email is deleted. */
  capture_bytes: {
    /** Current use, in the unit of the limit. */
    used: number;
    /** null: no limit. */
    limit: number | null;
  };
}

/** The email's priority within its workspace. While emails of all three priorities wait for a destination, they are sent in a ratio of 8:4:1. The priority is not added to the headers. */
export type Priority = "high" | "normal" | "bulk" | (string & {});

/** The exact reason, more specific than the code. New reasons may be added. */
export type Reason = "malformed_request" | "malformed_json" | "unsupported_media_type" | "body_too_large" | "body_timeout" | "missing_field" | "misspelled_field" | "misplaced_field" | "unknown_parameter" | "invalid_type" | "invalid_email" | "no_content" | "too_many_recipients" | "too_many_tags" | "invalid_tag" | "invalid_header" | "reserved_header" | "invalid_timestamp" | "invalid_limit" | "invalid_cursor" | "invalid_status" | "invalid_url" | "invalid_domain" | "invalid_idempotency_key" | "invalid_query" | "invalid_range" | "invalid_preview" | "response_too_large" | "query_too_complex" | "missing_key" | "malformed_key" | "unknown_key" | "revoked_key" | "expired_key" | "address_not_allowed" | "invalid_signature" | "invalid_login" | "invalid_code" | "session_ended" | "cross_site_request" | "missing_scope" | "reauthentication_required" | "code_required" | "factor_required" | "no_membership" | "key_domain_restricted" | "route_not_found" | "message_not_found" | "content_gone" | "domain_not_found" | "webhook_not_found" | "delivery_not_found" | "api_key_not_found" | "suppression_not_found" | "workspace_not_found" | "plan_not_found" | "session_not_found" | "factor_not_found" | "user_not_found" | "invitation_not_found" | "member_not_found" | "alarm_not_found" | "request_not_found" | "erasure_not_found" | "capture_not_found" | "transport_not_found" | "hold_not_found" | "queue_not_found" | "schedule_not_found" | "job_not_found" | "bulk_not_found" | "domain_not_verified" | "recipient_cap_exceeded" | "quota_exceeded" | "all_recipients_suppressed" | "scheduled_in_past" | "scheduled_too_far" | "already_sent" | "not_scheduled" | "still_open" | "not_matching" | "not_deferred" | "already_canceled" | "domain_already_exists" | "domain_claimed" | "domain_not_allowed" | "api_key_not_active" | "already_rotated" | "rotation_in_progress" | "idempotency_mismatch" | "idempotency_in_progress" | "capture_unreadable" | "key_limit" | "domain_limit" | "webhook_limit" | "member_limit" | "webhook_disabled" | "private_address" | "suppression_exists" | "user_exists" | "invitation_closed" | "member_exists" | "last_factor" | "operator_exists" | "last_admin" | "plan_exists" | "plan_in_use" | "transport_exists" | "transport_in_use" | "transport_limit" | "unknown_transport" | "hold_exists" | "job_not_open" | "bulk_finished" | "bulk_limit" | "erasure_limit" | "recovery_open" | "send_rate" | "logs_rate" | "default_rate" | "address_rate" | "workspace_rate" | "session_rate" | "body_budget" | "capture_busy" | "dkim_keys_busy" | "alarm_test_rate" | "feedback_rate" | "invitation_rate" | "login_rate" | "too_many_streams" | "graphql_cost" | "unexpected" | (string & {});

export interface Recipient {
  /** Recipient ID with the prefix `rcp_`. */
  id: string;
  /** The address without a display name. */
  email: string;
  /** The first field of the request that contains the address. */
  kind: "to" | "cc" | "bcc" | (string & {});
  status: DeliveryStatus;
  /** Whether the email went to the test inbox instead of a mail server. That counts as delivered. */
  captured: boolean;
  /** What delivered means here. true: a relay accepted the email. false: the recipient's server did, or it was captured. null: not delivered, or delivered before this was recorded. */
  relayed: boolean | null;
  /** When the relay reported that the recipient's server accepted the email. null: it didn't, or isn't set up to. */
  confirmed_at: string | null;
  /** Number of delivery attempts so far. */
  attempts: number;
  /** The last response from the receiving server. */
  last_response: string | null;
  /** When the next attempt is due. null: neither scheduled nor deferred. */
  next_attempt_at: string | null;
  /** Why it bounced; null if the status is not bounced, or once the event has expired. */
  bounce: Bounce | null;
  /** Why it has not been sent yet; null while sending and when closed. */
  waiting: Waiting | null;
}

export interface RequestLogEntry {
  /** Always `request`. */
  object: "request";
  /** Request ID with the prefix `req_`. */
  id: string;
  /** When the request was made. */
  at: string;
  /** trpc: the API of the dashboard. */
  api: "rest" | "trpc" | (string & {});
  /** HTTP method. */
  method: string;
  /** The route without IDs and addresses. */
  path: string;
  /** HTTP status of the response. */
  status: number;
  /** The error code of the response. */
  code: string;
  /** The error reason of the response. */
  reason: string;
  /** With masked addresses. */
  message: string;
  /** The API key of the request. null: none. */
  api_key_id: string | null;
  /** The signed-in user. null: none. */
  user_id: string | null;
  /** Time to the response, in milliseconds. */
  duration_ms: number;
  /** The invalid fields. */
  faults: ({
      /** The field as a JSON pointer. */
      pointer: string;
      /** The reason for this field. */
      reason: string;
      /** With masked addresses. */
      message: string;
  })[];
  /** The request body, up to 4 kB, with addresses masked and content omitted; null if there was no body. */
  body: unknown;
}

/** none: html, text and attachments are deleted within a minute of the last attempt; the log, events and attempts are kept. */
export type Retain = "default" | "none" | (string & {});

/** A permission of an API key. */
export type Scope = "email:send" | "email:logs:read" | "domains:read" | "domains:write" | "webhooks:manage" | "admin" | "operator" | (string & {});

export interface SendRequest {
  /** The sender, a@b.c or Name <a@b.c>. The workspace must have verified its domain. */
  readonly from: string;
  /** Up to 50 addresses, each a@b.c or Name <a@b.c>. The plan limits the total across to, cc and bcc. */
  readonly to: string | readonly (string)[];
  /** Without line breaks or control characters other than TAB. */
  readonly subject: string;
  /** At least one of html and text must not be empty. */
  readonly html?: string | null | undefined;
  /** Derived from html by default. */
  readonly text?: string | null | undefined;
  /** Addresses for the Cc header, each a@b.c or Name <a@b.c>. */
  readonly cc?: string | readonly (string)[] | null | undefined;
  /** Not added to the headers. */
  readonly bcc?: string | readonly (string)[] | null | undefined;
  /** The address for replies, a@b.c or Name <a@b.c>. */
  readonly reply_to?: string | null | undefined;
  /** Custom headers. Headers that Postrider sets, such as Date or Content-Type, are rejected. */
  readonly headers?: Record<string, string | number | boolean> | null | undefined;
  /** Labels for filtering the log. Any printable text, case-sensitive. */
  readonly tags?: readonly (string)[] | null | undefined;
  /** Your own key-value pairs, returned as text in the log and in events. */
  readonly metadata?: Record<string, string | number | boolean> | null | undefined;
  /** At most 10 MiB decoded, including html and text. */
  readonly attachments?: readonly (Attachment)[] | null | undefined;
  /** ISO 8601, UTC if there is no offset, up to 366 days ahead. A time up to 60 seconds in the past means now. */
  readonly scheduled_at?: string | null | undefined;
  /** Priority among the emails of the workspace that wait for a destination. */
  readonly priority?: Priority | null | undefined;
  /** none: the content is deleted within a minute of the last attempt. */
  readonly retain?: Retain | null | undefined;
}

export interface Suppression {
  /** Always `suppression`. */
  object: "suppression";
  /** Suppression ID with the prefix `sup_`. */
  id: string;
  /** Lowercase; matching is case-insensitive. */
  email: string;
  /** The server response, or the reason from the request. */
  reason: string | null;
  /** How the address was added. */
  source: "manual" | "import" | "bounce" | "complaint" | (string & {});
  /** The event that caused it. */
  source_event_id: string | null;
  /** When the address was added. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
}

/** Each unique recipient counts as one email. */
export interface Usage {
  /** Always `usage`. */
  object: "usage";
  /** The calendar month in UTC. */
  month: string;
  /** Emails accepted this month, by recipient, without those canceled before their first attempt. */
  used: number;
  /** null: the plan has no monthly limit. */
  limit: number | null;
  /** Emails left this month. null: no limit. */
  remaining: number | null;
  /** When the next month starts, in UTC. */
  resets_at: string;
  /** Every day of the month until today. */
  by_day: ({
      /** The day in UTC. */
      date: string;
      /** Emails accepted on this day, counted in the same way. */
      used: number;
  })[];
  plan_use: PlanUse;
}

export interface Waiting {
  /** The cause; the other fields have its details. */
  reason: "scheduled" | "retry_backoff" | "hold" | "queue_paused" | "throttled" | "transport_limit" | "no_worker" | "in_line" | (string & {});
  /** When the cause ends or the next attempt is due. null: unknown. */
  until: string | null;
  /** The last response from the receiving server. null: none. */
  last_reply: string | null;
  /** With hold and queue_paused: what is stopped, and why. */
  hold: {
    /** Hold ID with the prefix `hld_`. */
    id: string;
    /** The reason given for the hold. */
    reason: string;
    /** When the hold expires. null: when it is released. */
    expires_at: string | null;
  } | null;
  /** With throttled: a failing destination, a limit set by an operator, or the resume rate after a hold. */
  policy: {
    /** The origin of the limit. */
    kind: "destination_failures" | "destination_limit" | "resume_rate" | (string & {});
    /** The limited destination. null with resume_rate. */
    destination: string | null;
    /** Maximum concurrent connections. null: no limit. */
    connections: number | null;
    /** Maximum emails per minute. null: no limit. */
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
  /** Always `webhook`. */
  object: "webhook";
  /** Webhook ID with the prefix `whk_`. */
  id: string;
  /** The URL that receives the events. */
  url: string;
  /** A description for your team. null: none. */
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  /** disabled: it receives no events. */
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  /** When the webhook was added. */
  created_at: string;
  /** When it last returned 2xx, to the minute. */
  last_success_at: string | null;
  /** The time of its first failure, once no delivery has succeeded for ten minutes. */
  failing_since: string | null;
  /** Paused until this time after repeated failures. */
  paused_until: string | null;
}

export interface WebhookDelivery {
  /** Always `webhook_delivery`. */
  object: "webhook_delivery";
  /** Webhook delivery ID with the prefix `whd_`. */
  id: string;
  /** Webhook ID with the prefix `whk_`. */
  webhook_id: string;
  /** The webhook-id header of every attempt. */
  event_id: string;
  /** The type of the event. */
  event_type: string;
  /** delivered: a 2xx response. failed: no further attempts. */
  status: "pending" | "delivered" | "failed" | (string & {});
  /** Number of attempts since the delivery started or was replayed. */
  attempts: number;
  /** When the delivery was created. */
  created_at: string;
  /** According to the retry schedule; see waiting. */
  next_attempt_at: string | null;
  /** Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold. */
  waiting: DeliveryWaiting | null;
  /** When the last attempt ended. null: none yet. */
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
  /** Always `webhook_delivery`. */
  object: "webhook_delivery";
  /** Webhook delivery ID with the prefix `whd_`. */
  id: string;
  /** Webhook ID with the prefix `whk_`. */
  webhook_id: string;
  /** The webhook-id header of every attempt. */
  event_id: string;
  /** The type of the event. */
  event_type: string;
  /** delivered: a 2xx response. failed: no further attempts. */
  status: "pending" | "delivered" | "failed" | (string & {});
  /** Number of attempts since the delivery started or was replayed. */
  attempts: number;
  /** When the delivery was created. */
  created_at: string;
  /** According to the retry schedule; see waiting. */
  next_attempt_at: string | null;
  /** Why a pending delivery is not attempted, other than its retry schedule: the endpoint or a hold. */
  waiting: DeliveryWaiting | null;
  /** When the last attempt ended. null: none yet. */
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
  /** Duration in milliseconds. null: no request was sent. */
  duration_ms: number | null;
  /** As sent, including the signature; null if the first attempt succeeded. */
  request_headers: Record<string, string> | null;
  /** null: no response. */
  response_status: number | null;
  /** Without cookies; null if the first attempt succeeded. */
  response_headers: Record<string, string> | null;
  /** The first kilobyte. */
  response_body: string | null;
  /** Why there was no response. null: there was one. */
  error: string | null;
}

export interface EmailSendDryRunAnswer {
  /** Always `email_preview`. */
  object: "email_preview";
  /** The status that the email would get. */
  status: "queued" | "scheduled" | (string & {});
  /** When it would be sent. null: immediately. */
  scheduled_at: string | null;
  /** One entry per unique address. */
  recipients: ({
      /** The address without a display name. */
      email: string;
      /** The first field that contains the address. */
      kind: "to" | "cc" | "bcc" | (string & {});
      /** suppressed: nothing would be sent to this address. */
      verdict: "would_send" | "suppressed" | (string & {});
  })[];
  /** The email as it would be sent, before signing. */
  mime: string;
}

export interface EmailBatchAnswer {
  /** One result per email, in the order of the request. */
  data: (Acknowledgement | {
      /** Why this item was rejected. */
      error: {
        /** The kind of error, which determines the HTTP status. */
        code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
        reason: Reason;
        /** What is wrong and how to fix it, for people. The text may change. */
        message: string;
        /** All invalid fields. */
        details?: ({
            /** The path of the field. */
            param: string;
            reason: Reason;
            /** What is wrong with this field, for people. */
            message: string;
        })[];
        /** The scope that the key lacks. */
        required_scope?: string;
        [fact: string]: unknown;
      };
  })[];
}

export type EmailBatchBody = readonly (SendRequest)[] | {
  /** The emails, each as in POST /v1/email/send. */
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
  /** The sender address, case-insensitive. */
  readonly from?: string | undefined;
  /** Sender domain. */
  readonly domain?: string | undefined;
  /** A recipient domain, including cc and bcc. */
  readonly to_domain?: string | undefined;
  /** Only emails with this priority. */
  readonly priority?: Priority | undefined;
  /** Only emails attempted through this transport: its ID, or "default" for DELIVERY. */
  readonly transport?: string | undefined;
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
  /** Always `email_content`. */
  object: "email_content";
  /** Email ID with the prefix `msg_`. */
  id: string;
  /** The HTML body. null: none. */
  html: string | null;
  /** The plain-text body. null: none. */
  text: string | null;
  /** The custom headers. */
  headers: Record<string, string>;
  /** The attachments, without their content. */
  attachments: ({
      /** As given in the request. */
      filename: string;
      /** As given in the request; null if derived from the filename. */
      content_type: string | null;
      /** Referenced as cid:… in html. null: none. */
      content_id: string | null;
      /** Decoded size. */
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
  /** Always `webhook`. */
  object: "webhook";
  /** Webhook ID with the prefix `whk_`. */
  id: string;
  /** The URL that receives the events. */
  url: string;
  /** A description for your team. null: none. */
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  /** disabled: it receives no events. */
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  /** When the webhook was added. */
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
  /** The HTTP or HTTPS URL that receives the events. */
  readonly url: string;
  /** all, or a list of event types. */
  readonly events?: "all" | readonly ("email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning")[] | null | undefined;
  /** A description for your team. */
  readonly description?: string | null | undefined;
  /** Payload format. It cannot be changed later. */
  readonly format?: "postrider" | "resend" | null | undefined;
  /** The mode whose events it receives. The default is sandbox for sandbox keys and live otherwise. */
  readonly mode?: "live" | "sandbox" | null | undefined;
}

export interface WebhooksUpdateBody {
  /** The HTTP or HTTPS URL that receives the events. */
  readonly url?: string | null | undefined;
  /** all, or a list of event types. */
  readonly events?: "all" | readonly ("email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning")[] | null | undefined;
  /** A description for your team. */
  readonly description?: string | null | undefined;
  /** Disabling drops pending deliveries. POST /v1/webhooks/{id}/recover resends them. */
  readonly status?: "enabled" | "disabled" | null | undefined;
}

export interface WebhooksDeleteAnswer {
  /** Always `webhook`. */
  object: "webhook";
  /** Webhook ID with the prefix `whk_`. */
  id: string;
  /** Always `true`. */
  deleted: true;
}

export interface WebhooksTestBody {
  /** The type of the example event. */
  readonly type?: "email.queued" | "email.scheduled" | "email.delivered" | "email.delivery_delayed" | "email.bounced" | "email.complained" | "email.failed" | "email.suppressed" | "email.canceled" | "domain.verified" | "domain.at_risk" | "domain.failed" | "webhook.failing" | "webhook.disabled" | "suppression.added" | "suppression.removed" | "quota.warning" | null | undefined;
}

export interface WebhooksRotateSecretAnswer {
  /** Always `webhook`. */
  object: "webhook";
  /** Webhook ID with the prefix `whk_`. */
  id: string;
  /** The URL that receives the events. */
  url: string;
  /** A description for your team. null: none. */
  description: string | null;
  /** The webhook receives events for email in this mode. Live webhooks also receive events without an email, such as domain events. */
  mode: "live" | "sandbox" | (string & {});
  /** Payload format: Postrider's own, or Resend's payload, event names and svix headers. */
  format: "postrider" | "resend" | (string & {});
  /** The subscribed event types. */
  events: "all" | (string)[];
  /** disabled: it receives no events. */
  status: "enabled" | "disabled" | (string & {});
  /** Why it was disabled. */
  status_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  /** The last characters of the secret, to identify it. */
  secret_last4: string;
  /** When the previous secret stops being valid. */
  previous_secret_until: string | null;
  /** When the webhook was added. */
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
  /** Always `webhook_recovery`. */
  object: "webhook_recovery";
  /** Webhook ID with the prefix `whk_`. */
  webhook_id: string;
  /** Start of the time range, inclusive. */
  since: string;
  /** End of the time range, exclusive. */
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
  /** One result per entry, in the order of the request. */
  data: (Suppression | {
      /** Why this item was rejected. */
      error: {
        /** The kind of error, which determines the HTTP status. */
        code: "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "unprocessable" | "rate_limited" | "internal_error" | (string & {});
        reason: Reason;
        /** What is wrong and how to fix it, for people. The text may change. */
        message: string;
        /** All invalid fields. */
        details?: ({
            /** The path of the field. */
            param: string;
            reason: Reason;
            /** What is wrong with this field, for people. */
            message: string;
        })[];
        /** The scope that the key lacks. */
        required_scope?: string;
        [fact: string]: unknown;
      };
  })[];
};

export interface SuppressionsCreateBody {
  /** The address to suppress, without a display name. */
  readonly email?: string | null | undefined;
  /** A description for your team. */
  readonly reason?: string | null | undefined;
  /** When the suppression expires. null: never. */
  readonly expires_at?: string | null | undefined;
  /** Up to 1000 entries instead of a single email, each added or rejected individually. */
  readonly suppressions?: readonly ({
      /** One address, without a display name. */
      readonly email: string;
      /** A description for your team. */
      readonly reason?: string | null | undefined;
      /** When the suppression expires. null: never. */
      readonly expires_at?: string | null | undefined;
  })[] | null | undefined;
}

export interface SuppressionsDeleteAnswer {
  /** Always `suppression`. */
  object: "suppression";
  /** Suppression ID with the prefix `sup_`. */
  id: string;
  /** The removed address. */
  email: string;
  /** Always `true`. */
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
  /** Always `api_key`. */
  object: "api_key";
  /** API key ID with the prefix `key_`. */
  id: string;
  /** Name for your team. Not unique. */
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  /** The permissions of the key. */
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  /** Only active keys are accepted. */
  status: "active" | "revoked" | "expired" | (string & {});
  /** When the key was created. */
  created_at: string;
  /** When it expires. null: never. */
  expires_at: string | null;
  /** When it was last used, to the minute. null: never. */
  last_used_at: string | null;
  /** When it was revoked. null: not revoked. */
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  /** pr_live_… or pr_test_…, only returned here. */
  secret: string;
}

export interface ApiKeysCreateBody {
  /** Name for your team. Need not be unique. */
  readonly name: string;
  /** The permissions of the key, none beyond your own. */
  readonly scopes: readonly (Scope)[];
  /** Sandbox keys send to the simulator only. */
  readonly mode?: "live" | "sandbox" | null | undefined;
  /** Domains allowed in the from address. Empty: any. */
  readonly domains?: readonly (string)[] | null | undefined;
  /** Client IP addresses and networks allowed to use the key. Empty: any. */
  readonly allowed_ips?: readonly (string)[] | null | undefined;
  /** When the key expires. null: never. */
  readonly expires_at?: string | null | undefined;
}

export interface ApiKeysCurrentAnswer {
  /** Always `api_key`. */
  object: "api_key";
  /** API key ID with the prefix `key_`. */
  id: string;
  /** Name for your team. Not unique. */
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  /** The permissions of the key. */
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  /** Only active keys are accepted. */
  status: "active" | "revoked" | "expired" | (string & {});
  /** When the key was created. */
  created_at: string;
  /** When it expires. null: never. */
  expires_at: string | null;
  /** When it was last used, to the minute. null: never. */
  last_used_at: string | null;
  /** When it was revoked. null: not revoked. */
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  /** Plan of the workspace. */
  plan: string;
  /** Limits of the plan for this key. */
  limits: {
    /** Emails per calendar month. null: no limit. */
    monthly_emails: number | null;
    /** Maximum recipients of one email, across to, cc and bcc. */
    recipients_per_request: number;
    /** Requests per minute in the `send` window. */
    send_per_minute: number;
    /** Requests per minute in the `logs` window. */
    logs_per_minute: number;
    /** Requests per minute in the `default` window. */
    default_per_minute: number;
  };
  usage: Usage;
}

export interface ApiKeysRotateAnswer {
  /** Always `api_key`. */
  object: "api_key";
  /** API key ID with the prefix `key_`. */
  id: string;
  /** Name for your team. Not unique. */
  name: string;
  /** First characters of the secret. */
  prefix: string;
  /** Last characters of the secret. */
  last4: string;
  /** The permissions of the key. */
  scopes: (Scope)[];
  /** Email from sandbox keys goes to the simulator and does not count toward the quota. */
  mode: "live" | "sandbox" | (string & {});
  /** Domains allowed in the from address. null: any. */
  domains: (string)[] | null;
  /** Client IP addresses and networks allowed to use the key. null: any. */
  allowed_ips: (string)[] | null;
  /** Only active keys are accepted. */
  status: "active" | "revoked" | "expired" | (string & {});
  /** When the key was created. */
  created_at: string;
  /** When it expires. null: never. */
  expires_at: string | null;
  /** When it was last used, to the minute. null: never. */
  last_used_at: string | null;
  /** When it was revoked. null: not revoked. */
  revoked_at: string | null;
  /** The key that replaced it on rotation. */
  replaced_by: string | null;
  /** pr_live_… or pr_test_…, only returned here. */
  secret: string;
}

export interface ApiKeysRevokeAnswer {
  /** Always `api_key`. */
  object: "api_key";
  /** API key ID with the prefix `key_`. */
  id: string;
  /** Always `revoked`. */
  status: "revoked";
  /** When the key was first revoked. */
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
  /** The domain of your From addresses, without scheme or path. */
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
  /** Always `domain`. */
  object: "domain";
  /** In lowercase ASCII (Punycode). */
  name: string;
  /** Always `true`. */
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
  /** Always `captures`. */
  object: "captures";
  /** Number of deleted emails. */
  deleted: number;
}

export interface CapturesDeleteAnswer {
  /** Always `capture`. */
  object: "capture";
  /** Capture ID with the prefix `cap_`. */
  id: string;
  /** Always `true`. */
  deleted: true;
}

export interface CapturesReleaseBody {
  /** Recipients to use instead of the original ones. */
  readonly to?: string | readonly (string)[] | null | undefined;
}

export interface ErasuresStartBody {
  /** One address, without a display name. */
  readonly email: string;
}

export interface RequestsListQuery {
  /** Entries per page. */
  readonly limit?: number | undefined;
  /** The next_cursor of the previous page, with the same filters. */
  readonly cursor?: string | undefined;
  /** One or more reasons, comma-separated. */
  readonly reason?: string | undefined;
  /** Only requests with this API key. */
  readonly api_key_id?: string | undefined;
  /** At or after this time. */
  readonly since?: string | undefined;
  /** Before this time. */
  readonly until?: string | undefined;
}

export interface StatsGetAnswer {
  /** Always `stats`. */
  object: "stats";
  /** Interval of each point. */
  bucket: "minute" | "hour" | "day" | (string & {});
  /** The dimension of the series. none: not grouped. */
  group_by: "none" | "domain" | "tag" | "provider" | "destination" | "api_key" | "transport" | (string & {});
  /** Start of the first interval. */
  since: string;
  /** End of the last interval. */
  until: string;
  /** Data after this time is not complete yet. */
  complete_until: string;
  /** One series per metric and group. */
  series: ({
      /** Counted per recipient. Percentiles are in seconds. */
      metric: "accepted" | "delivered" | "captured" | "relayed" | "bounced" | "deferred" | "failed" | "complained" | "suppressed" | "canceled" | "accept_to_first_attempt_p50" | "accept_to_first_attempt_p95" | "accept_to_first_attempt_p99" | "accept_to_delivered_p50" | "accept_to_delivered_p95" | "accept_to_delivered_p99" | (string & {});
      /** The dimension's value; null for everything without its own series. */
      key: string | null;
      /** One point per interval, oldest first. */
      points: ({
          /** When the interval starts. */
          at: string;
          /** A count, or seconds for a percentile; null if the percentile has no data. */
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
  /** Groups outcomes by sending domain, tag, recipient domain or transport. The ten busiest groups get their own series. */
  readonly group_by?: "domain" | "tag" | "destination" | "transport" | undefined;
}

/** What each type of event adds to its data. */
export interface EventFacts {
  "email.queued": Record<string, unknown>;
  "email.scheduled": Record<string, unknown>;
  "email.delivered": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The transport that was tried last. Missing: the default one. */
    transport_id?: string;
    /** The server's reply. */
    response?: string | null;
    /** Set if the email went to the test inbox instead of a mail server. */
    captured?: true;
    /** Set if a relay accepted the email. Missing: the recipient's server did. */
    relayed?: true;
  };
  "email.delivery_delayed": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The transport that was tried last. Missing: the default one. */
    transport_id?: string;
    /** The server's reply. */
    response?: string | null;
  };
  "email.bounced": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The transport that was tried last. Missing: the default one. */
    transport_id?: string;
    /** The server's reply. */
    response?: string | null;
    /** Why the email was rejected. */
    bounce?: {
      /** hard: the mailbox or its domain does not exist. Unknown causes are soft. */
      class: "hard" | "soft" | (string & {});
      /** The cause of the rejection. */
      category: string;
      /** The enhanced status code, or the reply code. */
      code: string | null;
      /** Set if the relay didn't try, because the address is on a suppression list of its own. */
      reason?: "relay_suppressed";
      [fact: string]: unknown;
    };
  };
  "email.complained": Record<string, unknown>;
  "email.failed": {
    /** The attempt number, from 1. */
    attempt?: number;
    /** The transport that was tried last. Missing: the default one. */
    transport_id?: string;
    /** The server's reply. */
    response?: string | null;
  };
  "email.suppressed": {
    /** The suppression that prevented the attempt. */
    suppression_id?: string;
  };
  "email.canceled": Record<string, unknown>;
  "domain.verified": {
    /** The sending domain. */
    domain: {
      /** Domain ID with the prefix `dom_`. */
      id: string;
      /** The domain name. */
      name: string;
      /** The status after the event. */
      status: string;
      /** The reason for the status. null: none. */
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "domain.at_risk": {
    /** The sending domain. */
    domain: {
      /** Domain ID with the prefix `dom_`. */
      id: string;
      /** The domain name. */
      name: string;
      /** The status after the event. */
      status: string;
      /** The reason for the status. null: none. */
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "domain.failed": {
    /** The sending domain. */
    domain: {
      /** Domain ID with the prefix `dom_`. */
      id: string;
      /** The domain name. */
      name: string;
      /** The status after the event. */
      status: string;
      /** The reason for the status. null: none. */
      status_reason: string | null;
      [fact: string]: unknown;
    };
  };
  "webhook.failing": {
    /** The webhook endpoint. */
    webhook: {
      /** Webhook ID with the prefix `whk_`. */
      id: string;
      /** The URL of the endpoint. */
      url: string;
      /** enabled or disabled. */
      status: string;
      /** failing: repeated failures. gone: a 410 response. */
      reason: string;
      /** The time of its first failure since its last success. null with webhook.disabled. */
      failing_since: string | null;
      [fact: string]: unknown;
    };
  };
  "webhook.disabled": {
    /** The webhook endpoint. */
    webhook: {
      /** Webhook ID with the prefix `whk_`. */
      id: string;
      /** The URL of the endpoint. */
      url: string;
      /** enabled or disabled. */
      status: string;
      /** failing: repeated failures. gone: a 410 response. */
      reason: string;
      /** The time of its first failure since its last success. null with webhook.disabled. */
      failing_since: string | null;
      [fact: string]: unknown;
    };
  };
  "suppression.added": {
    /** The suppression list entry. */
    suppression: {
      /** Suppression ID with the prefix `sup_`. */
      id: string;
      /** The suppressed address. */
      email: string;
      /** How the address was added. */
      source: string;
      /** The server response, or the reason from the request. null: none. */
      reason: string | null;
      /** The event that caused it. null: added manually or imported. */
      source_event_id: string | null;
      [fact: string]: unknown;
    };
  };
  "suppression.removed": {
    /** The suppression list entry. */
    suppression: {
      /** Suppression ID with the prefix `sup_`. */
      id: string;
      /** The suppressed address. */
      email: string;
      /** How the address was added. */
      source: string;
      /** The server response, or the reason from the request. null: none. */
      reason: string | null;
      /** The event that caused it. null: added manually or imported. */
      source_event_id: string | null;
      [fact: string]: unknown;
    };
    /** deleted or expired. */
    cause?: string;
  };
  "quota.warning": {
    /** The monthly volume and its use. */
    quota: {
      /** Emails allowed this month. */
      limit: number;
      /** Emails this month, one per unique recipient. */
      used: number;
      /** When the next month starts, in UTC. */
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
