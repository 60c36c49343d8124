import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Load } from './client.ts';
import { Database } from './database.ts';
import { type Instance, slowDomains, startInstance } from './instance.ts';
import { type Ledgers, newLedgers } from './ledgers.ts';
import { readLogs } from './logs.ts';
import { noMailFaults } from './mail-sink.ts';
import { Phases } from './phases.ts';
import { type Plan, type PlanName, plans } from './plans.ts';
import { createRandom } from './random.ts';
import { reconcile } from './reconcile.ts';
import { printFaultReport, writeFaultReport } from './report.ts';
import { startSlowUploads } from './slow-uploads.ts';
import { createLog, wallTime } from './wall-time.ts';

// Runs the plans in plans.ts: kills, crashes, stops and cuts. The same seed makes the same choices.

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    plan: text,
    seed: text,
    json: text,
    logs: text,
    'old-api': text,
    'old-worker': text,
    'unjudged-speed': { type: 'boolean' },
  },
});
const name = planNamed(values.plan ?? 'full');
const seed = values.seed ?? randomBytes(4).toString('hex');
const plan: Plan = { ...plans[name], ...(values['unjudged-speed'] && { speed: null }) };
const json =
  values.json ?? fileURLToPath(new URL(`../../node_modules/.cache/faults/${name}-${seed}.json`, import.meta.url));
// Messages to slow domains may still be open when the run ends, except those to the domain whose server accepts a
// single connection.
const [narrow = '', ...slow] = slowDomains.toReversed();
const ledgers = newLedgers();
const began = wallTime();
const print = createLog(began);

print(`fault plan ${name}, seed ${seed}`);
const random = createRandom(seed);
const instance = await startInstance(ledgers, random, {
  seed,
  slow_peers: plan.slow_peers > 0,
  metrics: plan.backlog !== null,
  logs: values.logs ?? null,
  ...(values['old-api'] !== undefined && { api_checkout: values['old-api'] }),
  ...(values['old-worker'] !== undefined && { worker_checkout: values['old-worker'] }),
});
const database = new Database(instance.database_url);
let sound = false;
try {
  await database.liftRateLimits();
  const calm_until = wallTime() + plan.calm_s * 1000;
  await underLoad(instance);
  print(await drain(instance));
  const stored = await database.read(instance.hooks.url);
  await stopPlanned(instance, ledgers);
  const slots = [...instance.apis, ...instance.workers].map(({ slot }) => slot.name);
  const { rescued, warnings } = readLogs(instance.log_folder, slots);
  const figures = reconcile(ledgers, stored, { plan, calm_until, slow, narrow: [narrow], rescued });
  const run = { plan: name, seed, seconds: Math.round((wallTime() - began) / 1000), warnings };
  writeFaultReport(json, figures, ledgers, run);
  sound = printFaultReport(figures, ledgers, run);
} finally {
  const keep_logs = !sound || values.logs !== undefined;
  if (keep_logs) print(`process logs are in ${instance.log_folder}`);
  await database.stop();
  await instance.stop(keep_logs);
}
process.exit(sound ? 0 : 1);

function planNamed(plan_name: string): PlanName {
  if (!Object.hasOwn(plans, plan_name))
    throw new Error(`there is no plan ${plan_name}; choose one of ${Object.keys(plans).join(', ')}`);
  // The check above guarantees that the plan exists.
  return plan_name as PlanName;
}

async function underLoad(running: Instance): Promise<void> {
  const ports = running.apis.map(({ slot }) => slot.port);
  const { domains, secret, from } = running;
  const load = new Load(ledgers, random.fork('load'), {
    ports,
    secret,
    from,
    // The servers behind narrow accept one connection, so they get a hundredth of the messages.
    domains: plan.slow_peers > 0 ? [...domains, ...domains, ...domains, ...domains, ...domains, narrow] : domains,
    per_second: plan.per_second,
    horizon_s: plan.horizon_s,
  });
  const stopUploads = startSlowUploads(ports, secret, plan.slow_peers);
  if (plan.backlog === null) load.start();
  else load.startBacklog(plan.backlog, () => database.openRecipients());
  print(plan.backlog === null ? `${plan.per_second} requests per second` : `a backlog of ${plan.backlog} emails`);
  await new Phases({
    plan,
    instance: running,
    ledgers,
    database,
    load,
    random: random.fork('faults'),
    say: print,
  }).run();
  await load.stop();
  stopUploads();
  print(`${ledgers.sent.length} requests completed; draining`);
}

/** Stops injecting faults, and waits until no email or webhook post is open. */
async function drain(running: Instance): Promise<string> {
  running.mail.faults = noMailFaults;
  running.hooks.faulty = false;
  const since = wallTime();
  for (;;) {
    const emails = await database.openRecipients(slow);
    const posts = await database.openWebhooks(running.hooks.url);
    const seconds = (wallTime() - since) / 1000;
    if (emails + posts === 0) return `drained in ${seconds.toFixed(1)} s`;
    if (seconds > plan.drain_s)
      return `${emails} emails and ${posts} webhook requests are open after ${plan.drain_s} s`;
    await pause(500);
  }
}

/** Stops the processes on purpose, so that exits from here on count as planned. */
async function stopPlanned(running: Instance, { lives }: Ledgers): Promise<void> {
  await Promise.all([...running.apis, ...running.workers].map(({ slot }) => slot.stop()));
  print(`${lives.length} process lifetimes`);
}
