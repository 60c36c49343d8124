import type postgres from 'postgres';

declare const part: unique symbol;

/** Part of a statement, to be embedded in another. */
export interface Fragment {
  readonly [part]: true;
}

/**
 * A statement that runs when it is awaited. The driver's `cancel` and `cursor` are left out because they are unsafe
 * when a connection is lost: a canceled query can receive the result of another, and a cursor waits forever.
 */
export interface Query<Rows extends readonly unknown[]> extends Promise<postgres.RowList<Rows>>, Fragment {}

type Parameter = postgres.SerializableParameter<number> | Fragment | Fragment[];

interface Statements {
  /** Parameters reported by the server. Empty before the first connection, and absent in a transaction. */
  readonly parameters?: { readonly server_version?: string };
  (identifier: string): Fragment;
  <Rows extends readonly (object | undefined)[] = postgres.Row[]>(
    template: TemplateStringsArray,
    ...parameters: readonly Parameter[]
  ): Query<Rows>;
  unsafe<Rows extends readonly (object | undefined)[] = postgres.Row[]>(
    text: string,
    parameters?: readonly Parameter[],
    options?: { readonly prepare: boolean },
  ): Query<Rows>;
}

/** A pool of connections as the stores see it. */
export interface Sql extends Statements {
  begin<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
  begin<T>(options: string, run: (tx: Tx) => Promise<T>): Promise<T>;
  /** Reserves a connection for exclusive use until it is released. */
  reserve(): Promise<Statements & { release(): void }>;
  listen(
    channel: string,
    on_notify: (payload: string) => void,
    on_listen?: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
  end(options?: { timeout?: number }): Promise<void>;
  /** Returns the number of transactions that wait for a connection. */
  waiting(): number;
  /**
   * Returns the number of commits that are only on this server although a standby should have confirmed them. Postgres
   * confirms such a commit normally and reports the missing standby only in a warning.
   */
  unconfirmed(): number;
}

/** An open transaction, which ends when the function passed to `begin` does. */
export interface Tx extends Statements {
  savepoint<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Casts a driver instance to Sql, because the driver's own wider type is not assignable to the narrower type. */
export function narrowed(sql: postgres.Sql<{ int8: number; uuid: string }> | postgres.Sql): Sql {
  return sql as unknown as Sql;
}
