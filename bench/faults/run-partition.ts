import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Check, check, holds } from './check.ts';
import { Database, type StoredRecipient } from './database.ts';
import { ask, startInstance } from './instance.ts';
import { type ArrivalEntry, newLedgers } from './ledgers.ts';
import { createRandom } from './random.ts';
import { createLog, wallTime } from './wall-time.ts';

// Cuts one of two workers off from Postgres for a while, varying the duration, how soon mail servers reply, and the
// policy for messages without a reply. No connection is closed: traffic is blocked until the time is over.

const AWAY_S = [1, 3, 8, 20];
const REPLIES_MS = [400, 2500];
const POLICIES = ['resend', 'stop'] as const;
const PER_SECOND = 20;
const BEFORE_MS = 3000;
const AFTER_MS = 3000;
const DRAIN_MS = 90_000;
/** A worker that has been cut off from the database for this long does not start another DATA. */
const SILENCE_MS = 5000;
const MAX_AWAY_WITHOUT_COPIES_S = 8;

interface Case {
  readonly away_s: number;
  readonly reply_ms: number;
  readonly policy: (typeof POLICIES)[number];
}

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { plan: text, seed: text, logs: text } });
const seed = values.seed ?? randomBytes(4).toString('hex');
const began = wallTime();
const print = createLog(began);
const ledgers = newLedgers();

print(`fault plan partition, seed ${seed}`);
const options = { seed, slow_peers: false, metrics: false, logs: values.logs ?? null };
const instance = await startInstance(ledgers, createRandom(seed), options);
const database = new Database(instance.database_url);
const cases = POLICIES.flatMap((policy) =>
  REPLIES_MS.flatMap((reply_ms) => AWAY_S.map((away_s): Case => ({ policy, reply_ms, away_s }))),
);
let failed = 0;
try {
  await database.liftRateLimits();
  for (const one of cases) if (!(await isSound(one))) failed += 1;
  print(
    failed === 0 ? `sound: all ${cases.length} cases passed` : `NOT sound: ${failed} of ${cases.length} cases failed`,
  );
} finally {
  if (failed > 0) print(`process logs are in ${instance.log_folder}`);
  await database.stop();
  await instance.stop(failed > 0 || values.logs !== undefined);
}
process.exit(failed === 0 ? 0 : 1);

async function isSound(one: Case): Promise<boolean> {
  const { policy, reply_ms, away_s } = one;
  await database.setUnknownPolicy(policy);
  instance.mail.reply_ms = reply_ms;
  const [place] = instance.workers;
  if (!place) throw new Error('there is no worker');
  const sending = sendFor(BEFORE_MS + away_s * 1000 + AFTER_MS);
  await pause(BEFORE_MS);
  const cut_at = wallTime();
  place.database.mute(true);
  await pause(away_s * 1000);
  place.database.mute(false);
  const ids = await sending;
  const drained_in = await drain();
  const { recipients } = await database.read(instance.hooks.url);
  const checks = checksOf(
    one,
    cut_at,
    recipients.filter(({ message_id }) => ids.has(message_id)),
  );
  const bad = checks.filter((one_check) => !holds(one_check));
  const failures = bad.map(({ name, count, examples }) => `${count} ${name} (${examples.join(', ')})`).join('; ');
  print(
    `${bad.length === 0 ? 'ok ' : 'BAD'} ${policy}, reply after ${reply_ms} ms, away for ${away_s} s: ` +
      `${ids.size} emails, drained in ${(drained_in / 1000).toFixed(1)} s${failures && `: ${failures}`}`,
  );
  return bad.length === 0;
}

/** Sends at a steady rate; returns the ids of the accepted messages. */
async function sendFor(ms: number): Promise<Set<string>> {
  const ids = new Set<string>();
  const sending: Promise<void>[] = [];
  const failures: unknown[] = [];
  const start = performance.now();
  for (let number = 0; performance.now() - start < ms; number++) {
    sending.push(
      send(number).then(
        (id) => void ids.add(id),
        (error) => void failures.push(error),
      ),
    );
    await pause(Math.max(0, start + ((number + 1) * 1000) / PER_SECOND - performance.now()));
  }
  await Promise.all(sending);
  if (failures.length > 0) throw failures[0];
  return ids;
}

async function send(number: number): Promise<string> {
  const { apis, domains, secret, from } = instance;
  const port = apis[number % apis.length]?.slot.port ?? 0;
  const to = `p${number}@${domains[number % domains.length]}`;
  const email = { from, to, subject: 'Hello', text: 'Hi' };
  const { id } = (await ask(port, secret, 'POST', '/email/send', email)) as { id: string };
  return id;
}

async function drain(): Promise<number> {
  const since = wallTime();
  while (wallTime() - since < DRAIN_MS && (await database.openRecipients()) > 0) await pause(250);
  return wallTime() - since;
}

function checksOf({ policy, away_s }: Case, cut_at: number, recipients: readonly StoredRecipient[]): Check[] {
  const copies = Map.groupBy(ledgers.seen, ({ message_id }) => message_id.split('@')[0] ?? '');
  const copiesOf = ({ message_id }: StoredRecipient): readonly ArrivalEntry[] => copies.get(message_id) ?? [];
  const repeated = recipients.filter((one) => copiesOf(one).length > 1);
  const may_repeat = policy === 'resend' && away_s > MAX_AWAY_WITHOUT_COPIES_S;
  const excusable = (one: StoredRecipient) =>
    may_repeat && (copiesOf(one)[0]?.at ?? Number.POSITIVE_INFINITY) <= cut_at + SILENCE_MS;
  const describe = (one: StoredRecipient) => `${one.message_id} ${one.state}`;
  return [
    check('not delivered', recipients.filter(({ state }) => state !== 'delivered').map(describe)),
    check('not at the mail server', recipients.filter((one) => copiesOf(one).length === 0).map(describe)),
    check('sent twice', repeated.filter((one) => !excusable(one)).map(describe)),
  ];
}
