import type { DocumentNode } from 'graphql';
import { schema } from '../schema.ts';
import { type Plan, planOf } from './plan.ts';
import { textCache } from './text-cache.ts';

/** Plans of validated queries, by query text. */
export class KnownQueries {
  readonly #plans = textCache<{ readonly plan: Plan | null }>();

  /** Records a document after parsing, validation, and all limits have accepted it. */
  note(text: string | undefined, document: DocumentNode): void {
    if (text === undefined || text.length > this.#plans.maxEntrySize || this.#plans.has(text)) return;
    this.#plans.set(text, { plan: planOf(schema, document) });
  }

  find(text: string): Plan | null {
    return this.#plans.get(text)?.plan ?? null;
  }
}
