/** Upper bounds of histograms. Times are in seconds: requests and phases from 5 ms to 30 s, deliveries up to a day. */
export const metricBuckets = {
  request: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  delivery: [0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400],
  points: [1, 10, 100, 1000, 10_000],
} as const;

/** What the reconcilers look for; each count is promised to be 0. */
export const invariants = ['delivery_without_job', 'webhook_without_job', 'bulk_without_job'] as const;
export type Invariant = (typeof invariants)[number];

/** The lines in which workspaces take turns, each before something that they share. */
export const shareLines = [
  'request_bodies',
  'submission_parsing',
  'capture_parsing',
  'large_commits',
  'large_emails',
  'domain_checks',
] as const;
export type ShareLine = (typeof shareLines)[number];
/** Places that are taken or rejected, but not waited for in the process. */
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
  /** Counted by each process, or read by one process for the whole instance. */
  readonly of: 'process' | 'instance';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: keyof typeof metricBuckets;
  /** Values of the only label that are exported as 0 before anything happened. */
  readonly known?: readonly string[];
}

/**
 * Every metric, without the prefix `postrider_`. Labels are bounded: a provider is one of the busiest or `other`, and no
 * label is an address, an id or a name that a customer chose.
 */
export const metricCatalogue = {
  http_requests_total: {
    kind: 'counter',
    of: 'process',
    help: 'Answered HTTP requests.',
    labels: ['api', 'route', 'method', 'status'],
  },
  http_request_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from the head of a request to its answer.',
    labels: ['api', 'route'],
    buckets: 'request',
  },
  graphql_cost_points: {
    kind: 'histogram',
    of: 'process',
    help: 'Points that a GraphQL request took from the budget of its key.',
    labels: ['operation'],
    buckets: 'points',
  },
  messages_accepted_total: {
    kind: 'counter',
    of: 'process',
    help: 'Messages that were committed.',
    labels: ['api'],
  },
  messages_finished_total: {
    kind: 'counter',
    of: 'process',
    help: 'Recipients of messages whose delivery ended, by their final state.',
    labels: ['status'],
  },
  accept_to_first_attempt_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from the commit of a mail, or the time it was scheduled for, to the start of its first attempt.',
    labels: [],
    buckets: 'delivery',
  },
  accept_to_delivered_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from the commit of a mail, or the time it was scheduled for, until a server took it.',
    labels: [],
    buckets: 'delivery',
  },
  smtp_attempts_total: {
    kind: 'counter',
    of: 'process',
    help: 'Attempts to deliver, by outcome, class of the refusal and mailbox provider.',
    labels: ['outcome', 'class', 'provider'],
  },
  smtp_phase_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time that the phases of an attempt took; a kept connection has no connect and no tls.',
    labels: ['phase'],
    buckets: 'request',
  },
  queue_wait_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from when a job could run until it did.',
    labels: ['queue'],
    buckets: 'delivery',
  },
  queue_run_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time that a run of a job took.',
    labels: ['queue'],
    buckets: 'request',
  },
  webhook_attempts_total: {
    kind: 'counter',
    of: 'process',
    help: 'Posts to webhook endpoints: delivered, to be retried, or failed for good.',
    labels: ['outcome'],
  },
  webhook_lag_seconds: {
    kind: 'histogram',
    of: 'process',
    help: 'Time from an event until an endpoint took it.',
    labels: [],
    buckets: 'delivery',
  },
  rate_limited_total: {
    kind: 'counter',
    of: 'process',
    help: 'Requests that were answered 429, by the limit that refused them.',
    labels: ['policy'],
  },
  share_waiting: {
    kind: 'gauge',
    of: 'process',
    help: 'What waits for its turn in a line that workspaces share; in large_emails, the workspaces that have some.',
    labels: ['line'],
    known: shareLines,
  },
  share_rejected_total: {
    kind: 'counter',
    of: 'process',
    help: 'Requests and emails that a shared line or the places of a network turned away.',
    labels: ['line', 'reason'],
  },
  sse_clients: { kind: 'gauge', of: 'process', help: 'Open event streams.', labels: ['api'], known: ['graphql'] },
  pg_pool_waiting: {
    kind: 'gauge',
    of: 'process',
    help: 'Transactions that wait for a connection to Postgres.',
    labels: [],
  },
  unrecorded_mails_limit: {
    kind: 'gauge',
    of: 'process',
    help: 'How many mails this worker may have sent and not recorded: a kill may send as many twice.',
    labels: [],
  },
  invariant_violations: {
    kind: 'gauge',
    of: 'process',
    help: 'Violations that a reconciler found and repaired since the start of the process; promised to be 0.',
    labels: ['invariant'],
    known: invariants,
  },
  queue_jobs: { kind: 'gauge', of: 'instance', help: 'Jobs of a queue by state.', labels: ['queue', 'state'] },
  queue_oldest_ready_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'Age of the oldest job that could run.',
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
  holds_active: { kind: 'gauge', of: 'instance', help: 'Holds in force.', labels: ['scope'] },
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
    help: 'Endpoints that were disabled for their failures.',
    labels: [],
  },
  quota_used_ratio: {
    kind: 'gauge',
    of: 'instance',
    help: 'The largest share of its monthly volume that any workspace has used.',
    labels: [],
  },
  domain_records_failing: {
    kind: 'gauge',
    of: 'instance',
    help: 'Domains that were verified and lost a record.',
    labels: [],
  },
  scheduled_late_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'How late the oldest scheduled mail is that nothing holds or throttles.',
    labels: [],
  },
  clock_skew_seconds: {
    kind: 'gauge',
    of: 'instance',
    help: 'The largest difference between the clock of a live process and that of the database.',
    labels: [],
  },
  alarms_active: { kind: 'gauge', of: 'instance', help: 'Alarms that were raised and have not ended.', labels: [] },
  alarm_notices_waiting: {
    kind: 'gauge',
    of: 'instance',
    help: 'Notices of alarms that have not been delivered yet.',
    labels: [],
  },
  alarm_notices_dropped_total: {
    kind: 'counter',
    of: 'process',
    help: 'Notices of alarms that were given up: not delivered within a day, or more than an owner can have waiting.',
    labels: ['reason'],
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof metricCatalogue;
type Named<Field extends keyof Definition, Value> = {
  [N in MetricName]: (typeof metricCatalogue)[N] extends Readonly<Record<Field, Value>> ? N : never;
}[MetricName];
export type CounterName = Named<'kind', 'counter'>;
export type GaugeName = Named<'kind', 'gauge'>;
export type HistogramName = Named<'kind', 'histogram'>;
export type InstanceMetric = Named<'of', 'instance'>;

type TextOfEach<T extends readonly string[]> = { readonly [I in keyof T]: string };
/** A value for each label, in the order of the catalogue. */
export type LabelsOf<N extends MetricName> = TextOfEach<(typeof metricCatalogue)[N]['labels']>;

export function metricDefinition(name: MetricName): Definition {
  return metricCatalogue[name];
}
