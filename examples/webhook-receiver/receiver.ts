import { createServer, type IncomingMessage, type Server } from 'node:http';
import { verifyWebhook } from '@postrider/sdk';
import type { Store } from './store.ts';

// Events are a few kilobytes; a larger body isn't one.
const MAX_BODY_BYTES = 256 * 1024;

export function createReceiver(store: Store, secret: string): Server {
  return createServer(async (request, response) => {
    const body = await readBody(request);
    if (body === null) return response.writeHead(413, { connection: 'close' }).end();
    const event = await verifyWebhook(body, request.headers, secret).catch(() => null);
    if (event === null) return response.writeHead(400).end();
    try {
      const is_new = store.record(event);
      console.log(`${event.type} ${event.id}: ${is_new ? 'new' : 'received before'}`);
      // Only now: a crash before this line makes Postrider send the event again.
      return response.writeHead(204).end();
    } catch (error) {
      console.error(error);
      return response.writeHead(500).end();
    }
  });
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
