import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createMailer } from '@postrider/mail';
import { startBenchServer } from './database.ts';
import { median, percentile, runLoad } from './load.ts';
import { findProgram, type Postfix, postfixProblem, startPostfix } from './postfix.ts';
import { processorSeconds } from './processor-time.ts';
import { type ProductDatabase, type ProductProcess, prepareProduct, startProduct } from './product.ts';
import { letter } from './sample.ts';
import { startSink } from './sink.ts';
import { type SinkProcess, startSinkProcess } from './sink-process.ts';
import { type Line, medianRatio, printLines } from './table.ts';
import { runSends } from './wrk.ts';

const KEYS = 10;
const CONNECTIONS = 50;
const SMALL = 4 * 1024;
const LARGE = 100 * 1024;
const PACE = 50;
// Seconds until what a just-in-time compiler does at first is done; Postfix gets them too.
const WARM_S = 3;
const LIMIT_MS = 60_000;

export interface DeliverOptions {
  readonly rounds: number;
  readonly seconds: number;
}

/** Mails a second that reached the receiver, and processor time a mail of everything but load and receiver. */
interface Flow {
  readonly rate: number;
  readonly cpu_us: number;
  /** The same by process, in the order in which they were named. */
  readonly shares_us: readonly number[];
}

type Figures = Map<string, Flow[]>;

/** D1 to D4 and D6: the way from HTTP to a receiver, beside Postfix and beside what a signature costs. */
export async function benchDeliver({ rounds, seconds }: DeliverOptions): Promise<void> {
  const server = await startBenchServer();
  const product = await prepareProduct(await server.database('product'), KEYS);
  const postmaster = await postmasterOf(product);
  const problem = postfixProblem();
  if (problem) process.stdout.write(`\nPostfix and OpenDKIM cannot run here, so nothing stands beside: ${problem}.\n`);
  const flows: Figures = new Map();
  const signatures: number[] = [];
  const latencies = new Map<string, number[]>();
  const measure = async (name: string, flow: Promise<Flow>) => {
    flows.set(name, [...(flows.get(name) ?? []), await flow]);
  };
  const time = async (name: string, p99_ms: Promise<number>) => {
    latencies.set(name, [...(latencies.get(name) ?? []), await p99_ms]);
  };
  const mails: string[] = [];
  const small = seconds * 2000;
  const large = seconds * 100;
  try {
    for (let round = 0; round < rounds; round++) {
      signatures.push(signatureRate(seconds));
      await measure('ours', through(product, postmaster, SMALL, seconds));
      if (!problem) {
        await measure('signed', throughPostfix(true, SMALL, seconds * 500));
        await measure('unsigned', throughPostfix(false, SMALL, seconds * 800));
      }
      await measure('drain', drain(product, postmaster, small));
      await measure('ours, large', through(product, postmaster, LARGE, seconds));
      if (!problem) await measure('signed, large', throughPostfix(true, LARGE, large));
      await time('ours', latencyOfProduct(product, seconds * 2, mails));
      if (!problem) await time('signed', latencyOfPostfix(seconds * 2));
    }
  } finally {
    await product.stop();
    await server.stop();
  }
  const signed = mails.every((mail) => /^DKIM-Signature:/im.test(mail));
  printLines(
    `Delivery, ${rounds} rounds, medians; our mails were ${signed ? '' : 'NOT '}signed`,
    linesOf(flows, signatures, latencies),
  );
}

function linesOf(
  flows: Figures,
  signatures: readonly number[],
  latencies: ReadonlyMap<string, readonly number[]>,
): Line[] {
  const rates = (name: string) => (flows.get(name) ?? []).map((flow) => flow.rate);
  const costs = (name: string) => (flows.get(name) ?? []).map((flow) => flow.cpu_us);
  const shown = (name: string) => {
    const all = flows.get(name) ?? [];
    if (all.length === 0) return 'not measured';
    const shares = all[0]?.shares_us.map((_, index) =>
      median(all.map((flow) => flow.shares_us[index] ?? 0)).toFixed(0),
    );
    return `${median(rates(name)).toFixed(0)}/s  ${median(costs(name)).toFixed(0)} µs (${shares?.join(' + ')})`;
  };
  const beside = (upper: readonly number[], lower: readonly number[]) =>
    lower.length === 0 ? null : medianRatio(upper, lower);
  const p99 = (name: string) => latencies.get(name) ?? [];
  const row = (id: string, what: string, value: string, ratio: number | null, goal: Line['goal']): Line => ({
    id,
    what,
    value,
    ratio,
    goal,
  });
  return [
    row('', 'RSA-2048 signatures of both cores (openssl speed)', perSecond(signatures), null, null),
    row('', 'Postfix and OpenDKIM, 4 kB', shown('signed'), null, null),
    row('', 'Postfix, 4 kB', shown('unsigned'), null, null),
    row(
      'D1',
      'HTTP → commit → receiver, 4 kB ÷ Postfix and OpenDKIM',
      shown('ours'),
      beside(rates('ours'), rates('signed')),
      {
        at_least: 6,
      },
    ),
    row('D1', 'processor time a mail ÷ Postfix and OpenDKIM', '', beside(costs('ours'), costs('signed')), {
      at_most: 0.2,
    }),
    row('D2', 'HTTP → commit → receiver, 4 kB ÷ Postfix', '', beside(rates('ours'), rates('unsigned')), {
      at_least: 3,
    }),
    row('D3', 'drain of a filled queue ÷ signatures', shown('drain'), beside(rates('drain'), signatures), {
      at_least: 0.45,
    }),
    row(
      'D4',
      `p99 from request to receiver at ${PACE}/s ÷ Postfix and OpenDKIM`,
      `${milliseconds(p99('ours'))} ÷ ${milliseconds(p99('signed'))}`,
      beside(p99('ours'), p99('signed')),
      { at_most: 1.5 },
    ),
    row('', 'Postfix and OpenDKIM, 100 kB', shown('signed, large'), null, null),
    row(
      'D6',
      'HTTP → commit → receiver, 100 kB ÷ Postfix and OpenDKIM',
      shown('ours, large'),
      beside(rates('ours, large'), rates('signed, large')),
      { at_least: 1.5 },
    ),
  ];
}

function perSecond(rates: readonly number[]): string {
  return rates.length === 0 ? 'not measured' : `${median(rates).toFixed(0)}/s`;
}

function milliseconds(values: readonly number[]): string {
  return values.length === 0 ? 'not measured' : `${median(values).toFixed(1)} ms`;
}

/** From HTTP to the receiver, all of the product at work: rest and worker in a process each. */
async function through(product: ProductDatabase, postmaster: number, bytes: number, seconds: number): Promise<Flow> {
  const sink = await startSinkProcess();
  await product.reset();
  const rest = await startProduct(product.url, { ...environment(sink.port), ROLES: 'rest' });
  const worker = await startProduct(product.url, { ...environment(sink.port), ROLES: 'worker' });
  const requests = product.requestsOf(letter(bytes));
  // What wrk has asked for when its time is over is taken, though wrk does not count it.
  const load = async (duration: number): Promise<number> => {
    const before = await taken(product);
    await runSends({ port: rest.port, connections: CONNECTIONS, seconds: duration, requests });
    return (await taken(product)) - before;
  };
  try {
    await arrival(sink, await load(Math.ceil(seconds / 2)));
    return await flowOf(sink, [rest.pid, worker.pid, postmaster], () => load(seconds));
  } finally {
    await stopAll([worker, rest, sink]);
  }
}

/** A queue that was filled while nobody sent, from the start of a worker that is up to the last mail. */
async function drain(product: ProductDatabase, postmaster: number, count: number): Promise<Flow> {
  const sink = await startSinkProcess();
  await product.reset();
  const requests = product.requestsOf(letter(SMALL));
  const rest = await startProduct(product.url, { ...environment(sink.port), ROLES: 'rest' });
  try {
    await runLoad({ port: rest.port, connections: CONNECTIONS, seconds: LIMIT_MS / 1000, count, requests });
  } finally {
    await rest.stop();
  }
  await product.sql`vacuum analyze`;
  await product.sql`checkpoint`;
  const worker = await startProduct(product.url, { ...environment(sink.port), ROLES: 'worker' });
  try {
    // The first tenth is warming up, as everywhere.
    const rest_of_it = count - (await arrival(sink, Math.ceil(count / 10)));
    return await flowOf(sink, [worker.pid, postmaster], async () => rest_of_it);
  } finally {
    await stopAll([worker, sink]);
  }
}

async function throughPostfix(signed: boolean, bytes: number, count: number): Promise<Flow> {
  const sink = await startSinkProcess();
  const postfix = await startPostfix(sink.port, signed);
  const warm = Math.ceil(count / 10);
  try {
    await smtpSource(postfix, bytes, warm);
    await arrival(sink, warm);
    return await flowOf(sink, postfix.pids, async () => {
      await smtpSource(postfix, bytes, count);
      return count;
    });
  } finally {
    await stopAll([postfix, sink]);
  }
}

async function smtpSource(postfix: Postfix, bytes: number, count: number): Promise<void> {
  const people = ['-f', 'app@mail.example.com', '-t', 'ada@rcpt.test'];
  const amount = ['-d', '-s', String(CONNECTIONS), '-m', String(count), '-l', String(bytes)];
  const child = spawn(findProgram('smtp-source') ?? 'smtp-source', [...amount, ...people, `127.0.0.1:${postfix.port}`]);
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`smtp-source ended with ${code}`);
}

async function flowOf(sink: SinkProcess, pids: readonly number[], feed: () => Promise<number>): Promise<Flow> {
  const used = pids.map((pid) => processorSeconds([pid]));
  const before = sink.count();
  const started = performance.now();
  const count = await feed();
  await arrival(sink, before + count);
  const elapsed_ms = performance.now() - started;
  const shares_us = pids.map((pid, index) => ((processorSeconds([pid]) - (used[index] ?? 0)) / count) * 1e6);
  return { rate: (count / elapsed_ms) * 1000, cpu_us: shares_us.reduce((sum, share) => sum + share, 0), shares_us };
}

async function taken({ sql }: ProductDatabase): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from messages`;
  return row?.count ?? 0;
}

/** Waits until the receiver has so many; answers how many it has then. */
async function arrival(sink: Pick<SinkProcess, 'count'>, count: number): Promise<number> {
  const started = performance.now();
  while (sink.count() < count) {
    if (performance.now() - started > LIMIT_MS) throw new Error(`${sink.count()} of ${count} mails arrived`);
    await delay(2);
  }
  return sink.count();
}

/** D4's product: a mail every 20 ms, timed from its request to the last byte at the receiver. */
async function latencyOfProduct(product: ProductDatabase, seconds: number, mails: string[]): Promise<number> {
  return latencyOf(seconds, mails, async (sink_port) => {
    await product.reset();
    const rest = await startProduct(product.url, { ...environment(sink_port), ROLES: 'rest' });
    const worker = await startProduct(product.url, { ...environment(sink_port), ROLES: 'worker' });
    return {
      async send(subject) {
        const requests = product.requestsOf({ ...letter(SMALL), subject }).slice(0, 1);
        await runLoad({ port: rest.port, connections: 1, seconds: LIMIT_MS / 1000, count: 1, requests });
      },
      stop: () => stopAll([worker, rest]),
    };
  });
}

async function latencyOfPostfix(seconds: number): Promise<number> {
  return latencyOf(seconds, [], async (sink_port) => {
    const postfix = await startPostfix(sink_port, true);
    const mailer = createMailer({
      helo_name: 'load.example.com',
      transports: [{ host: '127.0.0.1', port: postfix.port, secure: false, tls: 'none', max_connections: 10 }],
    });
    const { text } = letter(SMALL * 3);
    return {
      async send(subject) {
        const raw = Buffer.from(
          `From: app@mail.example.com\r\nSubject: ${subject}\r\n\r\n${text.replaceAll('\n', '\r\n')}\r\n`,
        );
        await mailer.send({ from: 'app@mail.example.com', to: 'ada@rcpt.test' }, raw, AbortSignal.timeout(LIMIT_MS));
      },
      stop: () => stopAll([mailer, postfix]),
    };
  });
}

interface Entrance {
  send(subject: string): Promise<void>;
  stop(): Promise<void>;
}

async function latencyOf(
  seconds: number,
  mails: string[],
  open: (sink_port: number) => Promise<Entrance>,
): Promise<number> {
  const handed_in = new Map<string, number>();
  const took_ms: number[] = [];
  const sink = await startSink((mail) => {
    mails.push(mail);
    const subject = /^Subject: (T\d+)/m.exec(mail)?.[1] ?? '';
    took_ms.push(performance.now() - (handed_in.get(subject) ?? Number.NaN));
  });
  const entrance = await open(sink.port);
  try {
    const count = seconds * PACE;
    const warm = PACE * WARM_S;
    for (let index = 0; index < count + warm; index++) {
      if (index === warm) await arrival(sink, warm);
      const subject = `T${index}`;
      handed_in.set(subject, performance.now());
      const sent = entrance.send(subject);
      await Promise.all([delay(1000 / PACE), index < warm ? sent : undefined]);
    }
    await arrival(sink, count + warm);
  } finally {
    await entrance.stop();
    await sink.stop();
  }
  return percentile(
    took_ms.slice(PACE * WARM_S).sort((left, right) => left - right),
    99,
  );
}

function environment(sink_port: number): Readonly<Record<string, string>> {
  return { DELIVERY: `smtp://127.0.0.1:${sink_port}`, RETURN_PATH_DOMAIN: 'bounces.example.com' };
}

/** Signatures a second of both cores; Node's own are the same library's. */
function signatureRate(seconds: number): number {
  const args = ['speed', '-multi', '2', '-seconds', String(seconds), 'rsa2048'];
  const printed = execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  return Number(/^rsa\s+2048 bits\s+\S+s\s+\S+s\s+([\d.]+)/m.exec(printed)?.[1]);
}

/** The root of the server's processes: the parent of any that serves a connection. */
async function postmasterOf({ sql }: ProductDatabase): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const stat = readFileSync(`/proc/${row?.pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

async function stopAll(all: readonly Pick<ProductProcess, 'stop'>[]): Promise<void> {
  for (const each of all) await each.stop();
}
