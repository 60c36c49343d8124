import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { atMost, type Check, check, holds } from '../check.ts';
import { Database } from '../database.ts';
import { ask, type Instance, startInstance, verifyDomain } from '../instance.ts';
import { type Ledgers, newLedgers } from '../ledgers.ts';
import { type MailSink, startMailSink } from '../mail-sink.ts';
import { createRandom } from '../random.ts';
import { createLog, wallTime } from '../wall-time.ts';
import { startAlertSink } from './alert-sink.ts';
import { attacksOf } from './greedy.ts';
import { lineActs } from './lines.ts';
import { type Account, type Endpoints, Neighbor } from './neighbor.ts';
import { reportAct } from './reports.ts';
import { Stranger } from './stranger.ts';

// A greedy workspace performs one act after another, and a stranger sends wrong keys; a neighbor must notice neither.
// Then both workers stop while notices of the greedy workspace are pending, which must not delay the instance's alarm.

const CALM_MS = 12_000;
const ACT_MS = 20_000;
const REST_MS = 8000;
const LAST_MS = 30_000;
const DOT_MS = 60_000;
const WRONG_KEYS_PER_SECOND = 500;
const NOTICES = 1000;
const NOTICE_WITHIN_SECONDS = 60;
const MIB = 1024 * 1024;
const SLOW_DOMAINS = [20, 21, 22, 23, 24, 25].map((host) => ({
  name: `slow-${host}.test`,
  address: `127.0.0.${host}`,
}));
const CREATE_WORKSPACE = `mutation {
  workspaceCreate(input: { name: "Neighbor", plan: "business" }) {
    ... on WorkspaceCreatePayload { secret }
  }
}`;
const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { plan: text, seed: text, logs: text } });
const seed = values.seed ?? randomBytes(4).toString('hex');
const began = wallTime();
const print = createLog(began);

print(`fault plan neighbors, seed ${seed}`);
const ledgers = newLedgers();
const alerts = await startAlertSink();
const instance = await startInstance(ledgers, createRandom(seed), {
  seed,
  slow_peers: false,
  metrics: false,
  all_apis: true,
  alert_url: alerts.url,
  logs: values.logs ?? null,
});
const database = new Database(instance.database_url);
const slow: MailSink[] = [];
let sound = false;
try {
  await database.liftRateLimits();
  for (const { name, address } of SLOW_DOMAINS) {
    instance.names.mail(name, address);
    const sink = { host: address, port: instance.mail_path.port, slow: { reply_ms: DOT_MS } };
    slow.push(await startMailSink(newLedgers(), seed, sink));
  }
  instance.names.silence('silent.test');
  sound = report([...(await underLoad()), await withoutWorkers()]);
} finally {
  if (!sound) print(`process logs are in ${instance.log_folder}`);
  await database.stop();
  await instance.stop(!sound || values.logs !== undefined);
  for (const sink of slow) await sink.stop();
  await alerts.stop();
}
process.exit(sound ? 0 : 1);

async function underLoad(): Promise<Check[]> {
  const endpoints: Endpoints = {
    ports: instance.apis.map(({ slot }) => slot.port),
    submission_ports: instance.apis.flatMap(({ submission_port }) => submission_port ?? []),
    inbound_ports: instance.apis.flatMap(({ inbound_port }) => inbound_port ?? []),
  };
  const greedy: Account = { secret: instance.secret, from: instance.from };
  const newKey = async (name: string, mode: 'live' | 'sandbox') => {
    const body = { name, mode, scopes: ['email:send'] };
    return (await ask(endpoints.ports[0] ?? 0, greedy.secret, 'POST', '/api-keys', body)) as { secret: string };
  };
  const [second, sandbox] = [await newKey('second', 'live'), await newKey('sandbox', 'sandbox')];
  const neighbor = new Neighbor(await newAccount(instance, endpoints), endpoints, instance.domains[0] ?? '');
  const stranger = new Stranger(endpoints.ports[0] ?? 0);
  const log_bytes = await database.requestLogBytes();
  neighbor.start();
  stranger.start(WRONG_KEYS_PER_SECOND);
  await pause(CALM_MS);
  const slow_names = SLOW_DOMAINS.map(({ name }) => name);
  const reports = reportAct(greedy, endpoints);
  const actions = [
    ...attacksOf(greedy, second.secret, endpoints, slow_names),
    ...lineActs({
      account: greedy,
      sandbox_secret: sandbox.secret,
      endpoints,
      addNotices: (webhook_url) => database.addNotices(NOTICES, webhook_url),
    }),
    reports,
  ];
  for (const { name, run } of actions) {
    print(name);
    const since = wallTime();
    const signal = AbortSignal.timeout(ACT_MS);
    await run(signal);
    reportNeighbor(neighbor, ledgers, since);
    await pause(REST_MS);
  }
  await neighbor.stop();
  stranger.stop();
  print(
    `responses to the unauthenticated client: ${[...stranger.responses].map(([code, count]) => `${count} × ${code}`).join(', ')}`,
  );
  for (const until = wallTime() + LAST_MS; wallTime() < until && latest(neighbor, ledgers) === null; ) await pause(250);
  const log_growth = (await database.requestLogBytes()) - log_bytes;
  return [...checksOf(neighbor, ledgers, log_growth), ...reports.checks(await database.storedReports())];
}

/** Measures how long the instance takes to report that no worker is alive. */
async function withoutWorkers(): Promise<Check> {
  print('both workers stopped while notices are pending');
  await Promise.all(instance.workers.map(({ slot }) => slot.stop()));
  const stopped = performance.now();
  const until = stopped + 2 * NOTICE_WITHIN_SECONDS * 1000;
  while (!alerts.rules.has('no_worker') && performance.now() < until) await pause(100);
  const seconds = alerts.rules.has('no_worker') ? Math.round((performance.now() - stopped) / 1000) : Infinity;
  return atMost('seconds until no_worker is told', seconds, NOTICE_WITHIN_SECONDS);
}

/** Creates a second workspace with its own domain. */
async function newAccount({ secret, names }: Instance, { ports: [port = 0] }: Endpoints): Promise<Account> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: CREATE_WORKSPACE }),
  });
  const { data, errors } = (await response.json()) as {
    data?: { workspaceCreate: { secret?: string } };
    errors?: unknown;
  };
  const neighbor = data?.workspaceCreate.secret;
  if (neighbor === undefined) throw new Error(`no second workspace: ${JSON.stringify(errors ?? data)}`);
  await verifyDomain(port, neighbor, names, 'neighbor.test');
  return { secret: neighbor, from: 'Neighbor <orders@neighbor.test>' };
}

/**
 * Returns the time of the neighbor's slowest email, or null until all of its accepted emails have reached the mail
 * server.
 */
function latest(neighbor: Neighbor, { seen: arrivals }: Ledgers): number | null {
  const times = neighbor.arrivals(arrivals).map(({ ms }) => ms);
  const max = Math.max(...times);
  return Number.isFinite(max) ? max : null;
}

function reportNeighbor(neighbor: Neighbor, { lives }: Ledgers, since: number): void {
  const took = neighbor.samples.filter(({ began_at }) => began_at >= since).map(({ took_ms }) => took_ms);
  const probes = neighbor.probes.filter(({ at }) => at >= since).map(({ took_ms }) => took_ms);
  print(
    `  accept p95 ${at(took, 0.95)} ms, most ${at(took, 1)} ms; health p99 ${at(probes, 0.99)} ms, most ${at(probes, 1)} ms`,
  );
  print(`  peak memory so far: ${lives.map(({ slot, max_memory_mb }) => `${slot} ${max_memory_mb} MB`).join(', ')}`);
}

function checksOf(neighbor: Neighbor, { seen: entries, lives }: Ledgers, log_bytes: number): Check[] {
  const { samples, probes } = neighbor;
  const took = samples.map(({ took_ms }) => took_ms);
  const arrivals = neighbor.arrivals(entries);
  const timesOf = (large: boolean) =>
    arrivals.filter(({ of: path }) => (path === 'large') === large).map(({ ms }) => ms);
  const health = probes.map(({ took_ms }) => took_ms);
  const memory = lives.map(({ slot, max_memory_mb }) => `${slot} ${max_memory_mb} MB`);
  return [
    check(
      'responses to the neighbor other than 202 and 250',
      samples.filter(({ code }) => code !== 202 && code !== 250).map(({ of: path, code }) => `${path} ${code}`),
    ),
    atMost('milliseconds to its response, p95', at(took, 0.95), 500),
    atMost('milliseconds to its response, most', at(took, 1), 3000),
    atMost('milliseconds from its request to the mail server, p95', at(timesOf(false), 0.95), 5000),
    atMost('milliseconds from its request of 300 kB to the mail server, most', at(timesOf(true), 1), 15_000),
    atMost('milliseconds of a probe of /healthz, p99', at(health, 0.99), 500),
    atMost('milliseconds of a probe of /healthz, most', at(health, 1), 2000),
    check(
      'probes at /healthz that failed',
      probes.filter(({ ok }) => !ok).map((probe) => new Date(probe.at).toISOString()),
    ),
    atMost('MB resident, most of a process', Math.max(...lives.map((life) => life.max_memory_mb)), 700, memory),
    atMost('MB of the request log', Math.round((log_bytes / MIB) * 10) / 10, 10),
    check(
      'processes that ended',
      lives.filter(({ end }) => end !== null).map(({ slot, end }) => `${slot} ${end}`),
    ),
  ];
}

/** Returns the rounded quantile of the values. */
function at(values: readonly number[], share: number): number {
  const ascending = values.toSorted((left, right) => left - right);
  return Math.round(ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? 0);
}

function report(checks: readonly Check[]): boolean {
  for (const one of checks) {
    const { name, count, at_most, examples } = one;
    print(
      `${holds(one) ? 'ok ' : 'BAD'} ${String(count).padStart(7)}  ${name}${at_most > 0 ? ` (at most ${at_most})` : ''}`,
    );
    if (!holds(one)) for (const example of examples) print(`               ${example}`);
  }
  const failed = checks.filter((one) => !holds(one)).length;
  const seconds = Math.round((wallTime() - began) / 1000);
  print(
    `${failed === 0 ? `sound: all ${checks.length} checks passed` : `NOT sound: ${failed} checks failed`}, ${seconds} s`,
  );
  return failed === 0;
}
