import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ledgers } from './ledgers.ts';
import type { Random } from './random.ts';
import { wallTime } from './wall-time.ts';

export interface WebhookSink {
  readonly url: string;
  /** A URL at which nothing listens. */
  readonly dead_url: string;
  /** The secret that signs posts, once the endpoint has been created. */
  secret: string;
  /** Whether posts are subject to the faults of the plan: 5 % get a 500, 1 % hang, 1 % are reset. */
  faulty: boolean;
  stop(): Promise<void>;
}

const HANG_MS = 15_000;

/** Starts a webhook endpoint that checks signatures and records every post. */
export async function startWebhookSink(ledgers: Ledgers, random: Random): Promise<WebhookSink> {
  const sink = { secret: '', faulty: false };
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const dice = sink.faulty ? random.next() : 1;
    const status = dice < 0.05 ? 500 : dice < 0.06 ? 0 : dice < 0.07 ? -1 : 200;
    const post = parse(raw);
    ledgers.posted.push({
      webhook_id: String(request.headers['webhook-id'] ?? ''),
      type: post.type,
      email_id: post.email_id,
      sequence: post.sequence,
      signed: isSigned(request, raw, sink.secret),
      answered: status,
      at: wallTime(),
    });
    if (status === -1) request.socket.destroy();
    else if (status === 0) setTimeout(() => response.writeHead(200).end(), HANG_MS);
    else response.writeHead(status).end();
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(sink, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    // Nothing listens on this loopback address.
    dead_url: `http://127.0.0.99:${(server.address() as AddressInfo).port}/dead`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function parse(raw: Buffer): { type: string; email_id: string | null; sequence: number | null } {
  try {
    const body = JSON.parse(raw.toString()) as { type?: string; sequence?: number; data?: { email?: { id?: string } } };
    return { type: body.type ?? '', email_id: body.data?.email?.id ?? null, sequence: body.sequence ?? null };
  } catch {
    return { type: 'not JSON', email_id: null, sequence: null };
  }
}

/**
 * Returns whether the signature is valid under Standard Webhooks: HMAC-SHA256 of id, timestamp and body, keyed with the
 * part of the secret after its prefix.
 */
function isSigned(request: IncomingMessage, raw: Buffer, secret: string): boolean {
  const id = String(request.headers['webhook-id'] ?? '');
  const timestamp = String(request.headers['webhook-timestamp'] ?? '');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(raw).digest();
  return String(request.headers['webhook-signature'] ?? '')
    .split(' ')
    .some((part) => {
      const signature = Buffer.from(part.replace(/^v1,/, ''), 'base64');
      return signature.length === expected.length && timingSafeEqual(signature, expected);
    });
}
