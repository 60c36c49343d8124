import { addressSubject } from '../usage/index.ts';
import { Places } from './places.ts';

/**
 * Places for unauthenticated clients, by network: the IPv4 address, or the /64 of an IPv6 address. All addresses of a
 * network share one allowance.
 */
export class NetworkPlaces extends Places {
  override take(address: string, count = 1): boolean {
    return super.take(addressSubject(address), count);
  }

  override give(address: string, count = 1): void {
    super.give(addressSubject(address), count);
  }
}
