import type { Services } from '../operation/context.ts';
import { type RoutedEmail, transportsInUse } from './route.ts';
import { allRules, allTransports, type TransportRow } from './store.ts';
import { DEFAULT_TRANSPORT } from './transport.ts';

type Parts = Pick<Services, 'sql' | 'config'>;

/** The ways that email may leave by, according to the rules. */
export interface UsedTransports {
  /** Whether some email uses DELIVERY. */
  readonly has_default: boolean;
  readonly rows: readonly TransportRow[];
}

/** Returns the transports that email may use; of one domain, if it is given. */
export async function usedTransports(
  { sql, config }: Parts,
  sender?: Pick<RoutedEmail, 'workspace_id' | 'from_domain'>,
): Promise<UsedTransports> {
  // The test inbox takes everything, whatever the rules say.
  if (config.DELIVERY.some(({ kind }) => kind === 'capture')) return { has_default: true, rows: [] };
  const rules = await allRules(sql);
  const rows = await allTransports(sql);
  const ids = transportsInUse(rules, sender);
  return { has_default: ids.has(DEFAULT_TRANSPORT), rows: rows.filter(({ id }) => ids.has(id)) };
}

/** Returns how email leaves by these transports. */
export function kindsOf({ DELIVERY }: Pick<Services['config'], 'DELIVERY'>, { has_default, rows }: UsedTransports) {
  return [...(has_default ? DELIVERY : []), ...rows].map(({ kind }) => kind);
}

/** Returns whether all email from a domain leaves through relays, whose addresses only their owner knows. */
export async function isRelayed(
  services: Parts,
  sender: Pick<RoutedEmail, 'workspace_id' | 'from_domain'>,
): Promise<boolean> {
  return kindsOf(services.config, await usedTransports(services, sender)).every((kind) => kind === 'smtp');
}
