import { type AddressInfo, createServer, type Socket } from 'node:net';
import { startWebhookSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { newId } from '../fields/ids.ts';
import { createInstanceWatch } from '../metrics/index.ts';
import { invoke } from '../operation/operation.ts';
import type { MetricName } from '../process/metric-catalogue.ts';
import { alarmFacts } from './facts-store.ts';
import { createAlarmJudge } from './judge.ts';
import { listAlarms } from './list-alarms.ts';
import { createNotices } from './notices.ts';
import { setAlarmSettings } from './settings.ts';

const TURN_MS = 15_000;
const DAY_MS = 86_400_000;

interface Notice {
  readonly rule: string;
  readonly subject: string | null;
}

const operator = endAfterTests(await startWebhookSink());
const world = await openWorld({ ALERT_WEBHOOK_URL: operator.url });
const { services, clock } = world;
const { sql } = services;
const judge = endAfterTests(createAlarmJudge(services));
const watch = createInstanceWatch({ ...services, config: { ...services.config, ROLES: ['rest'] } }, judge);

const noticesOf = ({ requests }: Pick<typeof operator, 'requests'>): Notice[] =>
  requests.flatMap(({ body }) => JSON.parse(body.toString()).alarms as Notice[]);
const metric = (name: MetricName, labels = '') =>
  Number(
    services.metrics
      .read()
      .find((reading) => reading.name === name)
      ?.points.find((point) => point.labels.join() === labels)?.value ?? 0,
  );
const dropped = (reason: string) => metric('alarm_notices_dropped_total', reason);

/** Opens a server that accepts connections and never responds. */
async function openSilentServer() {
  const sockets = new Set<Socket>();
  let connected = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    connected.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    waitForConnection: () => connected.promise,
    /** Aborts the requests in flight. */
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      connected = Promise.withResolvers<void>();
    },
    async stop() {
      this.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
const silent = endAfterTests(await openSilentServer());

async function workspaceTold(webhook_url: string): Promise<string> {
  const { workspace_id } = await world.workspace('free');
  await invoke(world.as(workspace_id), setAlarmSettings, { access: 'workspace', webhook_url });
  return workspace_id;
}

/** Adds notices of ended alarms, which no rule changes anymore. */
async function addNotices(workspace_id: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('alarm', clock.now()));
  await sql`
    insert into alarms (id, workspace_id, rule, subject, status, detail, value, page, seen_since, started_at, ended_at,
      told_at, webhook_due)
    select id, ${workspace_id}, 'webhook_fails', id::text, 'ended', 'It failed.', 1, '/', clock_now(), clock_now(),
      clock_now(), clock_now(), 'end'
    from unnest(${ids}::uuid[]) as n (id)`;
}

async function addFailingWebhooks(workspace_id: string, count: number, since: string): Promise<void> {
  const ids = Array.from({ length: count }, () => newId('webhook', clock.now()));
  await sql`
    insert into webhooks (workspace_id, id, url, secret, secret_last4, created_at, failing_since)
    select ${workspace_id}, id, 'https://example.com/', '', 'last', clock_now(), clock_now() - ${since}::text::interval
    from unnest(${ids}::uuid[]) as n (id)`;
}

async function waitingOf(workspace_id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from alarms where workspace_id = ${workspace_id} and webhook_due is not null`;
  return row?.count ?? 0;
}

beforeEach(async () => {
  await sql`delete from alarms`;
  await sql`delete from notice_turns`;
  await sql`delete from processes`;
});
afterEach(async () => {
  silent.cut();
  await judge.idle();
});

it('fairness N5: no_worker is reported within a minute while 1,000 notices wait for an unresponsive webhook', async () => {
  const workspace_id = await workspaceTold(silent.url);
  await addNotices(workspace_id, 1000);
  const worker = createInstanceWatch({ ...services, config: { ...services.config, ROLES: ['worker'] } }, null);
  await worker.turn();
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hi', text: 'Hi' };
  await invoke(world.as(world.workspace_id), sendMessage, mail);

  await worker.stop();
  const stopped_ms = clock.now();
  // The first turn after a stop comes up to 15 s later.
  while (!noticesOf(operator).some(({ rule }) => rule === 'no_worker') && clock.now() < stopped_ms + 5 * 60_000) {
    await clock.advance(TURN_MS);
    await watch.turn();
  }

  expect(clock.now() - stopped_ms).toBeLessThanOrEqual(60_000);
  expect(noticesOf(operator)).toMatchObject([{ rule: 'no_worker' }]);
  await silent.waitForConnection();
  expect(await waitingOf(workspace_id)).toBeGreaterThan(0);
});

describe('workspace notices', () => {
  it('fairness N5: arrive while another workspace’s webhook is unresponsive', async () => {
    const receiver = endAfterTests(await startWebhookSink());
    await addNotices(await workspaceTold(silent.url), 1000);
    await addNotices(await workspaceTold(receiver.url), 3);

    await watch.turn();
    await Promise.all([silent.waitForConnection(), receiver.waitFor(1)]);

    expect(noticesOf(receiver)).toHaveLength(3);
  });

  it('fairness N5: are posted by one process, however many processes poll', async () => {
    const receiver = endAfterTests(await startWebhookSink());
    const gate = Promise.withResolvers<void>();
    receiver.script(() => ({ kind: 'stall', until: gate.promise }));
    const workspace_id = await workspaceTold(receiver.url);
    await addNotices(workspace_id, 1);
    const senders = [services, await world.peer()].map((each) => endAfterTests(createNotices(each)));

    await Promise.all(senders.map((sender) => sender.sendDue()));
    await receiver.waitFor(1);
    await Promise.all(senders.map((sender) => sender.sendDue()));
    gate.resolve();
    await Promise.all(senders.map((sender) => sender.idle()));

    expect(receiver.requests).toHaveLength(1);
    expect(await waitingOf(workspace_id)).toBe(0);
  });

  it('fairness N5: are queued up to a limit, beyond which the oldest are dropped', async () => {
    const before = dropped('full');
    const workspace_id = await workspaceTold(silent.url);
    const other = await workspaceTold(silent.url);
    await addNotices(workspace_id, 250);
    await addNotices(other, 100);

    await watch.turn();

    expect([await waitingOf(workspace_id), await waitingOf(other)]).toEqual([100, 100]);
    expect(dropped('full') - before).toBe(150);
    expect(metric('alarm_notices_waiting')).toBe(200);
    const [newest, ...rest] = await sql<{ given_up: boolean }[]>`
      select notice_dropped_at is not null as given_up from alarms where workspace_id = ${workspace_id} order by id desc`;
    expect([newest?.given_up, rest.at(-1)?.given_up]).toEqual([false, true]);
  });

  it('fairness N5: are retried with increasing delays, and abandoned after a day', async () => {
    const before = dropped('expired');
    const receiver = endAfterTests(await startWebhookSink());
    receiver.script(() => ({ kind: 'reply', status: 500 }));
    const workspace_id = await workspaceTold(receiver.url);
    await addNotices(workspace_id, 1);
    const turn = async (after_ms: number) => {
      await clock.advance(after_ms);
      await watch.turn();
      await judge.idle();
    };

    const requests: number[] = [];
    for (const after_ms of [0, TURN_MS, TURN_MS, TURN_MS, DAY_MS - 4 * TURN_MS]) {
      await turn(after_ms);
      requests.push(receiver.requests.length);
    }
    const listed = async () => {
      const { data } = await invoke(world.as(workspace_id), listAlarms, { active: false });
      return data.find((alarm) => alarm.workspace_id === workspace_id);
    };
    const waiting = [await waitingOf(workspace_id), await listed()];
    await turn(TURN_MS);

    expect(requests).toEqual([1, 2, 2, 3, 4]);
    expect(waiting).toMatchObject([1, { notice_dropped_at: null }]);
    expect(await listed()).toMatchObject({ notice_dropped_at: expect.any(String) });
    expect(await waitingOf(workspace_id)).toBe(0);
    expect(receiver.requests).toHaveLength(4);
    expect(dropped('expired') - before).toBe(1);
  });
});

describe('workspace alarm details', () => {
  it('fairness N5: are limited per workspace, so 1,000 failing webhooks in one workspace hide none in another', async () => {
    const [many, one] = [await world.workspace('free'), await world.workspace('free')];
    await addFailingWebhooks(many.workspace_id, 1000, '3 hours');
    await addFailingWebhooks(one.workspace_id, 1, '2 hours');

    const { endpoints } = await sql.begin((tx) => alarmFacts(tx));
    await watch.turn();

    expect(endpoints.filter(({ workspace_id }) => workspace_id === many.workspace_id)).toHaveLength(25);
    expect(endpoints.filter(({ workspace_id }) => workspace_id === one.workspace_id)).toHaveLength(1);
    expect((await invoke(world.as(one.workspace_id), listAlarms, {})).data).toMatchObject([{ rule: 'webhook_fails' }]);
  });

  it('fairness N5: do not change as more webhooks start to fail', async () => {
    const { workspace_id } = await world.workspace('free');
    await addFailingWebhooks(workspace_id, 25, '5 hours');
    const own = async () =>
      (await sql.begin((tx) => alarmFacts(tx))).endpoints
        .filter((endpoint) => endpoint.workspace_id === workspace_id)
        .map(({ subject }) => subject);

    const before = await own();
    await addFailingWebhooks(workspace_id, 25, '1 hour');

    expect(await own()).toEqual(before);
  });
});
