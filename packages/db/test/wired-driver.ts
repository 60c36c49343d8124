import { connect as openSocket, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import postgres from 'postgres';

// Run by driver.journey.ts: runs one scenario over a socket that it controls, and prints the result. A separate
// process, so that an unhandled rejection or exception ends it.

const [, , name = '', url = ''] = process.argv;

const settled = (work: readonly Promise<unknown>[]) =>
  Promise.all(
    work.map((one) =>
      one.catch((error: unknown) => (error instanceof Error && 'code' in error ? error.code : String(error))),
    ),
  );

const server = () => openSocket(Number(new URL(url).port || 5432), new URL(url).hostname);

class Wire extends Duplex {
  readonly #socket = server();
  readonly #answers: (sent: Buffer) => Buffer | null;

  /** `responses` may answer in place of the server. */
  constructor(high_water_mark: number, responses: (sent: Buffer) => Buffer | null = () => null) {
    super({ writableHighWaterMark: high_water_mark });
    this.#answers = responses;
    this.#socket.on('data', (data) => this.push(data));
    this.#socket.on('error', (error) => this.destroy(error));
    this.#socket.on('close', () => this.destroy());
  }

  override _read(): void {}

  override _write(data: Buffer, _encoding: string, done: () => void): void {
    const response = this.#answers(data);
    if (response === null) {
      this.#socket.write(data, done);
      return;
    }
    this.push(response);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/** Creates a pool of one connection over wires that the test controls. */
function wired<W extends Wire | Socket>(open: () => W) {
  const wires: W[] = [];
  const options = {
    max: 1,
    idle_timeout: 20,
    onnotice: () => undefined,
    socket: () => {
      const wire = open();
      wires.push(wire);
      return wire;
    },
  };
  return { pool: postgres(url, options), wires };
}

const scenarios: Record<string, () => Promise<unknown>> = {
  async 'push back'() {
    const { pool } = wired(() => new Wire(1));
    await pool`select 1`;
    // Together with BEGIN, this is more than 1024 bytes, which the driver writes immediately instead of in the next
    // turn.
    const before = settled([pool.unsafe(`select 1 -- ${'x'.repeat(1000)}`)]);
    const [inside] = await pool.begin((tx) => tx`select now() = statement_timestamp() as first, txid_current() as id`);
    await before;
    const [outside] = await pool`select txid_current() > ${inside?.id}::int8 as later`;
    return { first: inside?.first, later: outside?.later };
  },

  async drain() {
    const { pool, wires } = wired(() => new Wire(16_384));
    const steps: string[] = [];
    let outside: Promise<unknown> = Promise.resolve();
    await pool.begin(async (tx) => {
      await tx`select 1`;
      wires.at(-1)?.emit('drain');
      outside = pool`select 1`.then(() => steps.push('outside'));
      await tx`select pg_sleep(0.05)`;
      await tx`select 1`;
      steps.push('inside');
    });
    await outside;
    return steps;
  },

  async unsent() {
    const { pool, wires } = wired(() => new Wire(16_384));
    await pool`select 1`;
    const unsent = settled([pool`select 'unsent' as word`]);
    // After these microtasks the driver has the statement, and writes it in the next turn.
    for (let i = 0; i < 5; i++) await Promise.resolve();
    wires.at(-1)?.destroy();
    return [await unsent, await pool`select 'next' as word`];
  },

  async reset() {
    // A Node socket emits its error a few turns before its close event.
    const { pool, wires } = wired(server);
    await pool`select 1`;
    const lost = settled([pool`select pg_sleep(20)`]);
    wires.at(-1)?.destroy(Object.assign(new Error('reset by peer'), { code: 'ECONNRESET' }));
    return [await lost, await pool`select 'next' as word`];
  },

  async 'array types'() {
    const fields = Buffer.from('SERROR\0C57014\0Mcancelled\0\0');
    const failed = Buffer.concat([Buffer.from('E\0\0\0\0'), fields, Buffer.from('Z\0\0\0\x05I')]);
    failed.writeUInt32BE(fields.length + 4, 1);
    const { pool } = wired(() => new Wire(16_384, (sent) => (sent.includes('pg_catalog.pg_type') ? failed : null)));
    return [await settled([pool`select 1 as one`]), await pool`select 2 as two`];
  },
};

process.stdout.write(JSON.stringify(await scenarios[name]?.()));
// Exits after the turn that reports unhandled rejections.
setImmediate(() => process.exit());
