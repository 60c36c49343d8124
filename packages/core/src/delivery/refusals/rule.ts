/** The subject of a rejection. Only faults of the address itself lead to suppression. */
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
  // Not a rejection: the message could not be signed and was not sent.
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
  /** Only matches a rejection without a specific subject: no enhanced status, or x.0.0. */
  readonly unspecific?: true;
  /** A permanent rejection of this kind means that the mailbox or its domain does not exist. */
  readonly hard?: true;
  /** A permanent rejection of this kind means that the mailbox does not exist. */
  readonly suppress?: true;
  /** The server replies 5xx although a later attempt may succeed. */
  readonly for_now?: true;
  /** The words are so vague that any other text about the same message takes precedence. */
  readonly weak?: true;
}

/** Combines many phrases into one regular expression. A space in a phrase matches any whitespace. */
export function phrases(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join('|'), 'i');
}
