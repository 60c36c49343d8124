// Makes baseline.sql.br, the database that upgrade.test.ts upgrades: a process of the product creates every kind of
// object in every state and is killed while sending; its database is then dumped. The process runs the release that
// froze the schema; migrations add what later releases introduced.
//
// git worktree add /tmp/baseline 42c10cb && (cd /tmp/baseline && npm ci)
// node apps/server/test/upgrade/make-fixture.ts postgres://postgres@127.0.0.1:5432/an_empty_database /tmp/baseline
//
// It needs a pg_dump that can read that server, and takes a few minutes. Between 22:00 and 06:00 UTC, no alarm emails
// are sent.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { connect } from '@postrider/db';
import { bringMail, startDnsZone, startWebhookSink } from '@postrider/testing';
import { freePorts } from '../free-ports.ts';
import { type ApiResponse, type ServerProcess, startServer } from '../server-process.ts';
import { ADMIN_SECRET, OPERATOR, ROOT_SECRET } from './fixture.ts';

const FILE = fileURLToPath(new URL('baseline.sql.br', import.meta.url));
const BATCH = 100;
const EMAILS = 10_000;
const DAY_MS = 86_400_000;

type Json = Record<string, unknown>;

const [database_url, checkout] = process.argv.slice(2);
if (database_url === undefined || checkout === undefined)
  throw new Error('name an empty database, and the folder of the release that froze the schema');
const sql = connect(database_url, { max: 2, application_name: 'postrider-fixture' });
const zone = await startDnsZone();
const endpoint = await startWebhookSink();
endpoint.script(({ path, nth }) => {
  if (path === '/gone') return { kind: 'reply', status: 410 };
  if (path === '/failing') return { kind: 'reply', status: 500, body: 'out of order' };
  return { kind: 'reply', status: path === '/late' && nth < 2 ? 503 : 200 };
});
const ports = await freePorts();
const server = await startServer(
  {
    DATABASE_URL: database_url,
    SECRET_KEY: ROOT_SECRET,
    BOOTSTRAP_API_KEY: ADMIN_SECRET,
    ADMIN_EMAIL: OPERATOR.email,
    ADMIN_PASSWORD: OPERATOR.password,
    DNS_SERVERS: zone.address,
    LOG_LEVEL: 'warn',
    ...ports,
  },
  checkout,
);
try {
  await work(server);
} finally {
  await server.kill();
  await zone.stop();
  await endpoint.stop();
}
await sql.end();
dump(database_url);

async function work({ url }: ServerProcess): Promise<void> {
  for (const name of ['acme.test', 'paused.test']) await verify(name, ADMIN_SECRET);
  const other = await secondWorkspace();
  await verify('second.test', other.secret);
  await rest('POST', '/domains', { name: 'pending.test', dkim_ed25519: true });

  await inBulk(ADMIN_SECRET, 'acme.test', EMAILS);
  await inBulk(other.secret, 'second.test', 5 * BATCH);
  await until('bulk mail is delivered', async () => (await countOf("state = 'delivered'")) >= EMAILS + 5 * BATCH);
  await rest('DELETE', '/captures');
  await rest('DELETE', '/captures', undefined, other.secret);

  await setUp(other.workspace_id);
  await signIn(url);
  await everyOutcome();
  await troubledDomains(other.secret);
  await failedRuns();
  await until(
    'one was delivered at its second attempt',
    async () => (await countOf("state = 'delivered' and attempt_count > 1")) > 0,
  );
  await webhookPerKind();
  await openMail(other.secret);
  await operate();
  await sendInvalid();
  await until(
    'failures are counted',
    async () => (await sql`select from failure_groups where kind in ('smtp', 'webhook', 'job')`).length >= 3,
  );
  await until('statistics are counted', async () => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from stat_minutes where key <> ''`;
    return (row?.count ?? 0) > 0;
  });
  // The process is killed while these messages are being sent.
  for (const label of ['a', 'b', 'c']) await send({ to: `slow+300s+${label}@simulator.test`, subject: 'In transit' });
  await until('mail is in transit', async () => (await countOf("state = 'sending'")) === 3);
}

async function rest(method: string, path: string, body?: unknown, key = ADMIN_SECRET): Promise<Json> {
  const response: ApiResponse = await server.call(method, `/v1${path}`, { key, body });
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
  return response.body;
}

async function graphql(query: string, variables: Json): Promise<Json> {
  const { text, body } = await server.call('POST', '/graphql', { body: { query, variables } });
  const data = body.data as Record<string, Json> | undefined;
  const [result] = Object.values(data ?? {});
  if (body.errors !== undefined || result === undefined || String(result.__typename).endsWith('Error'))
    throw new Error(`${query}: ${text}`);
  return result;
}

/** Runs a mutation whose success type has these fields. */
function mutate(field: string, input_type: string, success: string, input: Json): Promise<Json> {
  const query = `mutation ($input: ${input_type}!) { ${field}(input: $input) { __typename ${success}
    ... on InvalidInputError { message } ... on StateError { message } ... on NotFoundError { message } } }`;
  return graphql(query, { input });
}

interface DnsRecord {
  readonly fqdn: string;
  readonly type: string;
  readonly value: string;
  readonly purpose: string;
}

async function verify(name: string, key: string): Promise<readonly DnsRecord[]> {
  const added = await rest('POST', '/domains', { name, return_path: 'bounces' }, key);
  const records = added.dns_records as DnsRecord[];
  publish(records);
  await untilChecked(name, 'verified', key);
  return records;
}

function publish(records: readonly DnsRecord[]): void {
  for (const { type, fqdn, value } of records) {
    if (type === 'TXT') zone.set(fqdn, 'TXT', [value]);
    if (type === 'CNAME') zone.set(fqdn, 'CNAME', [value]);
    if (type === 'MX') zone.set(fqdn, 'MX', [{ priority: 10, exchange: value.replace(/^10 /, '') }]);
  }
}

function untilChecked(name: string, target: string, key = ADMIN_SECRET): Promise<void> {
  return until(`${name} is ${target}`, async () => {
    const { status } = await rest('POST', `/domains/${name}/verify`, undefined, key);
    return status === target;
  });
}

async function secondWorkspace(): Promise<{ workspace_id: string; secret: string }> {
  await mutate('planCreate', 'PlanLimitsInput', '', {
    name: 'large',
    monthlyEmails: 100_000,
    maxRecipientsPerRequest: 20,
  });
  const success = '... on WorkspaceCreatePayload { secret workspace { id } }';
  const workspace = await mutate('workspaceCreate', 'WorkspaceInput', success, { name: 'Second', plan: 'large' });
  const { id } = workspace.workspace as { id: string };
  return { workspace_id: id, secret: String(workspace.secret) };
}

async function inBulk(key: string, domain: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += BATCH) {
    const messages = Array.from({ length: BATCH }, (_, index) => ({
      from: `Acme <hello@${domain}>`,
      to: `delivered+${at + index}@simulator.test`,
      subject: `Receipt ${at + index}`,
      text: `Your order ${at + index} is on its way.`,
      ...(index % 10 === 0 && { tags: ['receipt', `batch-${at / BATCH}`], metadata: { order: String(at + index) } }),
    }));
    await rest('POST', '/email/batch', { messages }, key);
  }
}

/** Creates keys, webhooks, suppressions, and settings, some of them expired. */
async function setUp(other_workspace_id: string): Promise<void> {
  const rotated = await rest('POST', '/api-keys', { name: 'Rotated', scopes: ['email:send'] });
  await rest('POST', `/api-keys/${rotated.id}/rotate`);
  const revoked = await rest('POST', '/api-keys', { name: 'Revoked', scopes: ['email:send'], domains: ['acme.test'] });
  await rest('DELETE', `/api-keys/${revoked.id}`);
  const expires_at = new Date(Date.now() + 2000).toISOString();
  await rest('POST', '/api-keys', { name: 'Expired', scopes: ['email:send'], expires_at });
  const events = ['email.bounced', 'email.complained', 'email.failed', 'email.delivery_delayed', 'domain.verified'];
  for (const path of ['working', 'late', 'failing', 'gone', 'off'])
    await rest('POST', '/webhooks', { url: `${endpoint.url}/${path}`, events, description: path });
  await rest('POST', '/suppressions', { email: 'left@example.com', reason: 'asked to' });
  await rest('POST', '/suppressions', { email: 'away@example.com', expires_at: new Date(Date.now() + 30 * DAY_MS) });
  await rest('POST', '/suppressions', { suppressions: [{ email: 'imported@example.com', reason: 'moved here' }] });
  await mutate('memberInvite', 'MemberInviteInput', '', {
    email: 'member@acme.test',
    role: 'MEMBER',
    entry: 'LOGIN_LINK',
  });
  await mutate('memberInvite', 'MemberInviteInput', '', {
    email: 'admin@second.test',
    role: 'ADMIN',
    entry: 'PASSWORD',
    workspaceId: other_workspace_id,
  });
  await mutate('destinationLimit', 'DestinationLimitInput', '', { destination: 'limited.test', messagesPerMinute: 60 });
  await mutate('queueSetConcurrency', 'ConcurrencyInput', '', {
    queue: 'webhook.deliver',
    concurrency: 30,
    reason: 'more',
  });
  await mutate('alarmSettingsUpdate', 'AlarmSettingsInput', '', {
    emails: ['oncall@acme.test'],
    quietFrom: '22:00',
    quietUntil: '06:00',
  });
}

async function signIn(url: string): Promise<void> {
  const signed_in = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(OPERATOR),
  });
  if (signed_in.status >= 400 || signed_in.headers.getSetCookie().length === 0)
    throw new Error('the operator could not sign in');
}

async function send(mail: Json, key = ADMIN_SECRET, headers: Record<string, string> = {}): Promise<string> {
  const body = { from: 'hello@acme.test', subject: 'Hello', text: 'Hi', ...mail };
  const response = await server.call('POST', '/v1/email/send', { key, body, headers });
  if (response.status !== 202) throw new Error(`${JSON.stringify(mail)}: ${response.text}`);
  return String(response.body.id);
}

/** Sends email that reaches every outcome. */
async function everyOutcome(): Promise<void> {
  const sandbox = await rest('POST', '/api-keys', { name: 'Sandbox', scopes: ['email:send'], mode: 'sandbox' });
  await send({ from: 'hello@sandbox.test', to: 'delivered@simulator.test' }, String(sandbox.secret));
  const attachments = [{ filename: 'receipt.txt', content: Buffer.from('Thank you').toString('base64') }];
  const full = await send(
    {
      to: ['Ada <ada@example.com>', 'bounce+5.1.1+full@simulator.test'],
      cc: 'cc@example.com',
      bcc: 'bcc@example.com',
      reply_to: 'help@acme.test',
      html: '<p>Hi <a href="https://acme.test/confirm?token=1">confirm</a></p>',
      headers: { 'X-Order': '1' },
      tags: ['full'],
      metadata: { order: '1' },
      attachments,
    },
    ADMIN_SECRET,
    { 'idempotency-key': 'order-1' },
  );
  for (const script of ['bounce+5.1.1', 'bounce+5.7.1', 'complain', 'dsn+5.2.2', 'dsn+5.1.1', 'drop-after-data'])
    await send({ to: `${script}+one@simulator.test`, tags: ['outcome'] });
  await send({ to: 'defer+1+late@simulator.test', tags: ['late'] });
  await bringMail(Number(ports.CAPTURE_PORT), {
    from: 'cron@localhost.test',
    to: 'root@localhost.test',
    raw: 'Subject: From another program\r\n\r\nDone.\r\n',
  });
  await send({ to: ['delivered+suppressed@simulator.test', 'left@example.com'] });
  const given_up = await send({ to: 'defer+100+given-up@simulator.test' });
  const canceled = await send({ to: 'later@example.com', scheduled_at: new Date(Date.now() + DAY_MS).toISOString() });
  await rest('POST', `/email/${canceled}/cancel`);
  await until('one is deferred', async () => (await rest('GET', `/email/${given_up}`)).status === 'deferred');
  await rest('POST', `/email/${given_up}/give-up`, { reason: 'the server is gone' });
  await until(
    'reports came back',
    async () => (await countOf("state = 'complained'")) > 0 && (await countOf("state = 'bounced'")) >= 4,
  );
  await until('the full mail is over', async () => (await rest('GET', `/email/${full}`)).status === 'bounced');
  await rest('POST', `/email/${full}/resend`);
  await mutate('messageContentLink', 'ContentLinkInput', '', { id: full, attachment: 0 });
  await rest('GET', `/email/${full}/content`);
}

/** Creates domains in every state besides verified and pending, plus one ended and one ongoing alarm. */
async function troubledDomains(other_secret: string): Promise<void> {
  await rest('POST', '/domains', { name: 'suspended.test' });
  await mutate('domainSuspend', 'SuspendInput', '', { name: 'suspended.test', reason: 'it was reported' });
  await rest('POST', `/domains/paused.test/rotate-keys`);
  // Another workspace proves ownership of the name.
  await verify('moved.test', ADMIN_SECRET);
  await verify('moved.test', other_secret);
  await until('moved.test has failed', async () => (await rest('GET', '/domains/moved.test')).status === 'failed');

  const back = await verify('recovered.test', ADMIN_SECRET);
  const lost = await verify('at-risk.test', ADMIN_SECRET);
  for (const { fqdn, type } of [...back, ...lost]) if (type === 'TXT') zone.set(fqdn, 'TXT', ['replaced']);
  for (const name of ['recovered.test', 'at-risk.test']) await untilChecked(name, 'at_risk');
  await until('alarms are raised', async () => (await sql`select from alarms where status = 'active'`).length === 3);
  publish(back);
  await untilChecked('recovered.test', 'verified');
  await until('an alarm has ended', async () => (await sql`select from alarms where status = 'ended'`).length === 1);
  await until('a mail tells of alarms', async () => (await sql`select from alarm_mails`).length === 1);
  const alarms = await sql<
    { id: string }[]
  >`select id from alarms where status = 'active' and subject = 'at-risk.test'`;
  await mutate('alarmAcknowledge', 'AlarmAcknowledgeInput', '', { id: alarms[0]?.id, reason: 'seen' });
}

/** Creates job runs that fail because another transaction holds a lock; one of them is not retried. */
async function failedRuns(): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table content_links, stat_minutes in access exclusive mode`;
    await mutate('scheduleRunNow', 'ScheduleInput', '', { name: 'storage.maintain', reason: 'tried out' });
    // The query runs on this connection, which would otherwise be closed for idling in a transaction.
    await until('runs have failed', async () => (await tx`select from job_attempts`).length >= 2);
  });
  await until(
    'one has succeeded since',
    async () => (await sql`select from job_attempts where error_name is null`).length > 0,
  );
}

async function webhookPerKind(): Promise<void> {
  const { data } = (await rest('GET', '/webhooks')) as { data: { id: string; description: string }[] };
  const ids = new Map(data.map(({ id, description }) => [description, id]));
  await mutate('webhookUpdate', 'WebhookUpdateInput', '', { id: ids.get('off'), status: 'DISABLED' });
  await rest('POST', `/webhooks/${ids.get('working')}/rotate-secret`);
  await rest('POST', `/webhooks/${ids.get('working')}/test`);
  await until(
    'posts have succeeded after failures',
    async () => (await sql`select from webhook_deliveries where state = 'delivered' and attempt_count > 1`).length > 0,
  );
  const entries = (await rest('GET', `/webhooks/${ids.get('late')}/deliveries`)).data as Json[];
  const delivered = entries.find(({ status, attempts }) => status === 'delivered' && attempts === 1);
  await rest('POST', `/webhooks/${ids.get('late')}/deliveries/${delivered?.id}/replay`);
}

/** Leaves email open when the process is killed: the next release must send each message once. */
async function openMail(other_secret: string): Promise<void> {
  const hold = {
    scope: 'SENDER_DOMAIN',
    value: 'paused.test',
    reason: 'being checked',
    expiresAt: new Date(Date.now() + 20 * DAY_MS),
  };
  await mutate('holdCreate', 'HoldInput', '', hold);
  const response = await mutate('holdCreate', 'HoldInput', '... on HoldPayload { hold { id } }', {
    scope: 'DESTINATION',
    value: 'limited.test',
    reason: 'tried out',
    expiresAt: new Date(Date.now() + DAY_MS),
  });
  await mutate('holdRelease', 'HoldReleaseInput', '', { id: (response.hold as Json).id, reason: 'done' });
  await send({ to: 'ada@limited.test', subject: 'To a limited destination' });
  const key = await rest('POST', '/api-keys', { name: 'Held', scopes: ['email:send'] });
  const { data } = (await rest('GET', '/webhooks')) as { data: { id: string; description: string }[] };
  const working = data.find(({ description }) => description === 'working');
  const short = new Date(Date.now() + 3000);
  for (const [scope, value, expiresAt] of [
    ['API_KEY', key.id, new Date(Date.now() + 20 * DAY_MS)],
    ['WEBHOOK', working?.id, new Date(Date.now() + 20 * DAY_MS)],
    ['QUEUE', 'webhook.recover', new Date(Date.now() + 20 * DAY_MS)],
    ['DESTINATION', 'expired.test', short],
  ] as const)
    await mutate('holdCreate', 'HoldInput', '', { scope, value, expiresAt, reason: 'being checked' });
  await send({ to: 'queued-by-key@example.com', subject: 'Queued' }, String(key.secret));
  await rest('POST', `/webhooks/${working?.id}/recover`, { since: new Date(Date.now() - 3_600_000).toISOString() });
  await until('a hold has expired', async () => (await sql`select from holds where ended_by = 'expiry'`).length === 1);
  for (let number = 0; number < 20; number++) {
    await send({ from: 'hello@paused.test', to: `queued-${number}@example.com`, subject: 'Queued' });
    const scheduled_at = new Date(Date.now() + (1 + number) * DAY_MS).toISOString();
    await send({ to: `scheduled-${number}@example.com`, subject: 'Scheduled', scheduled_at });
  }
  const scheduled_at = new Date(Date.now() + 40 * DAY_MS).toISOString();
  await send(
    { from: 'hello@second.test', to: 'scheduled-second@example.com', subject: 'Scheduled', scheduled_at },
    other_secret,
  );
  for (let number = 0; number < 5; number++)
    await send({ to: `defer+100+deferred-${number}@simulator.test`, subject: 'Deferred' });
  await until('five are deferred', async () => (await countOf("state = 'deferred'")) === 5);
  await until('held mail is parked', async () => (await sql`select from parked_deliveries`).length === 21);
}

/** Creates bulk operations: one finished, one canceled, and one running. */
async function operate(): Promise<void> {
  const success = '... on BulkPreview { token }';
  for (const [filter, ratePerSecond] of [
    [{ tags: ['outcome'] }, 100],
    [{ status: ['DELIVERED'] }, 1],
    [{ tags: ['receipt'] }, 1],
  ] as const) {
    const preview = await mutate('bulkPreview', 'BulkInput', success, { action: 'EXPORT', messages: filter });
    const run = { token: preview.token, reason: 'an audit', ratePerSecond };
    const started = await mutate('bulkRun', 'BulkRunInput', '... on BulkPayload { bulk { id } }', run);
    if ('tags' in filter && ratePerSecond === 1)
      await mutate('bulkCancel', 'BulkCancelInput', '', { id: (started.bulk as Json).id, reason: 'too much' });
  }
  await until(
    'one operation has ended',
    async () => (await sql`select from bulk_operations where status = 'completed'`).length === 1,
  );
}

/** Fills the request log with an invalid request. */
async function sendInvalid(): Promise<void> {
  await server.call('POST', '/v1/email/send', {
    body: { from: 'hello@unknown.test', to: 'ada@example.com', subject: 'No', text: 'No' },
  });
  await server.call('POST', '/v1/email/send', { body: { from: 'hello@acme.test', replyTo: 'ada@example.com' } });
  await until('refusals are logged', async () => (await sql`select from requests`).length >= 2);
}

async function countOf(condition: string): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int as count from recipients where ${condition}`,
  );
  return row?.count ?? 0;
}

async function until(label: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never: ${label}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  process.stdout.write(`${label}\n`);
}

/** Dumps plain SQL that any client can run; psql's own commands are removed. */
function dump(url: string): void {
  const options = [
    '--inserts',
    '--rows-per-insert=500',
    '--no-owner',
    '--no-privileges',
    '--no-toast-compression',
    url,
  ];
  const text = execFileSync('pg_dump', options, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const statements = text.replaceAll(/^\\.*\n/gm, '');
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const packed = brotliCompressSync(statements, { params });
  writeFileSync(FILE, packed);
  process.stdout.write(`${statements.length} characters, ${packed.length} bytes packed\n`);
}
