import { BlockList, isIP, type Socket } from 'node:net';

/** As much of a request as tells whom it comes from. */
interface Arrived {
  readonly socket: Socket;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type ClientAddress = (request: Arrived) => string;

/** Tells whom a request comes from: the peer, or what trusted proxies say in X-Forwarded-For, read from the right. */
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
  return (request) => {
    let address = peerOf(request.socket);
    if (trusted_proxies.length === 0) return address;
    const forwarded = String(request.headers['x-forwarded-for'] ?? '')
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

/** The other end of a connection, whatever it may say about itself. */
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

/** An IPv4 peer on an IPv6 socket is still that IPv4 address, and a zone such as %eth0 is this machine's affair. */
function plainAddress(text: string): string | null {
  const address = text.split('%', 1)[0] ?? '';
  const plain = address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
  return isIP(plain) === 0 ? null : plain;
}
