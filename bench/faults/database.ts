import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';

export interface StoredRecipient {
  readonly message_id: string;
  readonly email: string;
  readonly state: string;
  readonly attempt_count: number;
  /** The number of attempt rows, the number of distinct attempt numbers, and the highest attempt number. */
  readonly attempts: number;
  readonly numbers: number;
  readonly highest: number;
  /** The types of the recipient's events. */
  readonly events: readonly string[];
}

export interface StoredEvent {
  readonly message_id: string;
  readonly sequence: number;
  readonly type: string;
}

/** The state of the database after the run. */
export interface StoredState {
  readonly messages: ReadonlyMap<
    string,
    { readonly message_id: string; readonly created_at: number; readonly status: string }
  >;
  readonly recipients: readonly StoredRecipient[];
  readonly events: readonly StoredEvent[];
  /** Attempts whose outcome is unknown, by message and recipient. */
  readonly unknown: ReadonlySet<string>;
  readonly open_webhooks: number;
}

const TRIES = 40;
const TRY_MS = 250;

/** The run's database, read without going through the proxies. */
export class Database {
  readonly #sql;

  constructor(url: string) {
    this.#sql = postgres(url, { max: 2, onnotice: () => undefined, connect_timeout: 5 });
  }

  /** Lifts the plans' rate limits, which would otherwise be the first fault to show. */
  async liftRateLimits(): Promise<void> {
    await this.limitRequests(1_000_000);
  }

  /** Sets the same limit for every plan and every class of requests. */
  async limitRequests(per_minute: number): Promise<void> {
    await this.#sql`update plans set send_per_minute = ${per_minute}, default_per_minute = ${per_minute}`;
  }

  /** Sets, for every workspace, what happens to messages whose reply was lost. */
  async setUnknownPolicy(policy: 'resend' | 'stop'): Promise<void> {
    await this.#sql`update workspaces set unknown_policy = ${policy}`;
  }

  /** Adds alarms with notices pending for a webhook to the workspace with the most email. */
  async addNotices(count: number, webhook_url: string): Promise<void> {
    const sql = this.#sql;
    const [greedy] = await sql<{ id: string }[]>`
      select workspace_id as id from messages group by workspace_id order by count(*) desc limit 1`;
    if (!greedy) throw new Error('no workspace has email');
    await sql`
      insert into alarm_settings (workspace_id, webhook_url) values (${greedy.id}, ${webhook_url})
      on conflict (workspace_id) do update set webhook_url = excluded.webhook_url`;
    await sql`
      insert into alarms
        (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at, ended_at, webhook_due, told_at)
      select gen_random_uuid(), ${greedy.id}, 'webhook_failing', n::text, 'ended', '', 1, '/webhooks',
        clock_now(), clock_now(), clock_now(), 'end', clock_now()
      from generate_series(1, ${count}) s (n)`;
  }

  async requestLogBytes(): Promise<number> {
    const [row] = await this.#sql<{ bytes: number }[]>`
      select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes from pg_class c
      where c.oid in (select inhrelid from pg_inherits where inhparent = 'requests'::regclass) or c.oid = 'requests'::regclass`;
    return row?.bytes ?? 0;
  }

  /** Counts the reports of relays. */
  async storedReports(): Promise<number> {
    const [row] = await this.#sql<{ count: number }[]>`select count(*)::int as count from feedback_events`;
    return row?.count ?? 0;
  }

  async openRecipients(excluded: readonly string[] = []): Promise<number> {
    const [row] = await this.#again(
      () => this.#sql<{ count: number }[]>`
      select count(*)::int as count from recipients
      where state in ('scheduled', 'queued', 'deferred', 'sending') and split_part(email, '@', 2) <> all (${[...excluded]})`,
    );
    return row?.count ?? 0;
  }

  /** Counts the pending deliveries of an endpoint. */
  async openWebhooks(url: string): Promise<number> {
    const [row] = await this.#again(
      () => this.#sql<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries d
      where d.state = 'pending' and d.webhook_id in (select id from webhooks where url = ${url})`,
    );
    return row?.count ?? 0;
  }

  /** Returns the worker connected from one of these ports. */
  async workerFrom(ports: readonly number[]): Promise<string | null> {
    const [row] = await this.#again(
      () => this.#sql<{ worker: string }[]>`
      select w.worker::text as worker from delivery_workers w
      join pg_stat_activity a on a.pid = w.backend and a.backend_start = w.backend_started_at
      where not w.stopped and a.client_port = any (${[...ports]}) limit 1`,
    );
    return row?.worker ?? null;
  }

  /** Returns the deliveries that a worker has claimed. */
  async jobsOf(worker: string): Promise<string[]> {
    const rows = await this.#again(
      () => this.#sql<{ id: string }[]>`
      select id::text as id from pgboss.job
      where name = 'delivery.attempt' and state = 'active' and source_id = ${worker}::uuid`,
    );
    return rows.map(({ id }) => id);
  }

  /** Counts the jobs that have neither finished nor been claimed by another worker. */
  async jobsLeft(worker: string, ids: readonly string[]): Promise<number> {
    const [row] = await this.#again(
      () => this.#sql<{ count: number }[]>`
      select count(*)::int as count from pgboss.job
      where name = 'delivery.attempt' and id = any (${[...ids]}::uuid[])
        and (state = 'active' and source_id = ${worker}::uuid or state < 'active' and start_after <= clock_now())`,
    );
    return row?.count ?? 0;
  }

  async read(url: string): Promise<StoredState> {
    const sql = this.#sql;
    // IDs are either prefixed text, or a UUID that the database converts to that text.
    const [type] = await sql<{ uuid: boolean }[]>`
      select data_type = 'uuid' as uuid from information_schema.columns where table_name = 'messages' and column_name = 'id'`;
    const text = (column: string, prefix: string) =>
      type?.uuid ? sql`id_text(${sql(column)}, ${prefix})` : sql`${sql(column)}`;
    const messages = await sql<{ id: string; created_at: Date; status: string }[]>`
      select ${text('id', 'msg')} as id, created_at, status::text as status from messages`;
    const recipients = await sql<StoredRecipient[]>`
      select ${text('r.message_id', 'msg')} as message_id, r.email, r.state::text as state, r.attempt_count,
        coalesce(a.attempts, 0) as attempts, coalesce(a.numbers, 0) as numbers, coalesce(a.highest, 0) as highest,
        coalesce(e.types, '{}') as events
      from recipients r
      left join (
        select message_id, recipient_id, count(*)::int as attempts, count(distinct number)::int as numbers,
          max(number) as highest
        from attempts group by message_id, recipient_id
      ) a on a.message_id = r.message_id and a.recipient_id = r.id
      left join (
        select message_id, recipient_id, array_agg(type) as types from events
        where recipient_id is not null group by message_id, recipient_id
      ) e on e.message_id = r.message_id and e.recipient_id = r.id`;
    const events = await sql<StoredEvent[]>`
      select ${text('message_id', 'msg')} as message_id, sequence, type from events where message_id is not null`;
    const unknown = await sql<{ message_id: string; email: string }[]>`
      select ${text('a.message_id', 'msg')} as message_id, r.email from attempts a
      join recipients r on r.message_id = a.message_id and r.id = a.recipient_id where a.outcome = 'unknown'`;
    return {
      messages: new Map(
        messages.map(({ id, created_at, status }) => [
          id,
          { message_id: id, created_at: created_at.getTime(), status },
        ]),
      ),
      recipients,
      events,
      unknown: new Set(unknown.map(({ message_id, email }) => `${message_id} ${email}`)),
      open_webhooks: await this.openWebhooks(url),
    };
  }

  async stop(): Promise<void> {
    await this.#sql.end({ timeout: 2 });
  }

  /** Retries a query, because the database is crashed on purpose. */
  async #again<T>(ask: () => Promise<T>): Promise<T> {
    for (let turn = 1; ; turn++) {
      try {
        return await ask();
      } catch (error) {
        if (turn === TRIES) throw error;
        await pause(TRY_MS);
      }
    }
  }
}
