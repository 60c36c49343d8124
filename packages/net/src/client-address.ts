import { BlockList, isIP, type Socket } from 'node:net';

/** Resolves a client's address from its connection and the forwarding header set by proxies. */
export type ClientAddress = (socket: Socket, forwarded_for: string | readonly string[] | undefined) => string;

/**
 * Creates a resolver of client addresses. The client is the peer or, behind trusted proxies, the address that they
 * report. The header is read from right to left.
 */
export function createClientAddress(trusted_proxies: readonly string[]): ClientAddress {
  const trusted = blockList(trusted_proxies);
  const peers = new WeakMap<Socket, string>();
  const peerOf = (socket: Socket): string => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const address = peerAddress(socket);
    peers.set(socket, address);
    return address;
  };
  return (socket, forwarded_for) => {
    let address = peerOf(socket);
    if (trusted_proxies.length === 0) return address;
    const forwarded = String(forwarded_for ?? '')
      .split(',')
      .reverse();
    for (const hop of forwarded) {
      if (!trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) break;
      const next = plainAddress(hop.trim());
      if (next === null) break;
      address = next;
    }
    return address;
  };
}

/** Returns the other end of a connection, regardless of any header. */
export function peerAddress(socket: Pick<Socket, 'remoteAddress'>): string {
  return plainAddress(socket.remoteAddress ?? '') ?? '0.0.0.0';
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

/** Removes the IPv6 form of an IPv4 peer, and a zone such as %eth0, which is only meaningful on this machine. */
function plainAddress(text: string): string | null {
  const address = text.split('%', 1)[0] ?? '';
  const plain = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  return isIP(plain) === 0 ? null : plain;
}
