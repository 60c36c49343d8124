import { oneOf, searchOf, text, time } from '../../../shell/search.ts';
import { rangeNames } from './ranges.ts';

export const readSearch = searchOf({
  /** Defaults to changes. */
  kind: oneOf('reads', 'all'),
  /** The ID of a user or API key, or "system". */
  actor: text,
  action: text,
  target: text,
  range: oneOf(...rangeNames),
  /** The bounds of the range "dates". */
  since: time,
  until: time,
  /** The entry shown in the drawer. */
  open: text,
});
export type AuditSearch = ReturnType<typeof readSearch>;
