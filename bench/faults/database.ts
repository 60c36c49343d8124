import postgres from 'postgres';

export interface StoredRecipient {
  readonly message_id: string;
  readonly email: string;
  readonly state: string;
  readonly attempts: number;
}

export interface StoredEvent {
  readonly message_id: string;
  readonly sequence: number;
  readonly type: string;
}

/** What the database says after the run. */
export interface Stored {
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

/** The database of a run, read past the proxy. */
export class Database {
  readonly #sql;

  constructor(url: string) {
    this.#sql = postgres(url, { max: 1, onnotice: () => undefined });
  }

  /** The plan's limit of requests would be the first fault to show. */
  async liftRateLimits(): Promise<void> {
    await this.#sql`update plans set send_per_minute = 1000000, default_per_minute = 1000000`;
  }

  async openRecipients(): Promise<number> {
    const [row] = await this.#sql<{ count: number }[]>`
      select count(*)::int as count from recipients where state in ('scheduled', 'queued', 'deferred', 'sending')`;
    return row?.count ?? 0;
  }

  async openWebhooks(): Promise<number> {
    const [row] = await this.#sql<{ count: number }[]>`
      select count(*)::int as count from webhook_deliveries where state = 'pending'`;
    return row?.count ?? 0;
  }

  async read(): Promise<Stored> {
    const sql = this.#sql;
    // Ids are text with a prefix, or a uuid that the database turns into that text.
    const [type] = await sql<{ uuid: boolean }[]>`
      select data_type = 'uuid' as uuid from information_schema.columns where table_name = 'messages' and column_name = 'id'`;
    const text = (column: string, prefix: string) =>
      type?.uuid ? sql`id_text(${sql(column)}, ${prefix})` : sql`${sql(column)}`;
    const messages = await sql<{ id: string; created_at: Date; status: string }[]>`
      select ${text('id', 'msg')} as id, created_at, status::text as status from messages`;
    const recipients = await sql<StoredRecipient[]>`
      select ${text('message_id', 'msg')} as message_id, email, state::text as state, attempt_count as attempts from recipients`;
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
      open_webhooks: await this.openWebhooks(),
    };
  }

  async stop(): Promise<void> {
    await this.#sql.end();
  }
}
