import type { IdRange } from '../../paging/candidate-pages.ts';
import { openStates } from '../../states/index.ts';
import type { MessageFilter } from './messages-filter.ts';

/** A part of a list, and the filter that applies to it. */
export interface KeptPart {
  readonly range: IdRange;
  readonly filter: MessageFilter;
}

/**
 * Splits a range into its visible parts, newest first: messages within their retention period, then older messages that
 * are still open.
 */
export function keptParts(range: IdRange, filter: MessageFilter, oldest_kept: string): readonly KeptPart[] {
  if (range.from >= oldest_kept) return [{ range, filter }];
  const parts: KeptPart[] = [];
  if (range.before > oldest_kept) parts.push({ range: { ...range, from: oldest_kept }, filter });
  const statuses = openStates.filter((status) => filter.statuses?.includes(status) ?? true);
  const before = range.before < oldest_kept ? range.before : oldest_kept;
  if (statuses.length > 0) parts.push({ range: { ...range, before }, filter: { ...filter, statuses } });
  return parts;
}
