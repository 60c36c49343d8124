import { isIP } from 'node:net';

const codes = { A: 1, NS: 2, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28 } as const;
export type RecordType = keyof typeof codes;

export interface ResourceRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl_seconds: number;
  /** Names without their trailing dot, the joined strings of a TXT record, or `10 mx.example.com` for an MX. */
  readonly text: string;
}

export interface DnsReply {
  readonly id: number;
  readonly truncated: boolean;
  readonly authoritative: boolean;
  readonly code: 'ok' | 'no_such_name' | 'SERVFAIL' | 'REFUSED' | 'other';
  readonly question: { readonly name: string; readonly type: RecordType };
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  readonly additionals: readonly ResourceRecord[];
}

const OPT = 41;
// The size that every network carries unfragmented, from DNS flag day 2020.
const UDP_SIZE = 1232;
const HEADER = 12;
const MAX_RECORDS = 200;
const types = new Map<number, RecordType>(Object.entries(codes).map(([name, code]) => [code, name as RecordType]));
const replyCodes: Readonly<Record<number, DnsReply['code']>> = {
  0: 'ok',
  2: 'SERVFAIL',
  3: 'no_such_name',
  5: 'REFUSED',
};

/** Encodes a query. Returns null if the text cannot be a DNS name. */
export function encodeQuestion(id: number, name: string, type: RecordType, recurse: boolean): Buffer | null {
  const labels = name.split('.');
  if (name.length > 253 || labels.some((label) => !/^[\x21-\x7e]{1,63}$/.test(label))) return null;
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(recurse ? 0x0100 : 0, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 10);
  const name_bytes = labels.map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')]));
  const question_end = Buffer.of(0, 0, codes[type], 0, 1);
  const option = Buffer.alloc(11);
  option.writeUInt16BE(OPT, 1);
  option.writeUInt16BE(UDP_SIZE, 3);
  return Buffer.concat([header, ...name_bytes, question_end, option]);
}

/**
 * Decodes a reply. Returns null if the bytes are not a reply to one question. No input can make this function loop
 * forever or throw.
 */
export function decodeReply(bytes: Buffer): DnsReply | null {
  try {
    return decode(bytes);
  } catch (error) {
    // Every read past the end throws a RangeError.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function decode(bytes: Buffer): DnsReply | null {
  const flags = bytes.readUInt16BE(2);
  if ((flags & 0x8000) === 0 || bytes.readUInt16BE(4) !== 1) return null;
  const question = readName(bytes, HEADER);
  const type = types.get(bytes.readUInt16BE(question.end));
  if (!type) return null;
  let at = question.end + 4;
  const section = (count_at: number): ResourceRecord[] => {
    const records: ResourceRecord[] = [];
    for (let remaining = Math.min(bytes.readUInt16BE(count_at), MAX_RECORDS); remaining > 0; remaining--) {
      const { name, end } = readName(bytes, at);
      const length = bytes.readUInt16BE(end + 8);
      const data = end + 10;
      const type = bytes.readUInt16BE(end + 2) === 1 ? types.get(bytes.readUInt16BE(end)) : undefined;
      if (data + length > bytes.length) throw new RangeError('a record that ends after its message');
      if (type)
        records.push({ name, type, ttl_seconds: readTtl(bytes, end + 4), text: readData(bytes, type, data, length) });
      at = data + length;
    }
    return records;
  };
  const truncated = (flags & 0x0200) !== 0;
  const facts = {
    id: bytes.readUInt16BE(0),
    truncated,
    authoritative: (flags & 0x0400) !== 0,
    code: replyCodes[flags & 0x000f] ?? 'other',
    question: { name: question.name, type },
  };
  // A truncated reply may end anywhere, and is requested again over TCP.
  if (truncated) return { ...facts, answers: [], authorities: [], additionals: [] };
  return { ...facts, answers: section(6), authorities: section(8), additionals: section(10) };
}

/** Reads a TTL. A TTL with its highest bit set is zero (RFC 2181 section 8). */
function readTtl(bytes: Buffer, at: number): number {
  const seconds = bytes.readUInt32BE(at);
  return seconds > 0x7fffffff ? 0 : seconds;
}

/** Reads a name (RFC 1035 section 4.1.4). A pointer must lead backwards, so that following pointers terminates. */
function readName(bytes: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let length = 0;
  let at = start;
  let lowest = start;
  let end: number | null = null;
  for (;;) {
    const size = bytes.readUInt8(at);
    if (size >= 0xc0) {
      end ??= at + 2;
      at = bytes.readUInt16BE(at) & 0x3fff;
      if (at >= lowest) throw new RangeError('a pointer that leads forwards');
      lowest = at;
      continue;
    }
    if (size === 0) return { name: labels.join('.').toLowerCase(), end: end ?? at + 1 };
    length += size + 1;
    if (size > 63 || length > 255 || at + 1 + size > bytes.length) throw new RangeError('a name that is too long');
    labels.push(bytes.toString('latin1', at + 1, at + 1 + size));
    at += 1 + size;
  }
}

function readData(bytes: Buffer, type: RecordType, at: number, length: number): string {
  switch (type) {
    case 'A':
      if (length !== 4) throw new RangeError('an address of another length');
      return bytes.subarray(at, at + 4).join('.');
    case 'AAAA': {
      if (length !== 16) throw new RangeError('an address of another length');
      const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(at + 2 * index).toString(16));
      return groups.join(':');
    }
    case 'NS':
    case 'CNAME':
    case 'PTR':
      return readName(bytes, at).name;
    case 'MX':
      return `${bytes.readUInt16BE(at)} ${readName(bytes, at + 2).name}`;
    case 'TXT': {
      const strings: Buffer[] = [];
      for (let next = at; next < at + length; ) {
        const size = bytes.readUInt8(next);
        if (next + 1 + size > at + length) throw new RangeError('a string that ends after its record');
        strings.push(bytes.subarray(next + 1, next + 1 + size));
        next += 1 + size;
      }
      return Buffer.concat(strings).toString('utf8');
    }
  }
}

/** A server as DNS_SERVERS and the system specify it: an address with an optional port. */
export interface NameServer {
  readonly address: string;
  readonly port: number;
}

export function readServer(text: string): NameServer {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  if (isIP(address) === 0) throw new Error(`${text} is not the address of a name server`);
  return { address, port: Number(port ?? 53) };
}

/** Formats a server the way readServer parses it. */
export function serverName({ address, port }: NameServer): string {
  if (port === 53) return address;
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
