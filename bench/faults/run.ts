import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Load } from './client.ts';
import { Database } from './database.ts';
import { type Instance, slowDomains, startInstance } from './instance.ts';
import { type Ledgers, newLedgers } from './ledgers.ts';
import { noMailFaults } from './mail-sink.ts';
import { Phases, type Plan, plans } from './phases.ts';
import { createRandom } from './random.ts';
import { reconcile } from './reconcile.ts';
import { printFaultReport } from './report.ts';
import { wallTime } from './wall-time.ts';

// npm run bench:faults -- [--plan full|slice] [--seed TEXT] [--old-api DIR] [--old-worker DIR]
// Exits with 1 where a check does not hold. The seed is printed; the same seed makes the same choices.

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { plan: text, seed: text, 'old-api': text, 'old-worker': text } });
const name = values.plan === 'slice' ? 'slice' : 'full';
const seed = values.seed ?? randomBytes(4).toString('hex');
const plan = plans[name];
const ledgers = newLedgers();
const began = wallTime();
const say = (line: string) =>
  void process.stdout.write(`${((wallTime() - began) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);

say(`fault plan ${name}, seed ${seed}`);
const random = createRandom(seed);
const instance = await startInstance(ledgers, random, {
  seed,
  slow_peers: name === 'full',
  ...(values['old-api'] !== undefined && { api_checkout: values['old-api'] }),
  ...(values['old-worker'] !== undefined && { worker_checkout: values['old-worker'] }),
});
const database = new Database(instance.database_url);
try {
  await database.liftRateLimits();
  const calm_until = wallTime() + plan.calm_s * 1000;
  await underLoad(instance, plan);
  const drained = await drain(instance, plan, database);
  say(drained);
  const stored = await database.read();
  await stopPlanned(instance, ledgers);
  const figures = reconcile(ledgers, stored, {
    calm_until,
    duplicates_after_kills: plan.worker_kills * 3,
  });
  process.exitCode = printFaultReport(figures, ledgers) ? 0 : 1;
} finally {
  await database.stop();
  await instance.stop();
}

async function underLoad(running: Instance, { per_second, horizon_s }: Plan): Promise<void> {
  const load = new Load(ledgers, random.fork('load'), {
    ports: running.apis.map(({ port }) => port),
    secret: running.secret,
    from: running.from,
    domains: name === 'full' ? [...running.domains, ...running.domains, ...slowDomains.slice(3)] : running.domains,
    per_second,
    horizon_s,
  });
  load.start();
  say(`${per_second} requests a second`);
  await new Phases(plan, running, ledgers, random.fork('faults'), say).run();
  await load.stop();
  say(`${ledgers.sent.length} requests answered; draining`);
}

/** Waits, without faults, until nothing is open. */
async function drain(running: Instance, { drain_s }: Plan, stored: Database): Promise<string> {
  running.mail.faults = noMailFaults;
  running.hooks.faulty = false;
  const since = wallTime();
  for (;;) {
    const open = (await stored.openRecipients()) + (await stored.openWebhooks());
    const seconds = (wallTime() - since) / 1000;
    if (open === 0) return `drained in ${seconds.toFixed(1)} s`;
    if (seconds > drain_s) return `${open} open after ${drain_s} s`;
    await pause(500);
  }
}

/** A process that ends from here on was told to. */
async function stopPlanned(running: Instance, { lives }: Ledgers): Promise<void> {
  await Promise.all([...running.apis, ...running.workers].map((slot) => slot.stop()));
  say(`${lives.length} lives of processes`);
}
