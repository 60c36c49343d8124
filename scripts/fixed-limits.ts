import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A limit in the code that no setting changes: its name and its subject. */
type Row = readonly [name: string, of: string];

const files: Readonly<Record<string, readonly Row[]>> = {
  'apps/server/src/http-server.ts': [
    ['headersTimeout', 'request headers'],
    ['requestTimeout', 'a complete request'],
    ['keepAliveTimeout', 'an idle HTTP connection'],
    ['maxHeaderSize', 'request headers, in bytes'],
    ['maxConnections', 'open HTTP connections per process'],
    ['STOP_MS', 'the wait for requests at a stop'],
  ],
  'packages/core/src/operation/body-limits.ts': [
    ['SEND_BODY_BYTES', 'the body of a send or batch request'],
    ['DEFAULT_BODY_BYTES', 'any other request body'],
  ],
  'packages/core/src/feedback/receive-feedback.ts': [
    ['MAX_POSTS_PER_SECOND', "posts of a transport's relay per second and process"],
    ['MAX_PENDING', "a transport's reports that wait to be matched"],
  ],
  'packages/core/src/storage/maintain.ts': [['MAX_FEEDBACK', "a transport's stored reports"]],
  'packages/core/src/transports/transport.ts': [
    ['MAX_OWN_TRANSPORTS', "transports of a workspace's own"],
    ['MAX_OWN_RULES', "rules of a workspace's own"],
    ['MAX_TRANSPORTS', 'transports of the instance'],
    ['MAX_RULES', 'transport rules'],
    ['MAX_TRIED', 'transports per rule'],
    ['MAX_HEADERS', 'headers that a transport adds'],
  ],
  'packages/core/src/operation/parse-input.ts': [['MAX_VALUES', 'values in a request body']],
  'apps/rest/src/read-body.ts': [
    ['PROGRESS_WINDOW_MS', 'the time within which 1 kB of a body must arrive'],
    ['LARGE_PROGRESS_BYTES', 'the same for bodies above the next row'],
    ['UNBUDGETED_BYTES', 'the largest body that needs no share of the budget'],
  ],
  'packages/core/src/requests/request-shares.ts': [
    ['STRANGER_ROWS', 'request log rows per minute and process for requests without a valid key'],
    ['NETWORK_ROWS', 'the same per network'],
    ['WORKSPACE_ROWS', 'request log rows per minute, process and workspace'],
    ['WORKSPACE_BODY_BYTES', 'request bodies in these rows'],
  ],
  'packages/core/src/requests/request-log.ts': [['MAX_TABLE_BYTES', 'the request log on disk']],
  'packages/core/src/alarms/notice-store.ts': [
    ['MAX_OWN_WAITING', "a workspace's pending alert notices"],
    ['MAX_INSTANCE_WAITING', 'the same for instance-wide alerts'],
    ['EXPIRE_SECONDS', 'how long an alert notice is retried'],
  ],
  'packages/core/src/alarms/notices.ts': [['MAX_TURNS', 'concurrent requests and emails about workspace alerts']],
  'packages/core/src/alarms/send-test.ts': [
    ['MAX_TESTS', 'test alerts per hour for a workspace, and the same for the instance'],
  ],
  'packages/core/src/alarms/facts-store.ts': [
    ['MAX_OWN_SUBJECTS', "a workspace's alerts from one rule about webhooks, holds or domains"],
  ],
  'packages/core/src/shares/bounds.ts': [
    ['MAX_OWN_PARSING_WAITING', "a workspace's submitted messages that wait to be parsed"],
    ['MAX_PARSING_WAIT_MS', 'how long one waits for its turn'],
    ['BODY_BYTES', 'large request bodies being read and stored; a workspace gets half'],
    ['MAX_BODY_WAIT_MS', 'how long a large request body waits for its turn'],
    ['MAX_OWN_BODIES_WAITING', "a workspace's large request bodies that wait for their turn"],
    ['BOUNCE_CLIENTS', 'connections to the inbound port'],
    ['BOUNCE_CLIENTS_PER_NETWORK', 'the same per network'],
    ['CAPTURE_CLIENTS', 'connections to the capture port'],
    ['CAPTURE_CLIENTS_PER_NETWORK', 'the same per network'],
    ['SUBMISSION_BYTES', 'submitted email being read and stored; a workspace gets half'],
    ['DOMAIN_CHECKS', 'concurrent domain checks per worker, two of them per workspace'],
    ['KEY_THREADS', 'DKIM keys being generated per process, one of them per workspace'],
    ['MAX_OWN_KEYS_WAITING', "a workspace's DKIM keys that wait to be generated"],
    ['MAX_KEY_WAIT_MS', 'how long a DKIM key waits to be generated'],
    ['PASSWORD_CHECKS', 'passwords that wait to be checked'],
    ['PASSWORD_CHECKS_PER_NETWORK', 'the same per network, known device or session'],
    ['DOC_SEARCHES', 'documentation searches per minute and process'],
    ['DOC_SEARCHES_PER_NETWORK', 'the same per network'],
    ['SUBMISSION_CLIENTS', 'submission connections after login'],
    ['SUBMISSION_CLIENTS_PER_WORKSPACE', 'the same per workspace'],
    ['SUBMISSION_STRANGERS', 'submission connections before login'],
    ['SUBMISSION_STRANGERS_PER_NETWORK', 'the same per network'],
    ['LARGE_COMMIT_BYTES', 'large submissions being committed per process; a workspace gets half'],
    ['LARGE_EMAIL_BYTES', 'large emails being composed and written per worker; a workspace gets half'],
    ['LARGE_SANDBOX_BYTES', 'the same for sandbox email'],
  ],
  'packages/core/src/accept/send-batch.ts': [['MAX_MESSAGES', 'emails in a batch']],
  'packages/core/src/accept/schema.ts': [['MAX_MESSAGE_BYTES', 'email content']],
  'packages/core/src/usage/rate-window.ts': [
    ['ADDRESS_LIMIT', 'requests per minute and network without a valid key'],
    ['SESSION_LIMIT', 'requests per minute and session'],
  ],
  'packages/core/src/usage/address-windows.ts': [
    ['MAX_EXHAUSTED', 'networks whose exhausted window a process remembers'],
  ],
  'packages/core/src/usage/open-stream.ts': [
    ['MAX_KEY_STREAMS', 'open streams per key or session'],
    ['MAX_WORKSPACE_STREAMS', 'open streams per workspace'],
  ],
  'packages/core/src/people/sessions/login-tries.ts': [
    ['MAX_PER_ACCOUNT_AND_NETWORK', 'failed sign-ins to one account from one network, in 15 minutes from the first'],
    ['MAX_PER_ACCOUNT', 'failed sign-ins to one account from all networks, in the same time'],
    ['MAX_PER_NETWORK', 'failed sign-ins from one network to all accounts, in the same time'],
    ['MAX_PER_PROOF', 'wrong passwords on one known device or in one session, which count alone, in the same time'],
  ],
  'packages/core/src/people/factors/check-code.ts': [
    ['MAX_WRONG_CODES', 'wrong codes of the second factor of one person, in 15 minutes from the first'],
    ['MAX_WRONG_CODES_PER_DAY', 'wrong codes of the second factor of one person, in a day from the first'],
  ],
  'packages/core/src/people/factors/pending-store.ts': [['MAX_PENDING', 'sign-ins of one person that lack the code']],
  'packages/core/src/people/notices/notice-store.ts': [
    ['MAX_PER_DAY', 'notices to one person about their account in a day'],
  ],
  'packages/core/src/people/sessions/device-store.ts': [['MAX_DEVICES', 'devices on which one person is known']],
  'apps/admin/src/graphql/cost/limits.ts': [
    ['MAX_POINTS', 'points per GraphQL document'],
    ['MAX_DEPTH', 'GraphQL document depth'],
    ['MAX_ALIASES', 'aliases per GraphQL document'],
    ['MAX_TOKENS', 'tokens per GraphQL document'],
  ],
  'apps/admin/src/graphql/known/text-cache.ts': [
    ['MAX_CACHED_CHARACTERS', 'characters in each of the two GraphQL document caches'],
    ['MAX_TEXT_CHARACTERS', 'characters in the longest cached GraphQL document'],
  ],
  'apps/admin/src/graphql/cost/form.ts': [
    ['MAX_FRAGMENTS', 'fragments per GraphQL document'],
    ['MAX_SELECTIONS', 'selections per GraphQL document, with fragments counted at each use'],
  ],
  'apps/admin/src/graphql/cost/cost-meter.ts': [
    ['MAX_ENTRIES', 'list entries per GraphQL response'],
    ['MAX_MS', 'a GraphQL request'],
  ],
  'packages/db/src/connect.ts': [
    ['STATEMENT_TIMEOUT_MS', 'a statement, ended by Postgres'],
    ['LOCK_TIMEOUT_MS', 'the lock wait for a statement, unless its pool sets another'],
    ['LANE_LOCK_TIMEOUT_MS', 'the lock wait for an accept batch'],
    ['IDLE_IN_TRANSACTION_TIMEOUT_MS', 'a transaction without a statement'],
  ],
  'packages/db/src/migrate.ts': [
    ['LOCK_TIMEOUT_MS', 'the lock wait for a migration, tried 100 times'],
    ['MAX_STEP_MS', 'a migration statement'],
  ],
  'packages/queue/src/connection.ts': [['QUERY_TIMEOUT_MS', "Postgres's response to the queue"]],
  'packages/core/src/stats/store.ts': [['MAX_STEP_MS', 'a statistics step']],
  'packages/core/src/stats/catch-up.ts': [['BUDGET_MS', 'one statistics run']],
  'apps/server/src/start.ts': [
    ['POOL_SIZE', 'Postgres connections per process'],
    ['ACCEPT_CONNECTIONS', 'the same for accepting emails'],
    ['QUEUE_POOL_SIZE', 'the same for the queue'],
    ['TASK_POOL_SIZE', 'the same for periodic tasks'],
    ['ASK_MS', 'each database check while a start waits for it'],
  ],
  'apps/server/src/health.ts': [['RECENT_MS', 'how long ago the last fetch may be for a worker to be ready']],
  'packages/core/src/delivery/store.ts': [
    ['LEASE_SECONDS', 'the lease on an email being sent, renewed every 10 s'],
    ['READ_TOGETHER_BYTES', 'emails that are read with their claim; larger ones are read one by one'],
  ],
  'packages/core/src/delivery/outcome.ts': [
    ['MAX_UNKNOWN', 'attempts without a reply after the content before an email fails'],
    ['MAX_LOST', 'attempts lost with their worker before an email fails'],
  ],
  'packages/core/src/delivery/attempt.ts': [
    ['UNREAD_SECONDS', 'the delay before an email whose body could not be read is retried'],
  ],
  'packages/core/src/delivery/reconcile.ts': [['OVERDUE_SECONDS', 'when a due email without a job gets one']],
  'packages/dispatch/src/delivery/fetcher.ts': [
    ['MAX_IN_FLIGHT', 'emails claimed per worker'],
    ['FETCH_COUNT', 'emails per fetch'],
  ],
  'packages/dispatch/src/delivery/heartbeat.ts': [
    ['UNSURE_MS', 'how long after losing its own connection a worker declares no other dead'],
  ],
  'packages/mail/src/smtp/session-pool.ts': [
    ['MAX_MESSAGES_PER_CONNECTION', 'messages per connection to a mail server'],
  ],
  'packages/mail/src/mx/transport.ts': [
    ['MAX_ROUTES', 'mail server IP addresses per attempt'],
    ['UNREACHABLE_MS', 'how long an unreachable IP address is tried last'],
    ['MAX_KEPT_SESSIONS', 'idle mail server connections per worker'],
  ],
  'packages/mail/src/mx/sts-policies.ts': [['FETCH_MS', 'an MTA-STS policy fetch']],
  'packages/net/src/dns/lookup.ts': [['DEADLINE_MS', 'a DNS record lookup']],
  'packages/core/src/domains/records/check-records.ts': [
    ['CHECK_MS', 'a background domain check'],
    ['CHECK_AT_ONCE_MS', 'the same while a request waits for it'],
  ],
  'packages/net/src/http-guard.ts': [
    ['CONNECT_TIMEOUT_MS', 'a connection to a webhook endpoint'],
    ['TIMEOUT_MS', "a webhook endpoint's response"],
    ['DNS_TIMEOUT_MS', "a DNS query for a webhook's host, made twice"],
    ['MAX_READ_BYTES', 'how much of a webhook response is read'],
  ],
  'packages/core/src/webhooks/endpoints/create-webhook.ts': [['MAX_WEBHOOKS', 'webhooks per workspace and mode']],
  'packages/core/src/webhooks/deliveries/delivery-store.ts': [
    ['WEBHOOK_LEASE_SECONDS', 'the claim on a webhook delivery in progress'],
  ],
  'packages/core/src/webhooks/posting/lease-store.ts': [['LEASE_SECONDS', 'an endpoint lease']],
  'packages/core/src/webhooks/posting/post.ts': [
    ['DISABLE_SECONDS', 'how long an endpoint may accept nothing before it is disabled'],
  ],
  'packages/dispatch/src/webhooks/webhook-pump.ts': [['MAX_CLAIMED', 'webhook deliveries claimed per worker']],
  'packages/dispatch/src/webhooks/endpoint-lanes.ts': [
    ['FIRST_PLACES', 'concurrent requests to one endpoint, at first'],
    ['MAX_PLACES', 'the same at most, while they succeed; if most fail, each failure halves it'],
  ],
  'packages/mail/src/bounce/return-server.ts': [
    ['IDLE_MS', 'an idle session on the inbound port'],
    ['SESSION_MS', 'a complete session on the inbound port'],
    ['MAX_CLIENTS', 'connections to the inbound port, including those being rejected'],
    ['MAX_ACCEPTED_BYTES', 'a message to the inbound port'],
    ['MAX_KEPT_BYTES', 'how much of such a message is read'],
  ],
  'packages/mail/src/parsing/thread-reader.ts': [
    ['DEADLINE_MS', 'the time to parse a returned message'],
    ['MAX_HEAP_MB', 'the memory for it'],
  ],
  'packages/mail/src/submission/submission-server.ts': [
    ['IDLE_MS', 'an idle submission session'],
    ['MAX_CLIENTS', 'connections to a submission port, including those being rejected'],
    ['MAX_RECIPIENTS', 'recipients per submitted message'],
  ],
  'packages/mail/src/submission/client-bounds.ts': [
    ['LOGIN_MS', 'a submission login'],
    ['MAIL_MS', 'the time for a submitted message to arrive'],
    ['CROWD', 'submission sessions above which idle ones are closed'],
    ['IDLE_IN_CROWD_MS', 'an idle submission session above that number'],
  ],
  'packages/mail/src/submission/submission-reader.ts': [['DEADLINE_MS', 'the time to parse a submitted message']],
  'packages/mail/src/capture/capture-reader.ts': [['DEADLINE_MS', 'the time to parse a captured email']],
  'packages/mail/src/capture/capture-server.ts': [
    ['MAX_MAIL_BYTES', 'an email to the capture port'],
    ['MAX_CLIENTS', 'connections to the capture port, including those being rejected'],
  ],
  'packages/core/src/storage/captured.ts': [['MAX_CAPTURED', 'captured emails stored per workspace']],
  'packages/core/src/erasures/start-erasure.ts': [['MAX_OPEN_ERASURES', 'open erasures per workspace']],
  'packages/core/src/bulk/run-bulk.ts': [['MAX_OPEN', 'open bulk operations per workspace']],
};

const UNITS: readonly (readonly [suffix: RegExp, unit: string, per: readonly (readonly [number, string])[]])[] = [
  [
    /_MS$|Timeout$/,
    'ms',
    [
      [86_400_000, 'd'],
      [3_600_000, 'h'],
      [60_000, 'm'],
      [1000, 's'],
    ],
  ],
  [
    /_SECONDS$/,
    's',
    [
      [86_400, 'd'],
      [3600, 'h'],
      [60, 'm'],
    ],
  ],
  [
    /BYTES$|Size$|_CAPTURED$/,
    ' bytes',
    [
      [1024 * 1024, ' MiB'],
      [1024, ' KiB'],
    ],
  ],
  [/_MB$/, ' MB', []],
];

/** Returns the limits as currently set in the code. */
export function fixedLimits(): { readonly usual: string; readonly of: string }[] {
  return Object.entries(files).flatMap(([path, rows]) => {
    const text = readFileSync(`${root}/${path}`, 'utf8');
    return rows.map(([name, description]) => ({ usual: textOf(name, numberNamed(text, name, path)), of: description }));
  });
}

function numberNamed(text: string, name: string, path: string): number {
  const [, product] =
    new RegExp(`(?:const |\\.|\\s)${name}(?: =|:) ([\\d_ *]+|[\\d_ *]*[A-Z]+_MS)[;,]`).exec(text) ?? [];
  if (product === undefined) throw new Error(`${path} has no number ${name}`);
  return product
    .split('*')
    .map((factor) => factor.trim())
    .reduce((value, factor) => value * (/^[A-Z]/.test(factor) ? numberNamed(text, factor, path) : numberOf(factor)), 1);
}

function numberOf(digits: string): number {
  return Number(digits.replaceAll('_', ''));
}

function textOf(name: string, value: number): string {
  const [, unit, larger] = UNITS.find(([suffix]) => suffix.test(name)) ?? [null, '', []];
  const fit = larger.find(([size]) => value >= size && value % size === 0);
  return fit ? `${value / fit[0]}${fit[1]}` : `${value}${unit}`;
}
