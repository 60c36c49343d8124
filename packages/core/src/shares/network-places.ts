import { addressSubject } from '../usage/index.ts';
import { Places } from './places.ts';

/**
 * Places for strangers, by network: the address, or for IPv6 its /64. All addresses of a network share one allowance.
 */
export class NetworkPlaces extends Places {
  override take(address: string, count = 1): boolean {
    return super.take(addressSubject(address), count);
  }

  override give(address: string, count = 1): void {
    super.give(addressSubject(address), count);
  }
}
