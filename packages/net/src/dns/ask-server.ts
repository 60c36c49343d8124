import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { type DnsReply, decodeReply, encodeQuestion, type NameServer, type RecordType } from './message.ts';

export interface Question {
  readonly name: string;
  readonly type: RecordType;
  /** Whether the query requests recursion. */
  readonly recurse: boolean;
}

export type QueryOutcome =
  | { readonly ok: true; readonly reply: DnsReply; readonly server: NameServer }
  | { readonly ok: false; readonly why: string };

export const SILENT = 'no name server responded in time';
export const UNREACHABLE = 'no name server could be reached';

/** Queries one server over UDP, and over TCP if the response is truncated. Never throws. */
export async function askServer(server: NameServer, question: Question, limit_ms: number): Promise<QueryOutcome> {
  const id = randomInt(65_536);
  const bytes = encodeQuestion(id, question.name, question.type, question.recurse);
  if (!bytes) return { ok: false, why: 'the name is not a valid DNS name' };
  const fits = (reply: DnsReply | null): reply is DnsReply =>
    reply?.id === id && reply.question.type === question.type && reply.question.name === question.name.toLowerCase();
  const outcome = await overUdp(server, bytes, fits, limit_ms);
  return outcome.ok && outcome.reply.truncated ? overTcp(server, bytes, fits, limit_ms) : outcome;
}

type Fits = (reply: DnsReply | null) => reply is DnsReply;

/** Uses a new port each time, so that a forged response has to match both port and id. */
function overUdp(server: NameServer, bytes: Buffer, fits: Fits, limit_ms: number): Promise<QueryOutcome> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
    let is_settled = false;
    const end = (outcome: QueryOutcome) => {
      if (is_settled) return;
      is_settled = true;
      clearTimeout(timer);
      socket.close();
      resolve(outcome);
    };
    const timer = setTimeout(() => end({ ok: false, why: SILENT }), limit_ms);
    socket.on('error', () => end({ ok: false, why: UNREACHABLE }));
    socket.on('message', (message) => {
      const reply = decodeReply(message);
      if (fits(reply)) end({ ok: true, reply, server });
    });
    socket.connect(server.port, server.address, () => {
      if (!is_settled) socket.send(bytes);
    });
  });
}

function overTcp(server: NameServer, bytes: Buffer, fits: Fits, limit_ms: number): Promise<QueryOutcome> {
  return new Promise((resolve) => {
    const socket = connect(server.port, server.address);
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (outcome: QueryOutcome) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => end({ ok: false, why: SILENT }), limit_ms);
    socket.on('error', () => end({ ok: false, why: UNREACHABLE }));
    socket.on('close', () => end({ ok: false, why: UNREACHABLE }));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      const all = size < 2 ? null : Buffer.concat(chunks);
      // The length is 16 bits, which bounds the memory that a server can make this function use.
      if (all === null || size < 2 + all.readUInt16BE(0)) return;
      const reply = decodeReply(all.subarray(2, 2 + all.readUInt16BE(0)));
      end(
        fits(reply) && !reply.truncated
          ? { ok: true, reply, server }
          : { ok: false, why: 'a name server sent an invalid answer' },
      );
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  });
}
