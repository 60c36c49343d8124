import { domainOf } from '@postrider/mail';
import type { Priority } from '../priorities/index.ts';
import type { RuleRow } from './store.ts';
import { DEFAULT_TRANSPORT } from './transport.ts';

/** The facts about an email that rules match on. */
export interface RoutedEmail {
  readonly workspace_id: string;
  readonly from_domain: string;
  readonly tags: readonly string[];
  readonly priority: Priority;
  readonly email: string;
}

const DEFAULT_ROUTE: readonly string[] = [DEFAULT_TRANSPORT];

/** Returns the transports of an email, in order of preference: those of the first rule that matches. */
export function routeOf(rules: readonly RuleRow[], email: RoutedEmail): readonly string[] {
  if (rules.length === 0) return DEFAULT_ROUTE;
  const destination = domainOf(email.email);
  const rule = rules.find(
    (one) =>
      (one.workspace_id === null || one.workspace_id === email.workspace_id) &&
      (one.from_domain === null || one.from_domain === email.from_domain) &&
      (one.tag === null || email.tags.includes(one.tag)) &&
      (one.priority === null || one.priority === email.priority) &&
      (one.destination === null || one.destination === destination),
  );
  return rule?.transports ?? DEFAULT_ROUTE;
}
