import { setTimeout as pause } from 'node:timers/promises';
import { runAll } from '@postrider/core';
import { freePort } from '@postrider/testing/free-port';
import { atMost, type Check, check } from '../faults/check.ts';
import { Database } from '../faults/database.ts';
import type { Slot } from '../faults/processes.ts';
import { wallTime } from '../faults/wall-time.ts';
import { openBehindHaproxy, untilUp } from './behind-haproxy.ts';
import { Clients } from './clients.ts';
import type { Drill } from './drill.ts';
import { SENDER } from './installation.ts';
import { need } from './needs.ts';
import { copiesOf, drain, longestGap, mailChecks, printChecks } from './outcome.ts';

const PER_SECOND = 60;
const CALM_MS = 5000;
/**
 * The maximum number of messages that a killed worker may have sent without recording. docs/limits.md states the limit.
 */
const MAX_UNRECORDED = 128;
const DRAIN = '2s';
const LIMIT = 300;
const REQUESTS_PER_SECOND = 450;

/**
 * Two API and two worker processes behind HAProxy: one of each killed, one of each added, then all restarted in turn.
 */
export const processesDrill: Drill = {
  about: 'two API and two worker processes behind HAProxy: killed, added, restarted in turn, under load',
  async run({ folder, say: print }) {
    need('haproxy');
    const stops: (() => Promise<void>)[] = [];
    try {
      const { url, ledgers, installation, database, haproxy, bind, spare_port, apis, workers } =
        await openBehindHaproxy(stops, { drain: DRAIN, folder });
      const clients = new Clients(ledgers, {
        port: bind,
        secret: installation.secret,
        per_second: PER_SECOND,
        keyed: 0.5,
      });
      print(`${PER_SECOND} messages per second`);
      await pause(CALM_MS);

      const kills: { readonly from: number; readonly to: number }[] = [];
      const kill = async (slot: Slot) => {
        const from = wallTime();
        await slot.kill();
        kills.push({ from, to: wallTime() });
        print(`kill -9 ${slot.name} at ${new Date(from).toISOString()}`);
        await slot.untilReady();
        await pause(2000);
      };
      await kill(apis[0]);
      await kill(workers[0]);

      const added = [
        installation.open('api-3', 'rest', spare_port),
        installation.open('worker-3', 'worker', await freePort()),
      ];
      for (const slot of added) await slot.untilReady();
      await untilUp(haproxy, ['api-1', 'api-2', 'api-3']);
      print('added one API and one worker');
      const before = (await haproxy.servers('ready')).get('api-3')?.sessions ?? 0;
      await pause(CALM_MS);
      const session_count = ((await haproxy.servers('ready')).get('api-3')?.sessions ?? 0) - before;

      for (const slot of [...apis, ...workers]) {
        await slot.restart();
        await slot.untilReady();
        await untilUp(haproxy, ['api-1', 'api-2', 'api-3']);
        print(`${slot.name} restarted`);
      }
      await pause(CALM_MS);
      await clients.stop();
      const limits = await countAtLimit(url, bind, installation.secret);
      await drain(database);
      print(`${ledgers.accepted.length} of ${ledgers.sent.length} accepted; longest gap ${longestGap(ledgers)} ms`);
      const stored = await database.read('none');
      const second = [...copiesOf(ledgers).values()].filter((copies) => copies > 1).length;
      const ofKill = clients.failures.filter(({ at, began_at }) =>
        kills.some(({ from, to }) => began_at <= to && at >= from),
      );
      return printChecks('processes', [
        ...mailChecks(ledgers, stored),
        check(
          'requests that failed on no killed process',
          clients.failures
            .filter((one) => !ofKill.includes(one))
            .map(({ at, what: problem }) => `${new Date(at).toISOString()} ${problem}`),
        ),
        atMost('requests that failed on the killed process', ofKill.length, clients.max_open),
        atMost('duplicates after killing a worker', second, MAX_UNRECORDED),
        check('the added API process received no requests', session_count > 0 ? [] : ['none']),
        ...limits,
      ]);
    } finally {
      await runAll('the drill', stops);
    }
  },
};

/** Sends more requests than a minute allows, across all processes concurrently. */
async function countAtLimit(url: string, port: number, secret: string): Promise<Check[]> {
  const database = new Database(url);
  await database.limitRequests(LIMIT);
  await database.stop();
  // All requests fall within one clock minute in which nothing has been sent yet.
  await pause(60_000 - (wallTime() % 60_000) + 500);
  const responses = await Promise.all(
    Array.from({ length: REQUESTS_PER_SECOND }, (_, index) =>
      fetch(`http://127.0.0.1:${port}/v1/email/send`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ from: `orders@${SENDER}`, to: `limit${index}@example.com`, subject: 'Hi', text: 'Hi' }),
      }).then(async (response) => {
        await response.arrayBuffer();
        return { status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) };
      }),
    ),
  );
  const passed = responses.filter(({ status }) => status === 202);
  const rejected = responses.filter(({ status }) => status === 429);
  const remaining = new Set(passed.map((one) => one.remaining));
  return [
    atMost(`off the limit of ${LIMIT} requests a minute over all processes`, Math.abs(passed.length - LIMIT), 0),
    atMost('answers that are neither 202 nor 429', REQUESTS_PER_SECOND - passed.length - rejected.length, 0),
    atMost('numbers of remaining requests that came twice', passed.length - remaining.size, 0),
  ];
}
