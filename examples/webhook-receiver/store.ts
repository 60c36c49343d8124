import { DatabaseSync } from 'node:sqlite';
import type { WebhookEvent } from '@postrider/sdk';

/** The addresses that must not be used any more, and the events that have been processed. */
export class Store {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`
      create table if not exists events (id text primary key, type text not null);
      create table if not exists unreachable (email text primary key, cause text not null);
    `);
  }

  /**
   * Records an event and its effect in one transaction, so that a repeated event changes nothing. Returns whether the
   * event is new.
   */
  record(event: WebhookEvent): boolean {
    this.#database.exec('begin immediate');
    try {
      const { changes } = this.#database
        .prepare('insert into events (id, type) values (?, ?) on conflict do nothing')
        .run(event.id, event.type);
      if (changes > 0) this.#apply(event);
      this.#database.exec('commit');
      return changes > 0;
    } catch (error) {
      this.#database.exec('rollback');
      throw error;
    }
  }

  #apply(event: WebhookEvent): void {
    if (event.type !== 'email.bounced' && event.type !== 'email.complained') return;
    const email = event.data.recipient?.email;
    if (email === undefined) return;
    this.#database
      .prepare('insert into unreachable (email, cause) values (?, ?) on conflict do nothing')
      .run(email, event.type === 'email.bounced' ? 'bounce' : 'complaint');
  }

  /** Returns why an address must not be used; null if it may be. */
  causeOf(email: string): string | null {
    const row = this.#database.prepare('select cause from unreachable where email = ?').get(email);
    return row === undefined ? null : String(row.cause);
  }

  countEvents(): number {
    return Number(this.#database.prepare('select count(*) as count from events').get()?.count);
  }

  close(): void {
    this.#database.close();
  }
}
