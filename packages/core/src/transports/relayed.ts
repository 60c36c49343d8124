import type { Services } from '../operation/context.ts';
import { type SenderFacts, transportsInUse, transportsOfSender } from './route.ts';
import { allRules, allTransports, rulesOfWorkspaces, type TransportRow, transportsOfWorkspaces } from './store.ts';
import { DEFAULT_TRANSPORT } from './transport.ts';

type Parts = Pick<Services, 'sql' | 'config'>;

/** The ways that email may leave by, according to the rules. */
export interface UsedTransports {
  /** Whether some email uses DELIVERY. */
  readonly has_default: boolean;
  readonly rows: readonly TransportRow[];
}

/** Returns the transports of the instance that email may use or, if a domain is given, all that its email may use. */
export async function usedTransports({ sql, config }: Parts, sender?: SenderFacts): Promise<UsedTransports> {
  // The test inbox takes everything, whatever the rules say.
  if (config.DELIVERY.some(({ kind }) => kind === 'capture')) return { has_default: true, rows: [] };
  const instance = await allRules(sql);
  const workspace_ids = sender ? [sender.workspace_id] : [];
  const rows = [...(await allTransports(sql)), ...(await transportsOfWorkspaces(sql, workspace_ids))];
  const own = new Map(sender && [[sender.workspace_id, await rulesOfWorkspaces(sql, workspace_ids)]]);
  const ids = sender ? transportsOfSender({ instance, own }, sender) : transportsInUse(instance);
  return { has_default: ids.has(DEFAULT_TRANSPORT), rows: rows.filter(({ id }) => ids.has(id)) };
}

/** Returns how email leaves by these transports. */
export function kindsOf({ DELIVERY }: Pick<Services['config'], 'DELIVERY'>, { has_default, rows }: UsedTransports) {
  return [...(has_default ? DELIVERY : []), ...rows].map(({ kind }) => kind);
}

/** Returns whether all email from a domain leaves through relays, whose addresses only their owner knows. */
export async function isRelayed(services: Parts, sender: SenderFacts): Promise<boolean> {
  return kindsOf(services.config, await usedTransports(services, sender)).every((kind) => kind === 'smtp');
}
