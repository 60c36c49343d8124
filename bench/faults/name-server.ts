import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

const TYPES = { A: 1, MX: 15, TXT: 16 } as const;
const NAME_ERROR = 3;

/** The only name server of a run: mail servers by domain, and the records a sending domain needs. */
export interface NameServer {
  readonly address: string;
  /** Routes mail for this domain to a host with this address. */
  mail(domain: string, address: string): void;
  text(name: string, value: string): void;
  /** Stops answering queries for this domain and its subdomains. */
  silence(domain: string): void;
  stop(): Promise<void>;
}

export async function startNameServer(port: number): Promise<NameServer> {
  const servers = new Map<string, string>();
  const texts = new Map<string, string[]>();
  const silent: string[] = [];
  const socket = createSocket('udp4');
  const response = (query: Buffer): Buffer | null => {
    const { name } = readName(query, 12);
    const is_silent = silent.some((domain) => name === domain || name.endsWith(`.${domain}`));
    return is_silent ? null : answerTo(query, servers, texts);
  };
  socket.on('message', (query, from) => {
    const reply = response(query);
    if (reply) socket.send(reply, from.port, from.address);
  });
  // Queries with long answers are retried over TCP.
  const tcp = createServer((client) => {
    client.on('error', () => client.destroy());
    client.on('data', (chunk: Buffer) => {
      const reply = response(chunk.subarray(2));
      if (reply) client.end(Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 255]), reply]));
    });
  });
  await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => tcp.listen(port, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${port}`,
    mail: (domain, address) => void servers.set(domain, address),
    text: (name, value) => void texts.set(name.toLowerCase(), [...(texts.get(name.toLowerCase()) ?? []), value]),
    silence: (domain) => void silent.push(domain),
    async stop() {
      socket.close();
      await new Promise((resolve) => tcp.close(resolve));
    },
  };
}

function answerTo(query: Buffer, servers: Map<string, string>, texts: Map<string, string[]>): Buffer {
  const { name, end } = readName(query, 12);
  const type = query.readUInt16BE(end);
  const question = query.subarray(12, end + 4);
  const host = /^mx\.(.+)$/.exec(name)?.[1];
  const responses: Buffer[] = [];
  if (type === TYPES.MX && servers.has(name)) {
    responses.push(record(TYPES.MX, Buffer.concat([Buffer.from([0, 10]), writeName(`mx.${name}`)])));
  } else if (type === TYPES.A && host && servers.has(host)) {
    responses.push(record(TYPES.A, Buffer.from((servers.get(host) ?? '').split('.').map(Number))));
  } else if (type === TYPES.TXT) {
    for (const text of texts.get(name) ?? []) responses.push(record(TYPES.TXT, writeText(text)));
  }
  const known = servers.has(name) || texts.has(name) || (host !== undefined && servers.has(host));
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8580 | (known ? 0 : NAME_ERROR), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(responses.length, 6);
  return Buffer.concat([header, question, ...responses]);
}

/** Returns an answer record for the queried name, with a TTL of one minute. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function readName(bytes: Buffer, from: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = from;
  for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

function writeText(text: string): Buffer {
  const parts = text.match(/.{1,255}/g) ?? [''];
  return Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])));
}
