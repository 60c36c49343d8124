// Written by `node scripts/write-sdk.ts` from docs/openapi.json.
import type { ListCall } from '../pages.ts';
import { type CallOptions, type Calls, pathOf, type RepeatableOptions } from '../transport.ts';
import type {
  Acknowledgement,
  ApiKey,
  ApiKeysCreateAnswer,
  ApiKeysCreateBody,
  ApiKeysCurrentAnswer,
  ApiKeysListQuery,
  ApiKeysRevokeAnswer,
  ApiKeysRotateAnswer,
  Capture,
  CaptureDetail,
  CapturesClearAnswer,
  CapturesDeleteAnswer,
  CapturesListQuery,
  CapturesReleaseBody,
  Domain,
  DomainExamination,
  DomainsAddBody,
  DomainsListQuery,
  DomainsRemoveAnswer,
  DomainsUpdateBody,
  EmailBatchAnswer,
  EmailBatchBody,
  EmailContentAnswer,
  EmailGiveUpBody,
  EmailLogsQuery,
  EmailRescheduleBody,
  EmailSendDryRunAnswer,
  Erasure,
  ErasuresStartBody,
  EventBase,
  EventsListQuery,
  LogEntry,
  LogEntryDetail,
  RequestLogEntry,
  RequestsListQuery,
  SendRequest,
  StatsGetAnswer,
  StatsGetQuery,
  Suppression,
  SuppressionsCreateAnswer,
  SuppressionsCreateBody,
  SuppressionsDeleteAnswer,
  SuppressionsListQuery,
  Usage,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhooksCreateAnswer,
  WebhooksCreateBody,
  WebhooksDeleteAnswer,
  WebhooksDeliveriesQuery,
  WebhooksListQuery,
  WebhooksRecoverAnswer,
  WebhooksRecoverBody,
  WebhooksRotateSecretAnswer,
  WebhooksTestBody,
  WebhooksUpdateBody,
} from './schemas.ts';

/** Send email and follow its delivery. */
export class EmailCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Send one email, now or scheduled. Requires the `email:send` scope. Rate limit: `send`. */
  send(body: SendRequest, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/send", body, keyed: true }), options);
  }

  /** Send one email, now or scheduled: runs every check and renders the email without storing it. Requires the `email:send` scope. Rate limit: `send`. */
  sendDryRun(body: SendRequest, options?: CallOptions): Promise<EmailSendDryRunAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/send", body, query: { dry_run: true } }), options);
  }

  /** Send up to 100 emails, accepted or rejected individually or as a whole. Requires the `email:send` scope. Rate limit: `send`. */
  batch(body: EmailBatchBody, options?: RepeatableOptions): Promise<EmailBatchAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/batch", body, keyed: true }), options);
  }

  /** List emails, newest first. Requires the `email:logs:read` scope. Rate limit: `logs`. */
  logs(query: EmailLogsQuery = {}, options?: CallOptions): ListCall<LogEntry> {
    return this.#calls.list(() => ({ method: 'GET', path: "/email/logs", query }), options);
  }

  /** Get an email with its timeline and attempts. Requires the `email:logs:read` scope. Rate limit: `default`. */
  get(id: string, options?: CallOptions): Promise<LogEntryDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/logs/", ""], id) }), options);
  }

  /** Get an email with its timeline and attempts. Requires the `email:logs:read` scope. Rate limit: `default`. */
  show(id: string, options?: CallOptions): Promise<LogEntryDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/", ""], id) }), options);
  }

  /** Reschedule an email before its first attempt. Requires the `email:send` scope. Rate limit: `default`. */
  reschedule(id: string, body: EmailRescheduleBody, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/email/", ""], id), body }), options);
  }

  /** Cancel an email before its first attempt. Requires the `email:send` scope. Rate limit: `default`. */
  cancel(id: string, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/cancel"], id) }), options);
  }

  /** Resend an email as a new one that references the original. Requires the `email:send` scope. Rate limit: `default` and `send`. */
  resend(id: string, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/resend"], id), keyed: true }), options);
  }

  /** Give up on an email; no further attempts are made. Requires the `admin` scope. Rate limit: `default`. */
  giveUp(id: string, body: EmailGiveUpBody = {}, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/give-up"], id), body }), options);
  }

  /** Get the content of an email: html, text, headers and raw source. Requires the `admin` scope. Rate limit: `default`. */
  content(id: string, options?: CallOptions): Promise<EmailContentAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/", "/content"], id) }), options);
  }
}

/** All events in one list. */
export class EventsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List events, newest first, as an alternative to webhooks. Requires the `email:logs:read` scope. Rate limit: `default`. */
  list(query: EventsListQuery = {}, options?: CallOptions): ListCall<EventBase> {
    return this.#calls.list(() => ({ method: 'GET', path: "/events", query }), options);
  }
}

/** Webhook endpoints. */
export class WebhooksCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List webhooks, newest first. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  list(query: WebhooksListQuery = {}, options?: CallOptions): ListCall<Webhook> {
    return this.#calls.list(() => ({ method: 'GET', path: "/webhooks", query }), options);
  }

  /** Add a webhook endpoint; its secret is returned once. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  create(body: WebhooksCreateBody, options?: CallOptions): Promise<WebhooksCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/webhooks", body }), options);
  }

  /** Get a webhook with its health. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/webhooks/", ""], id) }), options);
  }

  /** Update, disable or enable a webhook. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  update(id: string, body: WebhooksUpdateBody = {}, options?: CallOptions): Promise<Webhook> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/webhooks/", ""], id), body }), options);
  }

  /** Delete a webhook; it receives no more events. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  delete(id: string, options?: CallOptions): Promise<WebhooksDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/webhooks/", ""], id) }), options);
  }

  /** Send an example event, with test in its data; the response is the delivery. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  test(id: string, body: WebhooksTestBody = {}, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/test"], id), body }), options);
  }

  /** Rotate the secret; the old one remains valid for 24 hours. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhooksRotateSecretAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/rotate-secret"], id) }), options);
  }

  /** Resend the events that the endpoint missed in a time range. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  recover(id: string, body: WebhooksRecoverBody, options?: CallOptions): Promise<WebhooksRecoverAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/recover"], id), body }), options);
  }

  /** List the deliveries of a webhook, newest first. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  deliveries(id: string, query: WebhooksDeliveriesQuery = {}, options?: CallOptions): ListCall<WebhookDelivery> {
    return this.#calls.list(() => ({ method: 'GET', path: pathOf(["/webhooks/", "/deliveries"], id), query }), options);
  }

  /** Get a webhook delivery with every attempt, request and response. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  delivery(id: string, delivery_id: string, options?: CallOptions): Promise<WebhookDeliveryDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/webhooks/", "/deliveries/", ""], id, delivery_id) }), options);
  }

  /** Replay a delivery with the same webhook-id. Requires the `webhooks:manage` scope. Rate limit: `default`. */
  replay(id: string, delivery_id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/deliveries/", "/replay"], id, delivery_id) }), options);
  }
}

/** Suppressed addresses. */
export class SuppressionsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List suppressed addresses, newest first. Requires the `email:logs:read` scope. Rate limit: `default`. */
  list(query: SuppressionsListQuery = {}, options?: CallOptions): ListCall<Suppression> {
    return this.#calls.list(() => ({ method: 'GET', path: "/suppressions", query }), options);
  }

  /** Suppress an address, or up to 1,000 addresses, each added or rejected individually. Requires the `admin` scope. Rate limit: `default`. */
  create(body: SuppressionsCreateBody = {}, options?: CallOptions): Promise<SuppressionsCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/suppressions", body }), options);
  }

  /** Remove an address from the suppression list. Requires the `admin` scope. Rate limit: `default`. */
  delete(email: string, options?: CallOptions): Promise<SuppressionsDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/suppressions/", ""], email) }), options);
  }
}

/** Erase an address from all stored data. */
export class ErasuresCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Erase an address and its email content. Requires the `admin` scope. Rate limit: `default`. */
  start(body: ErasuresStartBody, options?: CallOptions): Promise<Erasure> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/erasures", body }), options);
  }

  /** Get an erasure receipt. Requires the `admin` scope. Rate limit: `default`. */
  get(id: string, options?: CallOptions): Promise<Erasure> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/erasures/", ""], id) }), options);
  }
}

/** API keys and their scopes. */
export class ApiKeysCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List API keys, newest first. Requires the `admin` scope. Rate limit: `default`. */
  list(query: ApiKeysListQuery = {}, options?: CallOptions): ListCall<ApiKey> {
    return this.#calls.list(() => ({ method: 'GET', path: "/api-keys", query }), options);
  }

  /** Create an API key; its secret is returned once. Requires the `admin` scope. Rate limit: `default`. */
  create(body: ApiKeysCreateBody, options?: CallOptions): Promise<ApiKeysCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/api-keys", body }), options);
  }

  /** Get the API key used for this request, with its scopes, plan, limits and usage. Works with any valid key. Rate limit: `default`. */
  current(options?: CallOptions): Promise<ApiKeysCurrentAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/api-keys/current" }), options);
  }

  /** Replace an API key with a new one that has the same permissions; the old key works for another 24 hours. Requires the `admin` scope. Rate limit: `default`. */
  rotate(key_id: string, options?: CallOptions): Promise<ApiKeysRotateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/api-keys/", "/rotate"], key_id) }), options);
  }

  /** Revoke an API key immediately. Requires the `admin` scope. Rate limit: `default`. */
  revoke(key_id: string, options?: CallOptions): Promise<ApiKeysRevokeAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/api-keys/", ""], key_id) }), options);
  }
}

/** Sending domains and their DNS records. */
export class DomainsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List sending domains, newest first. Requires the `domains:read` scope. Rate limit: `default`. */
  list(query: DomainsListQuery = {}, options?: CallOptions): ListCall<Domain> {
    return this.#calls.list(() => ({ method: 'GET', path: "/domains", query }), options);
  }

  /** Add a sending domain; the response contains the DNS records to publish. Requires the `domains:write` scope. Rate limit: `default`. */
  add(body: DomainsAddBody, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/domains", body }), options);
  }

  /** Get a domain with the records to publish. Requires the `domains:read` scope. Rate limit: `default`. */
  get(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/domains/", ""], domain) }), options);
  }

  /** Update a domain's return path or second DKIM signature. Requires the `domains:write` scope. Rate limit: `default`. */
  update(domain: string, body: DomainsUpdateBody = {}, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/domains/", ""], domain), body }), options);
  }

  /** Remove a domain and cancel its pending email. Requires the `domains:write` scope. Rate limit: `default`. */
  remove(domain: string, options?: CallOptions): Promise<DomainsRemoveAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/domains/", ""], domain) }), options);
  }

  /** Check the DNS of any domain and list the setup steps. Requires the `domains:read` scope. Rate limit: `default`. */
  examine(domain: string, options?: CallOptions): Promise<DomainExamination> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/domains/", "/doctor"], domain) }), options);
  }

  /** Check the DNS records of a domain now. Requires the `domains:write` scope. Rate limit: `default`. */
  verify(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/domains/", "/verify"], domain) }), options);
  }

  /** Create new DKIM keys; they start signing once their records have been published for a day. Requires the `domains:write` scope. Rate limit: `default`. */
  rotateKeys(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/domains/", "/rotate-keys"], domain) }), options);
  }
}

/** Email captured instead of delivered. */
export class CapturesCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List captured email, newest first, or wait for the first match. Requires the `email:logs:read` scope. Rate limit: `default`. */
  list(query: CapturesListQuery = {}, options?: CallOptions): ListCall<Capture> {
    return this.#calls.list(() => ({ method: 'GET', path: "/captures", query }), options);
  }

  /** Delete all captured email in the workspace (admins), or in the sandbox (sandbox keys). Works with any valid key. Rate limit: `default`. */
  clear(options?: CallOptions): Promise<CapturesClearAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: "/captures" }), options);
  }

  /** Get a captured email with its content, links and one-time codes (admins and sandbox keys). Works with any valid key. Rate limit: `default`. */
  get(id: string, options?: CallOptions): Promise<CaptureDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/captures/", ""], id) }), options);
  }

  /** Delete a captured email (admins and sandbox keys). Works with any valid key. Rate limit: `default`. */
  delete(id: string, options?: CallOptions): Promise<CapturesDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/captures/", ""], id) }), options);
  }

  /** Send a captured email to its recipients or to other addresses (admins and sandbox keys). Works with any valid key. Rate limit: `default` and `send`. */
  release(id: string, body: CapturesReleaseBody = {}, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/captures/", "/release"], id), body, keyed: true }), options);
  }
}

/** Rejected and failed requests. */
export class RequestsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List rejected and failed requests, newest first. Requires the `admin` scope. Rate limit: `default`. */
  list(query: RequestsListQuery = {}, options?: CallOptions): ListCall<RequestLogEntry> {
    return this.#calls.list(() => ({ method: 'GET', path: "/requests", query }), options);
  }

  /** Get a rejected or failed request with its errors and stored body. Requires the `admin` scope. Rate limit: `default`. */
  get(id: string, options?: CallOptions): Promise<RequestLogEntry> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/requests/", ""], id) }), options);
  }
}

/** Email outcomes over time. */
export class StatsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Get email outcomes over time, by domain, tag, destination or transport. Requires the `email:logs:read` scope. Rate limit: `default`. */
  get(query: StatsGetQuery = {}, options?: CallOptions): Promise<StatsGetAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/stats", query }), options);
  }
}

/** Usage and plan limits. */
export class UsageCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Get this month's email volume by day, and the remaining quota. Works with any valid key. Rate limit: `default`. */
  get(options?: CallOptions): Promise<Usage> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/usage" }), options);
  }
}

/** Every resource of /v1. */
export class Resources {
  /** Send email and follow its delivery. */
  readonly email: EmailCalls;
  /** All events in one list. */
  readonly events: EventsCalls;
  /** Webhook endpoints. */
  readonly webhooks: WebhooksCalls;
  /** Suppressed addresses. */
  readonly suppressions: SuppressionsCalls;
  /** Erase an address from all stored data. */
  readonly erasures: ErasuresCalls;
  /** API keys and their scopes. */
  readonly apiKeys: ApiKeysCalls;
  /** Sending domains and their DNS records. */
  readonly domains: DomainsCalls;
  /** Email captured instead of delivered. */
  readonly captures: CapturesCalls;
  /** Rejected and failed requests. */
  readonly requests: RequestsCalls;
  /** Email outcomes over time. */
  readonly stats: StatsCalls;
  /** Usage and plan limits. */
  readonly usage: UsageCalls;

  constructor(calls: Calls) {
    this.email = new EmailCalls(calls);
    this.events = new EventsCalls(calls);
    this.webhooks = new WebhooksCalls(calls);
    this.suppressions = new SuppressionsCalls(calls);
    this.erasures = new ErasuresCalls(calls);
    this.apiKeys = new ApiKeysCalls(calls);
    this.domains = new DomainsCalls(calls);
    this.captures = new CapturesCalls(calls);
    this.requests = new RequestsCalls(calls);
    this.stats = new StatsCalls(calls);
    this.usage = new UsageCalls(calls);
  }
}
