import { isId } from '../fields/ids.ts';
import type { Asked, Known, KnownSent } from './known-sent.ts';

// A Message-ID of ours is an id of a mail before the @.
const MESSAGE = /\bmsg_[0-9a-z]{26}\b/g;
const ADDRESS = /[^\s<>"'(),;:=[\]]+@[^\s<>"'(),;:=[\]]+/g;

/**
 * A log of sent mail: any text whose lines name the Message-ID of a mail, and the address where it has several
 * recipients.
 */
export async function readSentLog(name: string, lines: AsyncIterable<string> | Iterable<string>): Promise<KnownSent> {
  const addresses = new Map<string, Set<string>>();
  for await (const line of lines) {
    const ids = line.match(MESSAGE)?.filter((id) => isId('message', id)) ?? [];
    if (ids.length === 0) continue;
    const named = (line.match(ADDRESS) ?? [])
      .map((address) => address.toLowerCase())
      .filter((address) => !ids.some((id) => address.startsWith(id)));
    for (const id of ids) {
      const known = addresses.get(id) ?? new Set();
      for (const address of named) known.add(address);
      addresses.set(id, known);
    }
  }
  const ids = [...addresses.keys()].sort();
  return {
    name,
    async lookup(asked) {
      return asked.map((one) => judge(one, addresses.get(one.message_id)));
    },
    async messagesFrom(id, count) {
      const first = ids.findIndex((one) => one >= id);
      return first < 0 ? [] : ids.slice(first, first + count);
    },
  };
}

function judge({ email, recipient_count }: Asked, addresses: ReadonlySet<string> | undefined): Known {
  if (addresses === undefined) return null;
  return recipient_count === 1 || addresses.has(email.toLowerCase()) ? 'sent' : 'perhaps';
}
