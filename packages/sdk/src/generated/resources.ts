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

/** Send mail and follow its delivery. */
export class EmailCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Send one email, now or at a time. Needs the scope `email:send`. Counted in the window `send`. */
  send(body: SendRequest, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/send", body, keyed: true }), options);
  }

  /** Send one email, now or at a time: every check and the rendered mail, and nothing is stored. Needs the scope `email:send`. Counted in the window `send`. */
  sendDryRun(body: SendRequest, options?: CallOptions): Promise<EmailSendDryRunAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/send", body, query: { dry_run: true } }), options);
  }

  /** Send up to 100 emails, each accepted or refused on its own, or all or nothing. Needs the scope `email:send`. Counted in the window `send`. */
  batch(body: EmailBatchBody, options?: RepeatableOptions): Promise<EmailBatchAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/email/batch", body, keyed: true }), options);
  }

  /** List emails, newest first. Needs the scope `email:logs:read`. Counted in the window `logs`. */
  logs(query: EmailLogsQuery = {}, options?: CallOptions): ListCall<LogEntry> {
    return this.#calls.list(() => ({ method: 'GET', path: "/email/logs", query }), options);
  }

  /** One email with its timeline and every attempt. Needs the scope `email:logs:read`. Counted in the window `default`. */
  get(id: string, options?: CallOptions): Promise<LogEntryDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/logs/", ""], id) }), options);
  }

  /** One email with its timeline and every attempt. Needs the scope `email:logs:read`. Counted in the window `default`. */
  show(id: string, options?: CallOptions): Promise<LogEntryDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/", ""], id) }), options);
  }

  /** Reschedule an email before its first attempt. Needs the scope `email:send`. Counted in the window `default`. */
  reschedule(id: string, body: EmailRescheduleBody, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/email/", ""], id), body }), options);
  }

  /** Cancel an email before its first attempt. Needs the scope `email:send`. Counted in the window `default`. */
  cancel(id: string, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/cancel"], id) }), options);
  }

  /** Resend an email as a new one that links to it. Needs the scope `email:send`. Counted in the window `default`, and in `send`. */
  resend(id: string, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/resend"], id), keyed: true }), options);
  }

  /** Give up on an email: no further attempts. Needs the scope `admin`. Counted in the window `default`. */
  giveUp(id: string, body: EmailGiveUpBody = {}, options?: CallOptions): Promise<LogEntry> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/email/", "/give-up"], id), body }), options);
  }

  /** The content of an email: html, text, headers, raw. Needs the scope `admin`. Counted in the window `default`. */
  content(id: string, options?: CallOptions): Promise<EmailContentAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/email/", "/content"], id) }), options);
  }
}

/** All events as one list. */
export class EventsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List events, newest first, as an alternative to webhooks. Needs the scope `email:logs:read`. Counted in the window `default`. */
  list(query: EventsListQuery = {}, options?: CallOptions): ListCall<EventBase> {
    return this.#calls.list(() => ({ method: 'GET', path: "/events", query }), options);
  }
}

/** Endpoints that events are posted to. */
export class WebhooksCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List webhooks, newest first. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  list(query: WebhooksListQuery = {}, options?: CallOptions): ListCall<Webhook> {
    return this.#calls.list(() => ({ method: 'GET', path: "/webhooks", query }), options);
  }

  /** Add an endpoint that events are posted to; its secret is shown once. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  create(body: WebhooksCreateBody, options?: CallOptions): Promise<WebhooksCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/webhooks", body }), options);
  }

  /** One webhook, with its health. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/webhooks/", ""], id) }), options);
  }

  /** Change a webhook, disable it, or enable it again. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  update(id: string, body: WebhooksUpdateBody = {}, options?: CallOptions): Promise<Webhook> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/webhooks/", ""], id), body }), options);
  }

  /** Delete a webhook; no more events are posted to it. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  delete(id: string, options?: CallOptions): Promise<WebhooksDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/webhooks/", ""], id) }), options);
  }

  /** Post an example event, with test in its data; the answer is the delivery to look at. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  test(id: string, body: WebhooksTestBody = {}, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/test"], id), body }), options);
  }

  /** Replace the secret; the old one also signs for 24 hours. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhooksRotateSecretAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/rotate-secret"], id) }), options);
  }

  /** Post the events of a time range that the endpoint has not received. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  recover(id: string, body: WebhooksRecoverBody, options?: CallOptions): Promise<WebhooksRecoverAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/recover"], id), body }), options);
  }

  /** List the deliveries of a webhook, newest first. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  deliveries(id: string, query: WebhooksDeliveriesQuery = {}, options?: CallOptions): ListCall<WebhookDelivery> {
    return this.#calls.list(() => ({ method: 'GET', path: pathOf(["/webhooks/", "/deliveries"], id), query }), options);
  }

  /** Post a delivery again, under the same webhook-id. Needs the scope `webhooks:manage`. Counted in the window `default`. */
  replay(id: string, delivery_id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/webhooks/", "/deliveries/", "/replay"], id, delivery_id) }), options);
  }
}

/** Addresses that mail is not sent to. */
export class SuppressionsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List the addresses that nothing is sent to, newest first. Needs the scope `email:logs:read`. Counted in the window `default`. */
  list(query: SuppressionsListQuery = {}, options?: CallOptions): ListCall<Suppression> {
    return this.#calls.list(() => ({ method: 'GET', path: "/suppressions", query }), options);
  }

  /** Put an address on the suppression list, or up to 1,000, each added or refused on its own. Needs the scope `admin`. Counted in the window `default`. */
  create(body: SuppressionsCreateBody = {}, options?: CallOptions): Promise<SuppressionsCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/suppressions", body }), options);
  }

  /** Take an address off the suppression list. Needs the scope `admin`. Counted in the window `default`. */
  delete(email: string, options?: CallOptions): Promise<SuppressionsDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/suppressions/", ""], email) }), options);
  }
}

/** Runs that erase one address from all that is stored. */
export class ErasuresCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Erase an address and the content of its mail. Needs the scope `admin`. Counted in the window `default`. */
  start(body: ErasuresStartBody, options?: CallOptions): Promise<Erasure> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/erasures", body }), options);
  }

  /** The receipt of an erasure. Needs the scope `admin`. Counted in the window `default`. */
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

  /** List API keys, newest first. Needs the scope `admin`. Counted in the window `default`. */
  list(query: ApiKeysListQuery = {}, options?: CallOptions): ListCall<ApiKey> {
    return this.#calls.list(() => ({ method: 'GET', path: "/api-keys", query }), options);
  }

  /** Create an API key; its secret is shown this once. Needs the scope `admin`. Counted in the window `default`. */
  create(body: ApiKeysCreateBody, options?: CallOptions): Promise<ApiKeysCreateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/api-keys", body }), options);
  }

  /** The key of this request: scopes, plan, limits, usage. Any valid key may ask. Counted in the window `default`. */
  current(options?: CallOptions): Promise<ApiKeysCurrentAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/api-keys/current" }), options);
  }

  /** Replace an API key by one with the same permissions; the old one keeps working for 24 hours. Needs the scope `admin`. Counted in the window `default`. */
  rotate(key_id: string, options?: CallOptions): Promise<ApiKeysRotateAnswer> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/api-keys/", "/rotate"], key_id) }), options);
  }

  /** Revoke an API key; takes effect with the next request. Needs the scope `admin`. Counted in the window `default`. */
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

  /** List sending domains, newest first. Needs the scope `domains:read`. Counted in the window `default`. */
  list(query: DomainsListQuery = {}, options?: CallOptions): ListCall<Domain> {
    return this.#calls.list(() => ({ method: 'GET', path: "/domains", query }), options);
  }

  /** Add a sending domain; the response has the records to publish. Needs the scope `domains:write`. Counted in the window `default`. */
  add(body: DomainsAddBody, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: "/domains", body }), options);
  }

  /** Get a domain with the records to publish. Needs the scope `domains:read`. Counted in the window `default`. */
  get(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/domains/", ""], domain) }), options);
  }

  /** Change the return path of a domain, or whether mail gets a second DKIM signature. Needs the scope `domains:write`. Counted in the window `default`. */
  update(domain: string, body: DomainsUpdateBody = {}, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'PATCH', path: pathOf(["/domains/", ""], domain), body }), options);
  }

  /** Remove a domain; its open mail is canceled. Needs the scope `domains:write`. Counted in the window `default`. */
  remove(domain: string, options?: CallOptions): Promise<DomainsRemoveAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/domains/", ""], domain) }), options);
  }

  /** Check the DNS of any domain and list the steps to set it up. Needs the scope `domains:read`. Counted in the window `default`. */
  examine(domain: string, options?: CallOptions): Promise<DomainExamination> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/domains/", "/doctor"], domain) }), options);
  }

  /** Check the DNS records of a domain now. Needs the scope `domains:write`. Counted in the window `default`. */
  verify(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/domains/", "/verify"], domain) }), options);
  }

  /** Create new DKIM keys; they sign once their records have been published for a day. Needs the scope `domains:write`. Counted in the window `default`. */
  rotateKeys(domain: string, options?: CallOptions): Promise<Domain> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/domains/", "/rotate-keys"], domain) }), options);
  }
}

/** Mail that was captured instead of delivered. */
export class CapturesCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List captured mail, newest first, or wait for the first that matches. Needs the scope `email:logs:read`. Counted in the window `default`. */
  list(query: CapturesListQuery = {}, options?: CallOptions): ListCall<Capture> {
    return this.#calls.list(() => ({ method: 'GET', path: "/captures", query }), options);
  }

  /** Delete all captured mail of the workspace; for admin, or a sandbox key, of the sandbox. Any valid key may ask. Counted in the window `default`. */
  clear(options?: CallOptions): Promise<CapturesClearAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: "/captures" }), options);
  }

  /** One captured mail with its content, links and one-time codes; for admin, or a sandbox key. Any valid key may ask. Counted in the window `default`. */
  get(id: string, options?: CallOptions): Promise<CaptureDetail> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/captures/", ""], id) }), options);
  }

  /** Delete a captured mail; for admin, or a sandbox key. Any valid key may ask. Counted in the window `default`. */
  delete(id: string, options?: CallOptions): Promise<CapturesDeleteAnswer> {
    return this.#calls.ask(() => ({ method: 'DELETE', path: pathOf(["/captures/", ""], id) }), options);
  }

  /** Send a captured mail, to its recipients or to others; for admin, or a sandbox key. Any valid key may ask. Counted in the window `default`, and in `send`. */
  release(id: string, body: CapturesReleaseBody = {}, options?: RepeatableOptions): Promise<Acknowledgement> {
    return this.#calls.ask(() => ({ method: 'POST', path: pathOf(["/captures/", "/release"], id), body, keyed: true }), options);
  }
}

/** Requests that were refused or failed. */
export class RequestsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** List refused and failed requests, newest first. Needs the scope `admin`. Counted in the window `default`. */
  list(query: RequestsListQuery = {}, options?: CallOptions): ListCall<RequestLogEntry> {
    return this.#calls.list(() => ({ method: 'GET', path: "/requests", query }), options);
  }

  /** One refused or failed request, with its faults and what is kept of its body. Needs the scope `admin`. Counted in the window `default`. */
  get(id: string, options?: CallOptions): Promise<RequestLogEntry> {
    return this.#calls.ask(() => ({ method: 'GET', path: pathOf(["/requests/", ""], id) }), options);
  }
}

/** What became of mail over time. */
export class StatsCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** What became of mail over time, by domain, tag or destination. Needs the scope `email:logs:read`. Counted in the window `default`. */
  get(query: StatsGetQuery = {}, options?: CallOptions): Promise<StatsGetAnswer> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/stats", query }), options);
  }
}

/** Usage against the limits of the plan. */
export class UsageCalls {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** This month's mails of the workspace, by day, and what is left of its plan. Any valid key may ask. Counted in the window `default`. */
  get(options?: CallOptions): Promise<Usage> {
    return this.#calls.ask(() => ({ method: 'GET', path: "/usage" }), options);
  }
}

/** Every resource of /v1. */
export class Resources {
  /** Send mail and follow its delivery. */
  readonly email: EmailCalls;
  /** All events as one list. */
  readonly events: EventsCalls;
  /** Endpoints that events are posted to. */
  readonly webhooks: WebhooksCalls;
  /** Addresses that mail is not sent to. */
  readonly suppressions: SuppressionsCalls;
  /** Runs that erase one address from all that is stored. */
  readonly erasures: ErasuresCalls;
  /** API keys and their scopes. */
  readonly apiKeys: ApiKeysCalls;
  /** Sending domains and their DNS records. */
  readonly domains: DomainsCalls;
  /** Mail that was captured instead of delivered. */
  readonly captures: CapturesCalls;
  /** Requests that were refused or failed. */
  readonly requests: RequestsCalls;
  /** What became of mail over time. */
  readonly stats: StatsCalls;
  /** Usage against the limits of the plan. */
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
