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

/** The rules of the instance, and those that workspaces have of their own. */
export interface RuleBook {
  readonly instance: readonly RuleRow[];
  readonly own: ReadonlyMap<string, readonly RuleRow[]>;
}

/** The facts about a domain's email that hold for all of it. */
export type SenderFacts = Pick<RoutedEmail, 'workspace_id' | 'from_domain'>;

const DEFAULT_ROUTE: readonly string[] = [DEFAULT_TRANSPORT];

/**
 * Returns the transports of an email, in order of preference: those of the first rule that matches. The rules of its
 * workspace come first; in them, the default transport stands for what the rules of the instance say.
 */
export function routeOf({ instance, own }: RuleBook, email: RoutedEmail): readonly string[] {
  const by_instance = () => instance[ruleThatApplies(instance, email)]?.transports ?? DEFAULT_ROUTE;
  const own_rules = own.get(email.workspace_id) ?? [];
  const rule = own_rules[ruleThatApplies(own_rules, email)];
  if (!rule) return by_instance();
  return rule.transports.flatMap((id) => (id === DEFAULT_TRANSPORT ? by_instance() : [id]));
}

/** Returns the index of the first rule that matches; -1 if none does. */
export function ruleThatApplies(rules: readonly RuleRow[], email: RoutedEmail): number {
  if (rules.length === 0) return -1;
  const destination = domainOf(email.email);
  return rules.findIndex(
    (one) =>
      (one.workspace_id === null || one.workspace_id === email.workspace_id) &&
      (one.from_domain === null || one.from_domain === email.from_domain) &&
      (one.tag === null || email.tags.includes(one.tag)) &&
      (one.priority === null || one.priority === email.priority) &&
      (one.destination === null || one.destination === destination),
  );
}

/**
 * Returns every transport that some email may use, or that email from one domain may use: those of the rules up to the
 * first one that leaves no email to the next.
 */
export function transportsInUse(rules: readonly RuleRow[], sender?: SenderFacts): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { workspace_id, from_domain, tag, priority, destination, transports } of rules) {
    const is_elsewhere =
      sender !== undefined &&
      ((workspace_id !== null && workspace_id !== sender.workspace_id) ||
        (from_domain !== null && from_domain !== sender.from_domain));
    if (is_elsewhere) continue;
    for (const id of transports) ids.add(id);
    const is_of_all = sender !== undefined || (workspace_id === null && from_domain === null);
    if (is_of_all && tag === null && priority === null && destination === null) return ids;
  }
  return ids.add(DEFAULT_TRANSPORT);
}

/** Returns every transport that email from one domain may use. */
export function transportsOfSender({ instance, own }: RuleBook, sender: SenderFacts): ReadonlySet<string> {
  const ids = transportsInUse(own.get(sender.workspace_id) ?? [], sender);
  if (!ids.has(DEFAULT_TRANSPORT)) return ids;
  return new Set([...[...ids].filter((id) => id !== DEFAULT_TRANSPORT), ...transportsInUse(instance, sender)]);
}
