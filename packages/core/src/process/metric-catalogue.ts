/** Upper bounds of histograms. Times are in seconds: requests and phases from 5 ms to 30 s, deliveries up to a day. */
export const metricBuckets = {
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  delivery: [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400],
  points: [1, 10, 100, 1000, 10_000],
} as const;

/** Counts that the reconcilers check; each must be 0. */
export const invariants = ['delivery_without_job', 'webhook_without_job', 'bulk_without_job'] as const;
export type Invariant = (typeof invariants)[number];

/** The queues in which workspaces take turns, one for each shared resource. */
export const shareLines = [
  'request_bodies',
  'submission_parsing',
  'capture_parsing',
  'large_commits',
  'large_emails',
  'domain_checks',
  'dkim_keys',
] as const;
export type ShareLine = (typeof shareLines)[number];
/** Places that are granted or refused immediately; nothing waits for them in the process. */
export type SharePlaces =
  | 'bounce_clients'
  | 'capture_clients'
  | 'docs_searches'
  | 'password_checks'
  | 'submission_strangers'
  | 'submission_clients'
  | 'submission_bytes'
  | 'erasures'
  | 'webhook_recoveries';

interface Definition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** Whether each process counts the metric, or one process reads it for the whole instance. */
  readonly of: 'process' | 'instance';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: keyof typeof metricBuckets;
  /** Values of the metric's only label that are exported as 0 before anything has happened. */
  readonly known?: readonly string[];
}

/**
 * Every metric, without the prefix `postrider_`. Labels are bounded: a provider is one of the busiest or `other`, a
 * transport is one of at most a hundred, and no other label is an address, an id or a name chosen by a customer.
 */
export const metricCatalogue = {
  http_requests_total: {
    kind: 'counter',
    of: 'process',
    help: 'HTTP requests by route and status.',
    labels: ['api', 'route', 'method', 'status'],
  },
  http_request_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from receiving the request headers to the response.',
    labels: ['api', 'route'],
    buckets: 'request',
  },
  graphql_cost_points: {
    kind: 'histogram',
    of: 'process',
    help: 'GraphQL points used per request.',
    labels: ['operation'],
    buckets: 'points',
  },
  messages_accepted_total: {
    kind: 'counter',
    of: 'process',
    help: 'Accepted messages.',
    labels: ['api'],
  },
  messages_finished_total: {
    kind: 'counter',
    of: 'process',
    help: 'Recipients by final status.',
    labels: ['status'],
  },
  accept_to_first_attempt_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from accepting an email, or its scheduled time, to its first attempt.',
    labels: [],
    buckets: 'delivery',
  },
  accept_to_delivered_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from accepting an email, or its scheduled time, to its delivery.',
    labels: [],
    buckets: 'delivery',
  },
  smtp_attempts_total: {
    kind: 'counter',
    of: 'process',
    help: 'Delivery attempts by outcome, rejection class and mailbox provider.',
    labels: ['outcome', 'class', 'provider'],
  },
  transport_attempts_total: {
    kind: 'counter',
    of: 'process',
    help: "Delivery attempts by transport and outcome. default: that of DELIVERY. workspace: those of workspaces' own.",
    labels: ['transport', 'outcome'],
  },
  feedback_posts_total: {
    kind: 'counter',
    of: 'process',
    help: 'Feedback requests from relays: accepted; rejected, without a valid signature; full, over the limits of their transport; unknown, to no URL of ours.',
    labels: ['outcome'],
  },
  feedback_events_total: {
    kind: 'counter',
    of: 'process',
    help: 'Events that relays reported, by kind and outcome.',
    labels: ['kind', 'state'],
  },
  smtp_phase_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Duration of each attempt phase. A reused connection has no connect and no tls.',
    labels: ['phase'],
    buckets: 'request',
  },
  queue_wait_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from when a job was ready until it started.',
    labels: ['queue'],
    buckets: 'delivery',
  },
  queue_run_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Job duration.',
    labels: ['queue'],
    buckets: 'request',
  },
  webhook_attempts_total: {
    kind: 'counter',
    of: 'process',
    help: 'Webhook requests: delivered, to be retried, or permanently failed.',
    labels: ['outcome'],
  },
  webhook_lag_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from an event to its webhook delivery.',
    labels: [],
    buckets: 'delivery',
  },
  rate_limited_total: {
    kind: 'counter',
    of: 'process',
    help: 'Requests rejected with 429, by limit.',
    labels: ['policy'],
  },
  share_waiting: {
    kind: 'gauge',
    of: 'process',
    help: 'Items waiting in a line that workspaces share; for large_emails, the waiting workspaces.',
    labels: ['line'],
    known: shareLines,
  },
  share_rejected_total: {
    kind: 'counter',
    of: 'process',
    help: 'Requests and emails rejected by a shared line or a per-network limit.',
    labels: ['line', 'reason'],
  },
  sse_clients: { kind: 'gauge', of: 'process', help: 'Open event streams.', labels: ['api'], known: ['graphql'] },
  pg_pool_waiting: {
    kind: 'gauge',
    of: 'process',
    help: 'Transactions waiting for a Postgres connection.',
    labels: [],
  },
  unrecorded_mails_limit: {
    kind: 'gauge',
    of: 'process',
    help: 'Emails that this worker may have sent but not recorded. A kill can send this many twice.',
    labels: [],
  },
  invariant_violations: {
    kind: 'gauge',
    of: 'process',
    help: 'Violations found and repaired by a reconciler since the process started. Expected to be 0.',
    labels: ['invariant'],
    known: invariants,
  },
  queue_jobs: { kind: 'gauge', of: 'instance', help: 'Jobs by queue and state.', labels: ['queue', 'state'] },
  queue_oldest_ready_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'Age of the oldest ready job.',
    labels: ['queue'],
  },
  backlog_messages: {
    kind: 'gauge',
    of: 'instance',
    help: 'Open recipients by mailbox provider.',
    labels: ['provider'],
  },
  backlog_oldest_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'Age of the oldest open recipient by mailbox provider.',
    labels: ['provider'],
  },
  holds_active: { kind: 'gauge', of: 'instance', help: 'Active holds.', labels: ['scope'] },
  worker_live: { kind: 'gauge', of: 'instance', help: 'Live processes by role.', labels: ['role'] },
  worker_heartbeat_age_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'Time since the latest heartbeat of any worker.',
    labels: [],
  },
  webhook_endpoints_disabled: {
    kind: 'gauge',
    of: 'instance',
    help: 'Webhook endpoints disabled after failures.',
    labels: [],
  },
  quota_used_ratio: {
    kind: 'gauge',
    of: 'instance',
    help: 'The highest monthly quota use of any workspace.',
    labels: [],
  },
  domain_records_failing: {
    kind: 'gauge',
    of: 'instance',
    help: 'Verified domains that lost a DNS record.',
    labels: [],
  },
  scheduled_late_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'Delay of the oldest scheduled email that is not held or throttled.',
    labels: [],
  },
  clock_skew_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'The largest difference between a process clock and the database clock.',
    labels: [],
  },
  alarms_active: { kind: 'gauge', of: 'instance', help: 'Active alerts.', labels: [] },
  alarm_notices_waiting: {
    kind: 'gauge',
    of: 'instance',
    help: 'Alert notifications waiting for delivery.',
    labels: [],
  },
  alarm_notices_dropped_total: {
    kind: 'counter',
    of: 'process',
    help: 'Alert notifications dropped: not delivered within a day, or over the waiting limit.',
    labels: ['reason'],
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof metricCatalogue;
type MetricsWith<Field extends keyof Definition, Value> = {
  [N in MetricName]: (typeof metricCatalogue)[N] extends Readonly<Record<Field, Value>> ? N : never;
}[MetricName];
export type CounterName = MetricsWith<'kind', 'counter'>;
export type GaugeName = MetricsWith<'kind', 'gauge'>;
export type HistogramName = MetricsWith<'kind', 'histogram'>;
export type InstanceMetric = MetricsWith<'of', 'instance'>;

type TextPerName<T extends readonly string[]> = { readonly [I in keyof T]: string };
/** A value for each label, in catalog order. */
export type LabelsOf<N extends MetricName> = TextPerName<(typeof metricCatalogue)[N]['labels']>;

export function metricDefinition(name: MetricName): Definition {
  return metricCatalogue[name];
}
