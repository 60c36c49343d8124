import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { throughPooler } from './address.ts';
import { connectSingly } from './connect.ts';
import { requireSession } from './planner.ts';

const url = inject('postgres_url');
let pooler: Server;

beforeAll(async () => {
  pooler = await startTransactionPooler(new URL(url));
});

afterAll(() => {
  pooler.close();
});

async function look(address: string): Promise<void> {
  const [one, two] = connectSingly(throughPooler(address), 2, { application_name: 'session-test' });
  if (!one || !two) throw new Error('two connections were asked for');
  try {
    await requireSession([one, two]);
  } finally {
    await Promise.all([one, two].map((sql) => sql.end({ timeout: 1 })));
  }
}

it('a connection that keeps its session is accepted', async () => {
  await expect(look(url)).resolves.toBeUndefined();
});

it('an idle pooler in transaction mode is rejected', async () => {
  const address = new URL(url);
  address.port = String((pooler.address() as AddressInfo).port);

  await expect(look(address.href)).rejects.toThrow('pool_mode = session');
});

interface Client {
  readonly socket: Socket;
  readonly queue: Buffer[];
}

/** Calls back with each complete protocol message, starting with its type. */
function messages(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      onMessage(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  };
}

const typeOf = (message: Buffer) => String.fromCharCode(message[0] ?? 0);

/**
 * Starts a transaction pooler. Each client logs in separately; after that, all clients share the first client's
 * connection, one transaction at a time.
 */
async function startTransactionPooler({ hostname, port }: URL): Promise<Server> {
  const clients: Client[] = [];
  let shared: Socket | null = null;
  let holder: Client | null = null;
  let owed = 0;
  const pump = () => {
    holder ??= clients.find(({ queue }) => queue.length > 0) ?? null;
    for (const message of holder?.queue.splice(0) ?? []) {
      if ('SQ'.includes(typeOf(message))) owed += 1;
      if (typeOf(message) !== 'X') shared?.write(message);
      else holder = null;
    }
  };
  const onAnswer = (message: Buffer) => {
    holder?.socket.write(message);
    if (typeOf(message) !== 'Z') return;
    owed -= 1;
    if (owed > 0 || message[5] !== 'I'.charCodeAt(0)) return;
    holder = null;
    pump();
  };
  const server = createServer((socket) => {
    const client: Client = { socket, queue: [] };
    const backend = dial(Number(port), hostname);
    let ready = false;
    const read = messages((message) => {
      client.queue.push(message);
      pump();
    });
    socket.on('data', (chunk) => (ready ? read(chunk) : backend.write(chunk)));
    backend.on(
      'data',
      messages((message) => {
        if (ready) return onAnswer(message);
        socket.write(message);
        if (typeOf(message) !== 'Z') return;
        ready = true;
        clients.push(client);
        shared ??= backend;
      }),
    );
    socket.on('error', () => socket.destroy());
    backend.on('error', () => socket.destroy());
    server.on('close', () => {
      backend.destroy();
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
