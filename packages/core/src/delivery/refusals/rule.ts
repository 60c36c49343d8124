/** What a refusal is about. Only faults of the address itself lead to suppression. */
export const refusalCategories = [
  'mailbox',
  'domain',
  'quota',
  'policy',
  'reputation',
  'authentication',
  'content',
  'throttled',
  'protocol',
  'network',
  // Not a refusal: it could not be signed, and was not sent.
  'signing',
  'other',
] as const;
export type RefusalCategory = (typeof refusalCategories)[number];

export interface RefusalRule {
  readonly category: RefusalCategory;
  /** Subject and detail of the enhanced status code, such as 1.1; an entry ending in a dot matches a whole subject. */
  readonly status?: readonly string[];
  readonly code?: readonly number[];
  readonly text?: RegExp;
  /** Only for a refusal without a subject of its own: no enhanced status, or x.0.0. */
  readonly unspecific?: true;
  /** A permanent refusal of this kind means that there is no reader at the address. */
  readonly hard?: true;
  /** And that the mailbox does not exist. */
  readonly suppress?: true;
  /** The server says 5xx although a later attempt may succeed. */
  readonly for_now?: true;
  /** It says so little that other words about the same mail decide, if there are any. */
  readonly weak?: true;
}

/** One expression of many phrases. Blanks stand for any white space between words. */
export function phrases(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'i');
}
