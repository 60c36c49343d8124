import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { sendSchema } from '@postrider/core/accept';
import { connect } from '@postrider/db';
import { PgBoss } from 'pg-boss';
import { OBVIOUS_QUEUE } from './peers/obvious.ts';

// A straightforward accept path with the product's own validation: a pool, one query after another, one transaction per
// request. It serves as the baseline for the design. Usage: node bench/obvious-accept.ts <database url> <port>
// [separate|one-statement]

const [, , url = '', port = '0', mode = 'separate'] = process.argv;
const sql = connect(url, { max: 8, application_name: 'bench-obvious' });
const pg_boss = new PgBoss({
  connectionString: url,
  max: 2,
  migrate: false,
  supervise: false,
  schedule: false,
  registerInstance: false,
});
pg_boss.on('error', (error) => process.stderr.write(`${error.message}\n`));
await pg_boss.start();
const jobTable = `pgboss.${(await pg_boss.getQueue(OBVIOUS_QUEUE))?.table ?? 'job'}`;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`refused with ${status}`);
    this.status = status;
  }
}

type Input = ReturnType<typeof sendSchema.parse>;

function bodyOf(input: Input): string {
  const { html, text, headers, reply_to } = input;
  return JSON.stringify({ html, text, headers, reply_to: reply_to?.email });
}

function addressesOf(input: Input): string[] {
  return input.to.map(({ email }) => email);
}

async function acceptSeparately(secret_hash: Buffer, input: Input): Promise<string> {
  const [key] = await sql<{ id: number; workspace_id: number; rate_limit: number; verified: boolean }[]>`
    select k.id, k.workspace_id, k.rate_limit, d.verified_at is not null as verified from api_key k
    left join domain d on d.workspace_id = k.workspace_id and d.name = ${input.from.domain}
    where k.hash = ${secret_hash} and k.revoked_at is null`;
  if (!key) throw new Refusal(401);
  const [rate] = await sql<{ used: number }[]>`
    insert into rate as r (key_id, minute, used) values (${key.id}, date_trunc('minute', now()), 1)
    on conflict (key_id, minute) do update set used = r.used + 1 returning used`;
  if ((rate?.used ?? 0) > key.rate_limit) throw new Refusal(429);
  if (!key.verified) throw new Refusal(422);
  const id = randomUUID();
  await sql.begin(async (tx) => {
    const [quota] = await tx`
      update quota set used = used + 1
      where workspace_id = ${key.workspace_id} and month = date_trunc('month', now())::date and used < cap returning used`;
    if (!quota) throw new Refusal(422);
    await tx`
      insert into message (id, workspace_id, key_id, from_addr, to_addrs, subject, tags, body)
      values (${id}, ${key.workspace_id}, ${key.id}, ${input.from.email}, ${addressesOf(input)}, ${input.subject},
        ${input.tags}, ${bodyOf(input)}::text::jsonb)`;
    await pg_boss.send(
      OBVIOUS_QUEUE,
      { message_id: id },
      {
        db: { executeSql: async (text, values) => ({ rows: [...(await tx.unsafe(text, (values ?? []) as never[]))] }) },
      },
    );
  });
  return id;
}

/** Accepts with one round trip and one commit per request. */
async function acceptInOneStatement(secret_hash: Buffer, input: Input): Promise<string> {
  const id = randomUUID();
  const [stored] = await sql`
    with k as (
      select k.id, k.workspace_id, k.rate_limit from api_key k
      join domain d on d.workspace_id = k.workspace_id and d.name = ${input.from.domain} and d.verified_at is not null
      where k.hash = ${secret_hash} and k.revoked_at is null
    ),
    r as (
      insert into rate as r (key_id, minute, used) select id, date_trunc('minute', now()), 1 from k
      on conflict (key_id, minute) do update set used = r.used + 1 returning used
    ),
    q as (
      update quota u set used = u.used + 1 from k, r
      where u.workspace_id = k.workspace_id and u.month = date_trunc('month', now())::date and u.used < u.cap
        and r.used <= k.rate_limit
      returning k.workspace_id, k.id
    ),
    m as (
      insert into message (id, workspace_id, key_id, from_addr, to_addrs, subject, tags, body)
      select ${id}, workspace_id, id, ${input.from.email}, ${addressesOf(input)}::text[], ${input.subject},
        ${input.tags}::text[], ${bodyOf(input)}::text::jsonb from q
      returning id
    ),
    j as (
      insert into ${sql(jobTable)} (name, data, policy)
      select ${OBVIOUS_QUEUE}, jsonb_build_object('message_id', id), 'standard' from m
    )
    select id from m`;
  if (!stored) throw new Refusal(422);
  return id;
}

const accept = mode === 'one-statement' ? acceptInOneStatement : acceptSeparately;
const server = createServer(async (request, response) => {
  let status = 202;
  let body = '';
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const input = sendSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const secret = request.headers.authorization?.slice(7) ?? '';
    const id = await accept(createHash('sha256').update(secret).digest(), input);
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
