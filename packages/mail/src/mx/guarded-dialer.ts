import { isIP } from 'node:net';
import type { Dialer, DialResult } from '../smtp/route.ts';
import { type ConnectorOptions, openConnector } from './open-connector.ts';

// Four dial timeouts add up to less than a minute.
const MAX_DIALED = 4;

/**
 * Creates a dialer for hosts that a stranger has named. It resolves a host for every connection and reaches only public
 * addresses and the allowed networks, so that a changed DNS record leads nowhere else. Its errors name no private
 * address.
 */
export function createGuardedDialer(options: ConnectorOptions): Dialer {
  const connector = openConnector(options);
  const addressesOf = async (host: string) => (isIP(host) > 0 ? [host] : connector.resolveAddresses(host));
  return {
    addressesOf,
    async dial(host, port, signal) {
      let result: DialResult = { ok: false, error: `${host} has no public address` };
      for (const address of (await addressesOf(host)).slice(0, MAX_DIALED)) {
        result = await connector.dial(address, port, signal);
        if (result.ok || signal.aborted) break;
      }
      return result;
    },
  };
}
