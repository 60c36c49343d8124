import { once } from 'node:events';
import type { Socket } from 'node:net';
import { createTCPServer, createUDPServer, Packet } from 'dns2';

export interface ZoneRecords {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
  readonly CNAME?: readonly string[];
  readonly MX?: readonly { readonly priority: number; readonly exchange: string }[];
  readonly NS?: readonly string[];
  readonly PTR?: readonly string[];
  /** A string is split into character-strings of 255 octets; an array gives the parts explicitly. */
  readonly TXT?: readonly (string | readonly string[])[];
}
export type RecordType = keyof ZoneRecords;
export type Zone = Readonly<Record<string, ZoneRecords>>;
/** Delegated zones: the names of their servers, and their addresses if the parent has glue records. */
export type Delegations = Readonly<Record<string, readonly { readonly ns: string; readonly address?: string }[]>>;
export type DnsFailure = 'SERVFAIL' | 'REFUSED' | 'timeout';

export interface DnsZone {
  /** The host:port of the server, for UDP and TCP. */
  readonly address: string;
  /** All queries so far, as `TYPE name`. */
  readonly questions: readonly string[];
  /** Sets the records of a name and type. The TTL defaults to one minute. */
  set<T extends RecordType>(name: string, type: T, records: NonNullable<ZoneRecords[T]>, ttl_seconds?: number): void;
  /** Removes all records of a name. */
  remove(name: string): void;
  /** Makes every query for the name fail until reset with null. */
  fail(name: string, failure: DnsFailure | null): void;
  stop(): Promise<void>;
}

type Answer = Packet['answers'][number];
const HOST = '127.0.0.1';
const TTL_SECONDS = 60;
const PORT_TRIES = 20;
const recordTypes: readonly RecordType[] = ['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'TXT'];

/** Starts a real name server on loopback for the names in an object literal; any other name is NXDOMAIN. */
export async function startDnsZone(
  zone: Zone = {},
  {
    host = HOST,
    port: asked_port = 0,
    delegations = {},
  }: { readonly host?: string; readonly port?: number; readonly delegations?: Delegations } = {},
): Promise<DnsZone> {
  const ttls = new Map<string, number>();
  const names = new Map<string, ZoneRecords>();
  for (const [name, records] of Object.entries(zone)) names.set(canonical(name), records);
  const failures = new Map<string, DnsFailure>();
  const questions: string[] = [];

  /** Returns the records of a name, following aliases to their end, or once around a loop. */
  function answersFor(name: string, type: RecordType | undefined, passed: readonly string[] = []): Answer[] {
    const records = names.get(name);
    if (!records || passed.includes(name)) return [];
    const target = records.CNAME?.[0];
    if (target !== undefined && type !== 'CNAME') {
      return [
        encode(name, 'CNAME', target, ttlOf(name, 'CNAME')),
        ...answersFor(canonical(target), type, [...passed, name]),
      ];
    }
    return type ? (records[type] ?? []).map((record) => encode(name, type, record, ttlOf(name, type))) : [];
  }

  const ttlOf = (name: string, type: RecordType) => ttls.get(`${type} ${name}`) ?? TTL_SECONDS;

  /** RFC 8020: a name with a name below it has no data, but exists. */
  const exists = (name: string) => names.has(name) || [...names.keys()].some((known) => known.endsWith(`.${name}`));

  function answer(request: Packet, send: (response: Packet) => unknown): void {
    const [question] = request.questions;
    if (!question) return;
    const name = canonical(question.name);
    const type = recordTypes.find((known) => Packet.TYPE[known] === question.type);
    questions.push(`${type ?? `TYPE${question.type}`} ${name}`);
    const failure = failures.get(name);
    if (failure === 'timeout') return;
    const response = Packet.createResponseFromRequest(request);
    response.header.ra = 1;
    const delegated = Object.entries(delegations).find(([zone]) => name === zone || name.endsWith(`.${zone}`));
    if (failure) {
      response.header.rcode = Packet.RCODE[failure];
    } else if (delegated) {
      const [zone, servers] = delegated;
      response.authorities = servers.map(({ ns }) => encode(zone, 'NS', ns, TTL_SECONDS));
      response.additionals = servers.flatMap(({ ns, address }) =>
        address === undefined ? [] : [encode(ns, 'A', address, TTL_SECONDS)],
      );
    } else if (exists(name)) {
      response.header.aa = 1;
      response.answers = answersFor(name, type);
    } else {
      response.header.aa = 1;
      response.header.rcode = Packet.RCODE.NXDOMAIN;
    }
    send(response);
  }

  // A port that is free for UDP may be in use for TCP, so binding is retried until both are bound.
  for (let attempt = 1; ; attempt++) {
    const udp = createUDPServer(answer);
    await udp.listen(asked_port, host);
    const { port } = udp.address();
    const tcp = createTCPServer(answer);
    try {
      tcp.listen(port, host);
      await once(tcp, 'listening');
    } catch (error) {
      udp.close();
      if (attempt === PORT_TRIES || asked_port !== 0) throw error;
      continue;
    }
    const open = new Set<Socket>();
    tcp.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    return {
      address: `${host}:${port}`,
      questions,
      set(name, type, records, ttl_seconds = TTL_SECONDS) {
        ttls.set(`${type} ${canonical(name)}`, ttl_seconds);
        names.set(canonical(name), { ...names.get(canonical(name)), [type]: records });
      },
      remove(name) {
        names.delete(canonical(name));
      },
      fail(name, failure) {
        if (failure) failures.set(canonical(name), failure);
        else failures.delete(canonical(name));
      },
      async stop() {
        const closed = Promise.all([once(udp, 'close'), once(tcp, 'close')]);
        udp.close();
        tcp.close();
        for (const socket of open) socket.destroy();
        await closed;
      },
    };
  }
}

function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function encode(name: string, type: RecordType, record: unknown, ttl: number): Answer {
  const resource = {
    name,
    type: Packet.TYPE[type],
    class: Packet.CLASS.IN,
    ttl,
    ...fieldsOf(type, record),
  };
  // dns2 types an answer as a class instance, but encodes any object with the same fields.
  return resource as Answer;
}

function fieldsOf(type: RecordType, record: unknown): object {
  if (type === 'A' || type === 'AAAA') return { address: record };
  if (type === 'CNAME' || type === 'PTR') return { domain: record };
  if (type === 'NS') return { ns: record };
  if (type === 'TXT') return { data: typeof record === 'string' ? (record.match(/.{1,255}/gs) ?? ['']) : record };
  return Object(record);
}
