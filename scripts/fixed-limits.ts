import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A bound of the code that no setting changes: where it stands, under which name, and what it is of. */
type Row = readonly [name: string, of: string];

const files: Readonly<Record<string, readonly Row[]>> = {
  'apps/server/src/http-server.ts': [
    ['headersTimeout', 'the headers of a request'],
    ['requestTimeout', 'a whole request'],
    ['keepAliveTimeout', 'an HTTP connection without a request'],
    ['maxHeaderSize', 'the headers of a request, in bytes'],
    ['maxConnections', 'open HTTP connections of a process'],
    ['STOP_MS', 'how long a stop waits for requests'],
  ],
  'packages/core/src/operation/body-limits.ts': [
    ['SEND_BODY_BYTES', 'the body of a request that sends mail: a message or a batch'],
    ['USUAL_BODY_BYTES', 'the body of any other request'],
  ],
  'packages/core/src/operation/parse-input.ts': [['MOST_VALUES', 'values in the body of a request']],
  'apps/rest/src/read-body.ts': [
    ['PROGRESS_WINDOW_MS', 'the time in which a body must go on by 1 kB'],
    ['LARGE_PROGRESS_BYTES', 'how much of a body over the next row must arrive in that time'],
    ['UNBUDGETED_BYTES', 'a body that waits for no part of the budget'],
  ],
  'packages/core/src/requests/request-shares.ts': [
    ['STRANGER_ROWS', 'rows a minute of the request log for requests without a valid key, of a process'],
    ['NETWORK_ROWS', 'of them, rows of one network'],
    ['WORKSPACE_ROWS', 'rows a minute of the request log for a workspace, of a process'],
    ['WORKSPACE_BODY_BYTES', 'bodies in these rows'],
  ],
  'packages/core/src/requests/request-log.ts': [['MAX_TABLE_BYTES', 'the request log on disk']],
  'packages/core/src/alarms/notice-store.ts': [
    ['MAX_OWN_WAITING', 'notices of alarms of a workspace that wait to be delivered'],
    ['MAX_INSTANCE_WAITING', 'the same for the instance'],
    ['EXPIRE_SECONDS', 'how long a notice of an alarm is retried'],
  ],
  'packages/core/src/alarms/notices.ts': [['MAX_TURNS', 'requests and emails about alarms of workspaces at one time']],
  'packages/core/src/alarms/facts-store.ts': [
    ['MAX_OWN_SUBJECTS', 'alarms of a workspace by one rule about webhooks, holds or domains'],
  ],
  'packages/core/src/shares/bounds.ts': [
    ['MAX_OWN_PARSING_WAITING', 'submitted messages of a workspace that wait to be read'],
    ['MAX_PARSING_WAIT_MS', 'how long one waits for its turn'],
    [
      'BODY_BYTES',
      'large request bodies that are read and stored at one time, and so many of submitted email; a workspace gets half',
    ],
    ['MAX_BODY_WAIT_MS', 'how long a large request body waits for its turn'],
    ['MAX_OWN_BODIES_WAITING', 'large request bodies of a workspace that wait for their turn'],
    ['BOUNCE_CLIENTS', 'sessions with the inbound port'],
    ['BOUNCE_CLIENTS_OF_NETWORK', 'of them, sessions of one network'],
    ['CAPTURE_CLIENTS', 'connections to the capture port'],
    ['CAPTURE_CLIENTS_OF_NETWORK', 'of them, connections of one network'],
    ['DOMAIN_CHECKS', 'domains that a worker checks at one time, two of them of one workspace'],
    ['PASSWORD_CHECKS', 'passwords that wait to be checked'],
    ['PASSWORD_CHECKS_OF_NETWORK', 'of them, passwords from one network, known device or session'],
    ['DOC_SEARCHES', 'searches of the documentation in a minute, of a process'],
    ['DOC_SEARCHES_OF_NETWORK', 'of them, searches of one network'],
    ['SUBMISSION_CLIENTS', 'sessions of programs that have logged in'],
    ['SUBMISSION_CLIENTS_OF_WORKSPACE', 'of them, sessions of one workspace'],
    ['SUBMISSION_STRANGERS', 'sessions of programs that have not logged in'],
    ['SUBMISSION_STRANGERS_OF_NETWORK', 'of them, sessions of one network'],
    ['LARGE_COMMIT_BYTES', 'large submissions that a process commits at one time; a workspace gets half of it'],
    ['LARGE_EMAIL_BYTES', 'large emails that a worker composes and writes at one time; a workspace gets half of it'],
    ['LARGE_SANDBOX_BYTES', 'the same for sandbox email'],
  ],
  'packages/core/src/accept/send-batch.ts': [['MOST_MESSAGES', 'mails of a batch']],
  'packages/core/src/accept/schema.ts': [['MOST_MESSAGE_BYTES', 'the content of a mail']],
  'packages/core/src/usage/rate-window.ts': [
    ['ADDRESS_LIMIT', 'requests a minute of one address without a valid key'],
    ['SESSION_LIMIT', 'requests a minute of one session'],
  ],
  'packages/core/src/usage/open-stream.ts': [['MOST_STREAMS', 'open streams of one key or session']],
  'packages/core/src/people/sessions/login-tries.ts': [
    ['MAX_OF_ACCOUNT_AND_NETWORK', 'failed sign-ins to one account from one network, in 15 minutes from the first'],
    ['MAX_OF_ACCOUNT', 'failed sign-ins to one account from all networks, in the same time'],
    ['MAX_OF_NETWORK', 'failed sign-ins from one network to all accounts, in the same time'],
    ['MAX_OF_PROOF', 'wrong passwords on one known device or in one session, which count alone, in the same time'],
  ],
  'packages/core/src/people/sessions/device-store.ts': [['MAX_DEVICES', 'devices on which one person is known']],
  'apps/admin/src/graphql/cost/limits.ts': [
    ['MOST_POINTS', 'points of one GraphQL document'],
    ['DEEPEST', 'levels of a GraphQL document'],
    ['MOST_ALIASES', 'aliases of a GraphQL document'],
    ['MOST_TOKENS', 'tokens of a GraphQL document'],
  ],
  'apps/admin/src/graphql/known/text-cache.ts': [
    ['MAX_CACHED_CHARACTERS', 'characters of cached GraphQL documents, of each of two caches'],
    ['MAX_TEXT_CHARACTERS', 'characters of one GraphQL document that is cached'],
  ],
  'apps/admin/src/graphql/cost/form.ts': [
    ['MOST_FRAGMENTS', 'fragments of a GraphQL document'],
    ['MOST_SELECTIONS', 'selections of a GraphQL document, fragments counted where they are used'],
  ],
  'apps/admin/src/graphql/cost/cost-meter.ts': [
    ['MOST_ENTRIES', 'entries of the lists in a GraphQL answer'],
    ['LONGEST_MS', 'a GraphQL request'],
  ],
  'packages/db/src/connect.ts': [
    ['STATEMENT_TIMEOUT_MS', 'a statement, ended by Postgres'],
    ['LOCK_TIMEOUT_MS', 'the wait of a statement for a lock, where its pool sets no other'],
    ['LANE_LOCK_TIMEOUT_MS', 'the wait of a batch of mail that is being accepted for a lock'],
    ['IDLE_IN_TRANSACTION_TIMEOUT_MS', 'a transaction without a statement'],
  ],
  'packages/db/src/migrate.ts': [
    ['LOCK_TIMEOUT_MS', 'the wait of a migration for a lock, tried 100 times'],
    ['LONGEST_STEP_MS', 'a statement of a migration'],
  ],
  'packages/queue/src/connection.ts': [['QUERY_TIMEOUT_MS', 'the answer of Postgres to the queue']],
  'packages/core/src/stats/store.ts': [['LONGEST_STEP_MS', 'a step of the statistics']],
  'packages/core/src/stats/catch-up.ts': [['BUDGET_MS', 'the statistics that one run makes']],
  'apps/server/src/start.ts': [
    ['POOL_SIZE', 'connections of a process to Postgres'],
    ['ACCEPT_CONNECTIONS', 'the same, for accepting mail'],
    ['QUEUE_POOL_SIZE', 'the same, for the queue'],
    ['TASK_POOL_SIZE', 'the same, for periodic tasks'],
    ['ASK_MS', 'the answer of the database to each look of a start that waits for it'],
  ],
  'apps/server/src/health.ts': [['RECENT_MS', 'without a fetch for so long a worker cannot deliver']],
  'packages/core/src/delivery/store.ts': [
    ['LEASE_SECONDS', 'the lease of a mail that is being sent, renewed each 10 s'],
    ['READ_TOGETHER_BYTES', 'a mail that is read with its claim; larger ones are read one by one'],
  ],
  'packages/core/src/delivery/outcome.ts': [
    ['MOST_UNKNOWN', 'attempts without an answer after the content, until a mail is given up'],
    ['MOST_LOST', 'attempts that were lost with their worker, until a mail is given up'],
  ],
  'packages/core/src/delivery/attempt.ts': [
    ['UNREAD_SECONDS', 'until mail is tried again whose body could not be read'],
  ],
  'packages/core/src/delivery/reconcile.ts': [
    ['OVERDUE_SECONDS', 'after so long a due mail without a job is given one'],
  ],
  'packages/dispatch/src/delivery/fetcher.ts': [
    ['MOST_IN_FLIGHT', 'mails that a worker has claimed'],
    ['FETCH_COUNT', 'mails of one fetch'],
  ],
  'packages/dispatch/src/delivery/heartbeat.ts': [
    ['UNSURE_MS', 'for so long after losing its own connection a worker takes no other for dead'],
  ],
  'packages/mail/src/smtp/session-pool.ts': [
    ['MAX_MESSAGES_PER_CONNECTION', 'mails over one connection to a mail server'],
  ],
  'packages/mail/src/mx/transport.ts': [
    ['MAX_ROUTES', 'addresses of mail servers that one attempt tries'],
    ['UNREACHABLE_MS', 'for so long an address that could not be connected to is tried last'],
    ['MAX_KEPT_SESSIONS', 'kept connections of a worker to mail servers'],
  ],
  'packages/mail/src/mx/sts-policies.ts': [['FETCH_MS', 'the fetch of an MTA-STS policy']],
  'packages/net/src/dns/lookup.ts': [['DEADLINE_MS', 'a lookup of one record of a domain']],
  'packages/core/src/domains/records/check-records.ts': [
    ['CHECK_MS', 'the examination of a domain in the background'],
    ['CHECK_AT_ONCE_MS', 'the same, while a request waits for it'],
  ],
  'packages/net/src/http-guard.ts': [
    ['CONNECT_TIMEOUT_MS', 'a connection to a webhook endpoint'],
    ['TIMEOUT_MS', 'the answer of a webhook endpoint'],
    ['DNS_TIMEOUT_MS', 'a query for the host of a webhook, made twice'],
    ['MOST_READ_BYTES', 'what is read of an answer to a webhook'],
  ],
  'packages/core/src/webhooks/endpoints/create-webhook.ts': [
    ['MOST_WEBHOOKS', 'webhooks of a workspace, of each mode'],
  ],
  'packages/core/src/webhooks/deliveries/delivery-store.ts': [
    ['WEBHOOK_LEASE_SECONDS', 'the claim of a webhook delivery that is being posted'],
  ],
  'packages/core/src/webhooks/posting/lease-store.ts': [['LEASE_SECONDS', 'the lease of an endpoint']],
  'packages/core/src/webhooks/posting/post.ts': [
    ['DISABLE_SECONDS', 'an endpoint that accepted nothing for so long is disabled'],
  ],
  'packages/dispatch/src/webhooks/webhook-pump.ts': [['MOST_CLAIMED', 'webhook deliveries that a worker has claimed']],
  'packages/dispatch/src/webhooks/endpoint-lanes.ts': [
    ['FIRST_PLACES', 'posts to one endpoint at one time, at first'],
    ['MAX_PLACES', 'the same while they succeed, at most; a failure halves it'],
  ],
  'packages/mail/src/bounce/return-server.ts': [
    ['IDLE_MS', 'a session with the inbound port without a command'],
    ['SESSION_MS', 'a whole session with the inbound port'],
    ['MAX_CLIENTS', 'connections to the inbound port, with those that are being turned away'],
    ['MOST_TAKEN_BYTES', 'a mail to the inbound port'],
    ['MOST_KEPT_BYTES', 'what is read of such a mail'],
  ],
  'packages/mail/src/parsing/thread-reader.ts': [
    ['DEADLINE_MS', 'the reading of a returned mail'],
    ['MAX_HEAP_MB', 'the memory for it'],
  ],
  'packages/mail/src/submission/submission-server.ts': [
    ['IDLE_MS', 'a session of a program without a command'],
    ['MAX_CLIENTS', 'connections to a submission port, with those that are being turned away'],
    ['MAX_RECIPIENTS', 'recipients that a program may name'],
  ],
  'packages/mail/src/submission/client-bounds.ts': [
    ['LOGIN_MS', 'the login of a program'],
    ['MAIL_MS', 'the arrival of a mail of a program'],
    ['CROWD', 'sessions of programs from which on idle ones are closed for the next'],
    ['IDLE_IN_CROWD_MS', 'a session of a program without an email, where there are so many'],
  ],
  'packages/mail/src/submission/submission-reader.ts': [['DEADLINE_MS', 'the reading of a mail of a program']],
  'packages/mail/src/capture/capture-server.ts': [
    ['MAX_MAIL_BYTES', 'an email to the capture port'],
    ['MAX_CLIENTS', 'connections to the capture port, with those that are being turned away'],
  ],
  'packages/core/src/storage/captured.ts': [['MOST_CAPTURED', 'captured mail that is kept for a workspace']],
  'packages/core/src/erasures/start-erasure.ts': [['MAX_OPEN_ERASURES', 'erasures of a workspace at one time']],
  'packages/core/src/bulk/run-bulk.ts': [['MOST_OPEN', 'bulk operations of a workspace at one time']],
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

/** The bounds as the code has them now. */
export function fixedLimits(): { readonly usual: string; readonly of: string }[] {
  return Object.entries(files).flatMap(([path, rows]) => {
    const text = readFileSync(`${root}/${path}`, 'utf8');
    return rows.map(([name, of]) => ({ usual: written(name, numberNamed(text, name, path)), of }));
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

function written(name: string, value: number): string {
  const [, unit, larger] = UNITS.find(([suffix]) => suffix.test(name)) ?? [null, '', []];
  const fit = larger.find(([size]) => value >= size && value % size === 0);
  return fit ? `${value / fit[0]}${fit[1]}` : `${value}${unit}`;
}
