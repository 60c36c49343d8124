import { createServer } from 'node:http';
import { newId } from '@postrider/core';
import { hashSecret } from '@postrider/core/api-keys';
import { sendSchema } from '@postrider/core/messages';
import { connect, type Tx } from '@postrider/db';
import { PgBoss } from 'pg-boss';

// The accept as one would first write it, on the product's own schema and validation: a pool, one query
// after another, one transaction for each request. Kept to show what the design is worth.
// Usage: node bench/obvious-accept.ts <database url> <port> [separate|one-statement]

const [, , url = '', port = '0', mode = 'separate'] = process.argv;
const sql = connect(url, { max: 8, application_name: 'bench-obvious' });
const boss = new PgBoss({
  connectionString: url,
  max: 2,
  migrate: false,
  supervise: false,
  schedule: false,
  registerInstance: false,
});
boss.on('error', (error) => process.stderr.write(`${error.message}\n`));
await boss.start();
const [queue] = await sql<
  { table_name: string }[]
>`select table_name from pgboss.queue where name = 'delivery.attempt'`;
const jobTable = `pgboss.${queue?.table_name}`;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`refused with ${status}`);
    this.status = status;
  }
}

type Input = ReturnType<typeof sendSchema.parse>;

function rowsFor(workspace_id: string, input: Input) {
  const now = performance.timeOrigin + performance.now();
  return {
    message_id: newId('message', Math.floor(now)),
    recipient_id: newId('recipient', Math.floor(now)),
    event_id: newId('event', Math.floor(now)),
    workspace_id,
    email: input.to[0]?.email ?? '',
    domain: input.to[0]?.domain ?? '',
  };
}

async function acceptSeparately(secret_hash: Buffer, input: Input): Promise<string> {
  const [key] = await sql<{ id: string; workspace_id: string; send_per_minute: number; monthly_limit: number }[]>`
    select k.id, k.workspace_id, p.send_per_minute, p.monthly_limit from api_keys k
    join workspaces w on w.id = k.workspace_id join plans p on p.name = w.plan
    where k.secret_hash = ${secret_hash} and k.revoked_at is null`;
  if (!key) throw new Refusal(401);
  const [rate] = await sql<{ used: number }[]>`
    insert into rate_windows as r (subject, class, minute, used)
    values (${key.id}, 'send', date_trunc('minute', now()), 1)
    on conflict (subject, class, minute) do update set used = r.used + 1 returning used`;
  if ((rate?.used ?? 0) > key.send_per_minute) throw new Refusal(429);
  const [domain] = await sql`
    select 1 from domains where workspace_id = ${key.workspace_id} and name = ${input.from.domain} and status = 'verified'`;
  if (!domain) throw new Refusal(422);
  const row = rowsFor(key.workspace_id, input);
  await sql.begin(async (tx) => {
    const [quota] = await tx`
      insert into usage_months as u (workspace_id, month, used)
      values (${key.workspace_id}, date_trunc('month', now())::date, 1)
      on conflict (workspace_id, month) do update set used = u.used + 1 where u.used < ${key.monthly_limit}
      returning used`;
    if (!quota) throw new Refusal(422);
    await insertRows(tx, key.id, row, input);
    const data = { workspace_id: key.workspace_id, message_id: row.message_id, recipient_id: row.recipient_id };
    await boss.send('delivery.attempt', data, {
      db: { executeSql: async (text, values) => ({ rows: [...(await tx.unsafe(text, (values ?? []) as never[]))] }) },
    });
  });
  return row.message_id;
}

async function insertRows(tx: Tx, key_id: string, row: ReturnType<typeof rowsFor>, input: Input): Promise<void> {
  await tx`
    insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
      cc_addresses, bcc_addresses, reply_to, subject, tags, metadata, recipient_count, api_key_id, request_id,
      created_at, event_count, last_event_type, last_event_at)
    values (${row.workspace_id}, ${row.message_id}, 'queued', 'live', ${input.from.email}, ${input.from.email},
      ${input.from.domain}, ${[row.email]}, '{}', '{}', ${input.reply_to?.email ?? null}, ${input.subject},
      ${input.tags}, '{}', 1, ${key_id}, ${row.message_id}, now(), 1, 'email.queued', now())`;
  await tx`
    insert into bodies (workspace_id, message_id, html, text, headers, attachments)
    values (${row.workspace_id}, ${row.message_id}, ${input.html ?? null}, ${input.text ?? null},
      ${JSON.stringify(input.headers)}, '[]')`;
  await tx`
    insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
    values (${row.workspace_id}, ${row.message_id}, ${row.recipient_id}, ${row.email}, ${row.domain}, 'to', 'queued', now())`;
  for (const tag of input.tags) {
    await tx`insert into message_tags (workspace_id, tag, message_id) values (${row.workspace_id}, ${tag}, ${row.message_id})`;
  }
  await tx`
    insert into events (workspace_id, id, type, message_id, sequence, facts, created_at)
    values (${row.workspace_id}, ${row.event_id}, 'email.queued', ${row.message_id}, 1, '{}', now())`;
}

/** Everything in one round trip and one commit for each request. */
async function acceptInOneStatement(secret_hash: Buffer, input: Input): Promise<string> {
  const row = rowsFor('', input);
  const [stored] = await sql`
    with k as (
      select k.id, k.workspace_id, p.send_per_minute, p.monthly_limit from api_keys k
      join workspaces w on w.id = k.workspace_id join plans p on p.name = w.plan
      where k.secret_hash = ${secret_hash} and k.revoked_at is null
    ),
    r as (
      insert into rate_windows as r (subject, class, minute, used)
      select id, 'send', date_trunc('minute', now()), 1 from k
      on conflict (subject, class, minute) do update set used = r.used + 1 returning used
    ),
    q as (
      insert into usage_months as u (workspace_id, month, used)
      select k.workspace_id, date_trunc('month', now())::date, 1 from k, r
      where r.used <= k.send_per_minute and exists (select from domains d
        where d.workspace_id = k.workspace_id and d.name = ${input.from.domain} and d.status = 'verified')
      on conflict (workspace_id, month) do update set used = u.used + 1
        where u.used < (select monthly_limit from k) returning workspace_id
    ),
    m as (
      insert into messages (workspace_id, id, status, mode, from_address, from_email, from_domain, to_addresses,
        cc_addresses, bcc_addresses, reply_to, subject, tags, metadata, recipient_count, api_key_id, request_id,
        created_at, event_count, last_event_type, last_event_at)
      select q.workspace_id, ${row.message_id}, 'queued', 'live', ${input.from.email}, ${input.from.email},
        ${input.from.domain}, ${[row.email]}::text[], '{}', '{}', ${input.reply_to?.email ?? null}, ${input.subject},
        ${input.tags}::text[], '{}', 1, k.id, ${row.message_id}, now(), 1, 'email.queued', now() from q, k
    ),
    b as (
      insert into bodies (workspace_id, message_id, html, text, headers, attachments)
      select workspace_id, ${row.message_id}, ${input.html ?? null}, ${input.text ?? null},
        ${JSON.stringify(input.headers)}, '[]' from q
    ),
    p as (
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
      select workspace_id, ${row.message_id}, ${row.recipient_id}, ${row.email}, ${row.domain}, 'to', 'queued', now() from q
    ),
    t as (
      insert into message_tags (workspace_id, tag, message_id)
      select workspace_id, tag, ${row.message_id} from q, unnest(${input.tags}::text[]) as tags (tag)
    ),
    e as (
      insert into events (workspace_id, id, type, message_id, sequence, facts, created_at)
      select workspace_id, ${row.event_id}, 'email.queued', ${row.message_id}, 1, '{}', now() from q
    ),
    j as (
      insert into ${sql(jobTable)} (name, data, policy)
      select 'delivery.attempt', jsonb_build_object('workspace_id', workspace_id, 'message_id', ${row.message_id}::text,
        'recipient_id', ${row.recipient_id}::text), 'standard' from q
    )
    select workspace_id from q`;
  if (!stored) throw new Refusal(422);
  return row.message_id;
}

const accept = mode === 'one-statement' ? acceptInOneStatement : acceptSeparately;
const server = createServer(async (request, response) => {
  let status = 202;
  let body = '';
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const input = sendSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const id = await accept(hashSecret(request.headers.authorization?.slice(7) ?? ''), input);
    body = JSON.stringify({ id, status: 'queued' });
  } catch (error) {
    status = error instanceof Refusal ? error.status : 500;
    if (status === 500) process.stderr.write(`${String(error)}\n`);
    body = '{"error":{}}';
  }
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('is ready\n'));
process.on('SIGTERM', () => process.exit(0));
