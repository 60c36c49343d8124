import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const EMAILS = 30;
const IN_FLIGHT = 8;
const RESPONSES_PER_LIFE = 9;
const KILLS = 2;
const PAST_LEASE_MS = 61_000;
const PATIENCE = { timeout: 50_000, interval: 100 };
const CREATE = `mutation ($input: TransportInput!) {
  transportCreate(input: $input) { ... on TransportPayload { transport { id } } ... on ApiError { message } }
}`;
const REPORT_TO = `mutation ($input: TransportFeedbackInput!) {
  transportFeedbackSet(input: $input) {
    ... on TransportFeedbackPayload { secret feedback { url } } ... on ApiError { message }
  }
}`;
const USE = `mutation ($input: TransportRulesInput!) {
  transportRulesSet(input: $input) { __typename ... on ApiError { message } }
}`;

let journey: Journey;
let server: ServerProcess;
let path = '';
let secret = '';
/** By recipient. */
const references = new Map<string, string>();

beforeAll(async () => {
  journey = await openJourney({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  server = await journey.start();
  const mutate = async <T>(query: string, input: object) => {
    const { text } = await server.call('POST', '/graphql', { body: { query, variables: { input } } });
    return (JSON.parse(text) as { data: T }).data;
  };
  const relay = { name: 'Relay', kind: 'SMTP', host: journey.smtp.host, port: journey.smtp.port, tls: 'NONE' };
  const creation = await mutate<{ transportCreate: { transport: { id: string } } }>(CREATE, relay);
  const { id } = creation.transportCreate.transport;
  const change = await mutate<{ transportFeedbackSet: { secret: string; feedback: { url: string } } }>(REPORT_TO, {
    id,
    provider: 'GENERIC',
  });
  secret = change.transportFeedbackSet.secret;
  path = new URL(change.transportFeedbackSet.feedback.url).pathname;
  await mutate(USE, { rules: [{ transports: [id] }] });
  // The worker follows the rules within five seconds.
  await pause(5500);
});
afterAll(() => journey.stop());

async function sendEmails(recipients: readonly string[]): Promise<void> {
  const batch = recipients.map((to) => ({ ...hello, to }));
  expect((await server.call('POST', '/v1/email/batch', { body: batch })).status).toBeLessThan(300);
  for (const to of recipients) {
    const { raw } = await journey.smtp.waitFor(({ envelope_to }) => envelope_to.includes(to));
    references.set(to, /^X-Postrider-Ref: (\S+)\r$/m.exec(raw.toString('latin1'))?.[1] ?? '');
  }
  const openStates = async () =>
    Object.keys(await statesOf(journey.sql)).filter((state) => /queued|sending/.test(state));
  await expect.poll(openStates, PATIENCE).toEqual([]);
}

/** Reports the bounce of an email; returns null if there was no response. */
async function report(to: string): Promise<number | null> {
  const body = JSON.stringify({
    type: 'bounced',
    ref: references.get(to),
    status: '5.1.1',
    diagnostic: '550 5.1.1 no',
  });
  const at = new Date();
  const id = `evt_${to}`;
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return fetch(server.url + path, { method: 'POST', headers, body }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => null,
  );
}

/** Locks a row while an action runs, and releases it afterwards. */
async function whileLocked(table: 'transport_feedback' | 'recipients', action: () => Promise<void>): Promise<void> {
  await journey.sql.begin(async (tx) => {
    await tx`select from ${tx(table)} for update`;
    await action();
  });
}

async function untilBlocked(): Promise<void> {
  const waits = () => journey.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waits()).length, { ...PATIENCE, interval: 10 }).toBeGreaterThan(0);
}

const bouncesByEmail = () => journey.sql<{ recipient: string; state: string; events: number }[]>`
  select r.email as recipient, r.state::text as state, count(e.*)::int as events from recipients r
  left join events e on e.message_id = r.message_id and e.type = 'email.bounced'
  group by r.id, r.email, r.state order by r.email`;
const bouncedOnce = () =>
  [...references.keys()].sort().map((recipient) => ({ recipient, state: 'bounced', events: 1 }));

it('loses no report of a relay that retries, and records each one once, whenever the server is killed', async () => {
  await sendEmails(Array.from({ length: EMAILS }, (_, index) => `to${index}@example.com`));
  expect([...references.values()].filter((reference) => reference.length < 63)).toEqual([]);
  const queue = [...references.keys()];
  let responses = 0;
  let cuts = 0;
  let is_over = false;
  const relay = async () => {
    for (let to = queue.shift(); to !== undefined; to = queue.shift()) {
      for (let status: number | null = null; status !== 200 && !is_over; ) {
        status = await report(to);
        if (status === 200) responses++;
        else await pause(50);
        if (status === null) cuts++;
      }
    }
  };
  const reports = Promise.all(Array.from({ length: IN_FLIGHT }, relay));
  try {
    for (let kill = 1; kill <= KILLS; kill++) {
      await expect
        .poll(() => responses, { ...PATIENCE, interval: 1 })
        .toBeGreaterThanOrEqual(kill * RESPONSES_PER_LIFE);
      // Every second time, requests certainly wait for their commit.
      if (kill % 2 === 0) await server.kill();
      else
        await whileLocked('transport_feedback', async () => {
          await untilBlocked();
          await server.kill();
        });
      server = await journey.start();
    }
    await reports;
  } finally {
    is_over = true;
  }
  expect(responses).toBe(EMAILS);
  expect(cuts).toBeGreaterThanOrEqual(KILLS);

  // What a dead process was matching is due again after its lease.
  await journey.clock.advance(PAST_LEASE_MS);
  expect(await report('to0@example.com')).toBe(200);

  await expect.poll(bouncesByEmail, PATIENCE).toEqual(bouncedOnce());
  const eventStates = () => journey.sql`select state, count(*)::int from feedback_events group by state`;
  await expect.poll(eventStates, PATIENCE).toEqual([{ state: 'recorded', count: EMAILS }]);
});

it('matches a report that got its 200 right before the server was killed, without another request', async () => {
  await sendEmails(['last@example.com']);
  await whileLocked('recipients', async () => {
    expect(await report('last@example.com')).toBe(200);
    await server.kill();
  });
  const stateOf = async () =>
    (
      await journey.sql`
    select state from feedback_events where event_id = 'evt_last@example.com'`
    )[0]?.state;
  expect(await stateOf()).toBe('pending');

  server = await journey.start();
  await journey.clock.advance(PAST_LEASE_MS);

  await expect.poll(stateOf, PATIENCE).toBe('recorded');
  expect(await bouncesByEmail()).toEqual(bouncedOnce());
});
