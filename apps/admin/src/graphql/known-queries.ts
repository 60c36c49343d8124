import type { DocumentNode } from 'graphql';
import { type Plan, planOf } from './plan.ts';
import { schema } from './schema.ts';

const MOST_QUERIES = 500;
const LONGEST_TEXT = 10_000;

/** Queries that have been judged and found good, by their text; the one unused longest is forgotten first. */
export class KnownQueries {
  readonly #plans = new Map<string, Plan | null>();

  /** Called once parsing, validation and every limit have let a document pass. */
  note(text: string | undefined, document: DocumentNode): void {
    if (text === undefined || text.length > LONGEST_TEXT || this.#plans.has(text)) return;
    this.#plans.set(text, planOf(schema, document));
    if (this.#plans.size <= MOST_QUERIES) return;
    const [oldest] = this.#plans.keys();
    if (oldest !== undefined) this.#plans.delete(oldest);
  }

  find(text: string): Plan | null {
    const plan = this.#plans.get(text);
    if (!plan) return null;
    this.#plans.delete(text);
    this.#plans.set(text, plan);
    return plan;
  }
}
