import { addressSubject } from '../usage/index.ts';
import { Places } from './places.ts';

/**
 * Places for strangers, by their network: the address, and for IPv6 its /64. However many addresses of a network ask,
 * they have one share.
 */
export class NetworkPlaces extends Places {
  override take(address: string, count = 1): boolean {
    return super.take(addressSubject(address), count);
  }

  override give(address: string, count = 1): void {
    super.give(addressSubject(address), count);
  }
}
