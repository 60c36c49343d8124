import type { DocumentNode } from 'graphql';
import { schema } from '../schema.ts';
import { type Plan, planOf } from './plan.ts';

const MOST_QUERIES = 500;
const LONGEST_TEXT = 10_000;

/** An LRU cache of plans for validated queries, by query text. */
export class KnownQueries {
  readonly #plans = new Map<string, Plan | null>();

  /** Called after parsing, validation and every limit have accepted a document. */
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
