import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Returns the reason why an address may not be connected to, or null if it may be. */
export type AddressGuard = (address: string) => string | null;

type Network = ReturnType<typeof ipaddr.parseCIDR>;

// ipaddr.js reads ::8.8.8.8 as the mapped ::ffff:8.8.8.8, but the system does not.
const MISREAD = /^::\d+\./;
// The only block that IANA has opened for global unicast. ipaddr.js also calls ::7f00:1 unicast, which some
// systems route to 127.0.0.1.
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Creates a guard that allows only public internet addresses and networks that the operator has listed. IPv6 addresses
 * that embed an IPv4 address (NAT64, 6to4, Teredo) never count as public. Only the mapped form is read as the IPv4
 * address that the system would reach.
 */
export function createAddressGuard(allow_networks: readonly string[]): AddressGuard {
  const allowed = allow_networks.map(networkOf);
  return (address) => {
    if (isIP(address) === 0 || MISREAD.test(address)) return `${address} is not an address`;
    const parsed = ipaddr.process(address);
    if (allowed.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))) return null;
    const range = parsed.range();
    if (range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(GLOBAL_IPV6))) return null;
    return `${address} is not a public address (${range === 'unicast' ? 'unassigned' : range})`;
  };
}

function networkOf(text: string): Network {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
