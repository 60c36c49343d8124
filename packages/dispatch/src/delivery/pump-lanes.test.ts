import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { limitDestination, releaseDestination } from '@postrider/core/lanes';
import { cancelMessage, getMessage, rescheduleMessage } from '@postrider/core/messages';
import { createSmtpTransport, type Mailer } from '@postrider/mail';
import { createWorld, type SmtpSink, startSmtpSink, type World } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HoldCache, startHoldCache } from '../holds/hold-cache.ts';
import { type DeliveryPump, startDeliveryPump } from './pump.ts';

const MINUTE_MS = 60_000;
const PATIENCE = { timeout: 30_000, interval: 50 };

let world: World;
const pumps: DeliveryPump[] = [];
const keepers: HoldCache[] = [];
const mailers: Mailer[] = [];
const sinks: SmtpSink[] = [];
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await Promise.all(pumps.splice(0).map((pump) => pump.stop()));
  await Promise.all(keepers.splice(0).map((holds) => holds.stop()));
  await Promise.all(mailers.splice(0).map((mailer) => mailer.stop()));
  await Promise.all(sinks.splice(0).map((sink) => sink.stop()));
  await world.stop();
});

async function sink(): Promise<SmtpSink> {
  const started = await startSmtpSink();
  sinks.push(started);
  return started;
}

/** Returns a local port on which no server listens. */
async function deadPort(): Promise<number> {
  const closed_sink = await startSmtpSink();
  await closed_sink.stop();
  return closed_sink.port;
}

/**
 * Routes the given domains to their own servers and all other domains to the SMTP sink of the world. Each domain has a
 * lane.
 */
function mailerTo(ports: Readonly<Record<string, number>>): Mailer {
  const open = (port: number) =>
    createSmtpTransport({
      host: '127.0.0.1',
      port,
      secure: false,
      tls: 'none',
      max_connections: 20,
      helo_name: 'localhost',
    });
  const others = open(world.smtp.port);
  const servers = new Map(Object.entries(ports).map(([domain, port]) => [domain, open(port)]));
  const mailer: Mailer = {
    send: (envelope, raw, signal) => (servers.get(domainOf(envelope.to)) ?? others).send(envelope, raw, signal),
    laneOf: domainOf,
    stop: async () => void (await Promise.all([others, ...servers.values()].map((transport) => transport.stop()))),
  };
  mailers.push(mailer);
  return mailer;
}

function domainOf(to: string): string {
  return to.slice(to.lastIndexOf('@') + 1);
}

async function start(mailer: Mailer, services = world.services): Promise<DeliveryPump> {
  const holds = startHoldCache(services);
  keepers.push(holds);
  const pump = startDeliveryPump(services, { live: mailer, sandbox: mailer }, holds);
  pumps.push(pump);
  return pump;
}

async function send(to: readonly string[], workspace_id = world.workspace_id, fields = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(world.as(workspace_id), sendMessage, mail)).id;
}

const addresses = (count: number, domain: string, name = 'to') =>
  Array.from({ length: count }, (_, index) => `${name}${index}@${domain}`);

async function sendMany(count: number, domain: string, workspace_id = world.workspace_id, name = 'to'): Promise<void> {
  const to = addresses(count, domain, name);
  for (let from = 0; from < count; from += 50) await send(to.slice(from, from + 50), workspace_id);
}

async function statesIn(domain: string): Promise<Record<string, number>> {
  const rows = await world.services.sql<{ state: string; count: number }[]>`
    select state::text, count(*)::int as count from recipients where domain = ${domain} group by state`;
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

async function parkedIn(lane: string): Promise<number> {
  return (await world.services.sql`select from parked_deliveries where lane = ${lane}`).length;
}

async function triedIn(domain: string): Promise<number> {
  const [row] = await world.services.sql<{ tried: number }[]>`
    select coalesce(sum(attempt_count), 0)::int as tried from recipients where domain = ${domain}`;
  return row?.tried ?? 0;
}

const liveJobs = () => world.services.sql`
  select from pgboss.job where name = 'delivery.attempt' and state < 'completed' and start_after <= pgboss.job_now()`;

const queuedJobs = () => world.services.sql`
  select from pgboss.job where name = 'delivery.attempt' and state < 'active'`;

describe('a server that accepts only one connection', () => {
  it('receives all email on the first attempt, with one session at a time', async () => {
    const narrow = await sink();
    narrow.script(({ stage }) =>
      stage === 'connect' && narrow.sessions() > 0
        ? { kind: 'reply', at: 'connect', code: 421, text: '4.3.2 too many connections' }
        : { kind: 'accept' },
    );
    await sendMany(100, 'narrow.example.com');

    await start(mailerTo({ 'narrow.example.com': narrow.port }));

    await expect.poll(() => statesIn('narrow.example.com'), PATIENCE).toEqual({ delivered: 100 });
    expect(await triedIn('narrow.example.com')).toBe(100);
    // The narrow server was probed only occasionally.
    expect(narrow.connections()).toBeLessThan(20);
    // A session without messages is closed, because another process may need it.
    await expect.poll(() => narrow.sessions(), PATIENCE).toBe(0);
  });
});

describe('a stalled destination', () => {
  it('fairness P10: does not delay another workspace’s large email, however much of its own is waiting', async () => {
    const silent = await sink();
    const released = Promise.withResolvers<void>();
    silent.script(({ stage }) => (stage === 'data' ? { kind: 'stall', until: released.promise } : { kind: 'accept' }));
    // Fifteen of these are twice the share of a workspace, so they get through only because each message returns its
    // share at the final dot.
    const large = { text: 'A line of a long text.\r\n'.repeat(200_000) };
    const slow = [0, 1, 2].map((number) => `slow${number}.example.com`);
    for (const domain of slow) await send(addresses(10, domain), world.workspace_id, large);
    await start(mailerTo(Object.fromEntries(slow.map((domain) => [domain, silent.port]))));
    // A lane starts with five connections.
    for (const domain of slow) await expect.poll(() => triedIn(domain), PATIENCE).toBe(5);

    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await send(['ada@prompt.example.com'], other.workspace_id, { ...large, from: 'hello@other.test' });

    await world.smtp.waitFor(1);
    await expect.poll(() => statesIn('prompt.example.com'), PATIENCE).toEqual({ delivered: 1 });
    expect(silent.messages).toHaveLength(0);
    released.resolve();
  });

  it('delays only its own email: eighteen others receive theirs despite one dead and one unresponsive destination', async () => {
    const silent = await sink();
    const released = Promise.withResolvers<void>();
    silent.script(({ stage }) => (stage === 'data' ? { kind: 'stall', until: released.promise } : { kind: 'accept' }));
    // The messages to the silent and dead destinations are ahead of the others in the queue, and outnumber the slots of
    // the worker.
    await sendMany(500, 'silent.example.com');
    await sendMany(500, 'dead.example.com');
    const well = Array.from({ length: 18 }, (_, index) => `well${index}.example.com`);
    for (const domain of well) await sendMany(20, domain);

    await start(mailerTo({ 'silent.example.com': silent.port, 'dead.example.com': await deadPort() }));

    await world.smtp.waitFor(18 * 20);
    for (const domain of well) await expect.poll(() => statesIn(domain), PATIENCE).toEqual({ delivered: 20 });
    expect(silent.messages).toHaveLength(0);
    // A lane starts with five connections. The rest of its messages are neither tried nor counted as tried.
    await expect.poll(() => triedIn('silent.example.com'), PATIENCE).toBe(5);
    // A dead server is probed with one message per second.
    await expect
      .poll(async () => (await triedIn('dead.example.com')) + (await parkedIn('dead.example.com')), PATIENCE)
      .toBe(500);
    expect(await triedIn('dead.example.com')).toBeLessThan(100);
    released.resolve();
    await expect.poll(() => statesIn('silent.example.com'), PATIENCE).toEqual({ delivered: 500 });
  });

  it('is shown on each waiting email, with the last reply and the time of the next try', async () => {
    const to = addresses(7, 'busy.example.com');
    const busy = await sink();
    busy.script(() => ({ kind: 'reply', code: 421, text: '4.7.0 too many of you' }));
    const ids: string[] = [];
    for (const one of to) ids.push(await send([one]));

    await start(mailerTo({ 'busy.example.com': busy.port }));
    await expect.poll(() => parkedIn('busy.example.com'), PATIENCE).toBe(2);
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ deferred: 5, queued: 2 });

    const messages = await Promise.all(ids.map((id) => invoke(world.as(world.workspace_id), getMessage, { id })));
    const waiting = messages.flatMap((entry) => entry.recipients.map((recipient) => recipient.waiting));
    expect(waiting.map((one) => one?.reason).sort()).toEqual([
      ...Array.from({ length: 5 }, () => 'retry_backoff'),
      'throttled',
      'throttled',
    ]);
    const throttled = waiting.find((one) => one?.reason === 'throttled');
    expect(throttled?.last_reply).toContain('too many of you');
    expect(throttled?.policy).toMatchObject({ kind: 'destination_failures', destination: 'busy.example.com' });
    expect(Date.parse(throttled?.until ?? '')).toBeGreaterThan(world.clock.now());
  });

  it('is retried with one email after the pause, and receives the rest once that email succeeds', async () => {
    const busy = await sink();
    busy.script(() => ({ kind: 'reply', code: 421, text: '4.7.0 not now' }));
    await sendMany(50, 'busy.example.com');
    await start(mailerTo({ 'busy.example.com': busy.port }));
    await expect.poll(() => parkedIn('busy.example.com'), PATIENCE).toBe(45);
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ deferred: 5, queued: 45 });

    // The server is still busy: one more message is tried, and the next pause is longer.
    await world.clock.advance(MINUTE_MS + 1000);
    await expect.poll(() => triedIn('busy.example.com'), PATIENCE).toBeGreaterThan(5);
    const [lane] = await world.services.sql`select closings, reason from lanes where lane = 'busy.example.com'`;
    await expect
      .poll(() => world.services.sql`select closings from lanes where lane = 'busy.example.com'`, PATIENCE)
      .toEqual([{ closings: 2 }]);
    expect(lane).toMatchObject({ reason: 'failing' });
    // The lane is notified of a failure before the failure is recorded, and the delay until the next attempt starts at
    // the recording.
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).not.toHaveProperty('sending');

    busy.script(() => ({ kind: 'accept' }));
    await world.clock.advance(10 * MINUTE_MS);
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ delivered: 50 });
    await expect
      .poll(
        () => world.services.sql`select closings, closed_until from lanes where lane = 'busy.example.com'`,
        PATIENCE,
      )
      .toEqual([{ closings: 0, closed_until: null }]);
    expect(await parkedIn('busy.example.com')).toBe(0);
  });

  it('leaves nothing in the queue that a fetch would have to skip', async () => {
    await sendMany(300, 'dead.example.com');

    await start(mailerTo({ 'dead.example.com': await deadPort() }));

    await expect.poll(() => parkedIn('dead.example.com'), PATIENCE).toBe(295);
    await expect.poll(liveJobs, PATIENCE).toHaveLength(0);
  });

  it('is also avoided by other workers, including a worker that starts later', async () => {
    const port = await deadPort();
    await sendMany(20, 'dead.example.com');
    await start(mailerTo({ 'dead.example.com': port }));
    await expect.poll(() => parkedIn('dead.example.com'), PATIENCE).toBe(15);

    await start(mailerTo({ 'dead.example.com': port }), await world.peer());
    await sendMany(20, 'dead.example.com', world.workspace_id, 'more');

    await expect.poll(() => parkedIn('dead.example.com'), PATIENCE).toBe(35);
    await expect.poll(() => triedIn('dead.example.com'), PATIENCE).toBe(5);
  });
});

describe('parked email', () => {
  async function parkAll(count: number): Promise<{ ids: string[]; open: () => Promise<void>; busy: SmtpSink }> {
    const busy = await sink();
    busy.script(() => ({ kind: 'reply', code: 421, text: '4.7.0 not now' }));
    await sendMany(5, 'busy.example.com', world.workspace_id, 'first');
    await start(mailerTo({ 'busy.example.com': busy.port }));
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ deferred: 5 });
    const ids: string[] = [];
    for (const to of addresses(count, 'busy.example.com')) ids.push(await send([to]));
    await expect.poll(() => parkedIn('busy.example.com'), PATIENCE).toBe(count);
    const open = async () => {
      busy.script(() => ({ kind: 'accept' }));
      await world.clock.advance(2 * MINUTE_MS);
    };
    return { ids, open, busy };
  }

  it('can be canceled, and is then never sent', async () => {
    const { ids, open, busy } = await parkAll(3);

    await invoke(world.as(world.workspace_id), cancelMessage, { id: ids[1] });
    await open();

    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ canceled: 1, delivered: 7 });
    expect(busy.messages.map((mail) => mail.envelope_to[0]).sort()).toEqual(
      [...addresses(5, 'busy.example.com', 'first'), 'to0@busy.example.com', 'to2@busy.example.com'].sort(),
    );
    expect(await parkedIn('busy.example.com')).toBe(0);
  });

  it('can be rescheduled, and is not sent before the new time', async () => {
    const { ids, open, busy } = await parkAll(2);
    const scheduled_at = new Date(world.clock.now() + 60 * MINUTE_MS).toISOString();

    await invoke(world.as(world.workspace_id), rescheduleMessage, { id: ids[0], scheduled_at });
    await open();

    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ scheduled: 1, delivered: 6 });
    expect(await parkedIn('busy.example.com')).toBe(0);
    await world.clock.advance(61 * MINUTE_MS);
    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ delivered: 7 });
    expect(busy.messages.filter((mail) => mail.envelope_to[0] === 'to0@busy.example.com')).toHaveLength(1);
  });

  it('outlives the worker that parked it', async () => {
    const { open, busy } = await parkAll(3);
    await Promise.all(pumps.splice(0).map((pump) => pump.stop()));
    await open();

    await start(mailerTo({ 'busy.example.com': busy.port }));

    await expect.poll(() => statesIn('busy.example.com'), PATIENCE).toEqual({ delivered: 8 });
  });

  it('is left behind if the worker stops while email is waiting in its lane', async () => {
    const slow = await sink();
    const released = Promise.withResolvers<void>();
    let at_dot = 0;
    slow.script(({ stage }) => {
      if (stage === 'data') at_dot += 1;
      return { kind: 'stall', until: released.promise };
    });
    await sendMany(12, 'slow.example.com');
    const pump = await start(mailerTo({ 'slow.example.com': slow.port }));
    await expect.poll(() => at_dot, PATIENCE).toBe(5);

    const stopping = pump.stop();
    await expect.poll(() => parkedIn('slow.example.com'), PATIENCE).toBe(7);
    released.resolve();
    await stopping;

    expect(await statesIn('slow.example.com')).toEqual({ delivered: 5, queued: 7 });
    await start(mailerTo({ 'slow.example.com': slow.port }));
    await expect.poll(() => statesIn('slow.example.com'), PATIENCE).toEqual({ delivered: 12 });
  });
});

describe('a workspace that floods a destination', () => {
  it('does not delay another workspace’s email to the same destination', async () => {
    const other = await world.workspace('business');
    await world.domain('other.test', other.workspace_id);
    await sendMany(1000, 'shared.example.com');
    for (const to of addresses(10, 'shared.example.com', 'other')) {
      await send([to], other.workspace_id, { from: 'hello@other.test' });
    }
    const shared = await sink();
    // The server replies once the worker has seen the whole queue: otherwise, the flood could be over before that.
    const released = Promise.withResolvers<void>();
    shared.script(({ stage }) => (stage === 'data' ? { kind: 'stall', until: released.promise } : { kind: 'accept' }));
    await start(mailerTo({ 'shared.example.com': shared.port }));
    await expect.poll(queuedJobs, PATIENCE).toHaveLength(0);
    released.resolve();
    await shared.waitFor(1010);

    const places = shared.messages.flatMap((mail, place) => (mail.envelope_to[0]?.startsWith('other') ? [place] : []));
    expect(places).toHaveLength(10);
    // The ten messages are behind a thousand in the queue, yet are sent before most of those.
    expect(places.at(-1)).toBeLessThan(600);
  });
});

describe('an email that cannot be rendered', () => {
  it('fails alone: other email in the lane is sent, and the lane stays open', async () => {
    const ids = [];
    for (const to of addresses(20, 'fine.example.com')) ids.push(await send([to]));
    await world.services.sql`update bodies set headers = 'not JSON' where message_id = any (${ids.slice(0, 10)})`;

    await start(mailerTo({}));

    await expect.poll(() => statesIn('fine.example.com'), PATIENCE).toEqual({ deferred: 10, delivered: 10 });
    expect(await world.services.sql`select from lanes where closed_until is not null`).toHaveLength(0);
  });
});

describe('a destination limit set by an operator', () => {
  const limit = (fields: Record<string, unknown>) =>
    invoke(world.as(world.workspace_id), limitDestination, { destination: 'kind.example.com', ...fields });

  it('allows exactly its number of emails per minute across two workers, and shows the rest as throttled', async () => {
    await limit({ messages_per_minute: 30 });
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12, 0, 10)));
    const kind = await sink();
    const peer = await world.peer();
    await start(mailerTo({ 'kind.example.com': kind.port }));
    await start(mailerTo({ 'kind.example.com': kind.port }), peer);
    await sendMany(70, 'kind.example.com');
    const last = await send(['last@kind.example.com']);

    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ delivered: 30, queued: 41 });
    await expect.poll(() => parkedIn('kind.example.com'), PATIENCE).toBe(41);
    const message = await invoke(world.as(world.workspace_id), getMessage, { id: last });
    expect(message.recipients[0]?.waiting).toMatchObject({
      reason: 'throttled',
      until: '2030-01-01T12:01:00.000Z',
      last_reply: null,
      policy: {
        kind: 'destination_limit',
        destination: 'kind.example.com',
        connections: null,
        messages_per_minute: 30,
      },
    });

    await world.clock.advance(MINUTE_MS);
    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ delivered: 60, queued: 11 });
    await world.clock.advance(MINUTE_MS);
    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ delivered: 71 });
    expect(kind.messages).toHaveLength(71);
  });

  it('stops applying when removed, including to parked email', async () => {
    await limit({ messages_per_minute: 1 });
    await world.clock.freeze(new Date(Date.UTC(2030, 0, 1, 12, 0, 10)));
    await start(mailerTo({}));
    await sendMany(10, 'kind.example.com');
    await expect.poll(() => parkedIn('kind.example.com'), PATIENCE).toBe(9);

    await invoke(world.as(world.workspace_id), releaseDestination, { destination: 'kind.example.com' });

    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ delivered: 10 });
  });

  it('allows no more concurrent emails than its connection limit', async () => {
    await limit({ connections: 2 });
    const kind = await sink();
    const released = Promise.withResolvers<void>();
    kind.script(({ stage }) => (stage === 'data' ? { kind: 'stall', until: released.promise } : { kind: 'accept' }));
    await sendMany(10, 'kind.example.com');

    await start(mailerTo({ 'kind.example.com': kind.port }));

    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ sending: 2, queued: 8 });
    await expect.poll(() => kind.connections(), PATIENCE).toBe(2);
    released.resolve();
    await expect.poll(() => statesIn('kind.example.com'), PATIENCE).toEqual({ delivered: 10 });
    expect(kind.connections()).toBe(2);
  });
});
