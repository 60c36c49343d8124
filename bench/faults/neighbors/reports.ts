import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { atMost, type Check, check } from '../check.ts';
import { wallTime } from '../wall-time.ts';
import type { Act } from './greedy.ts';
import type { Account, Endpoints } from './neighbor.ts';
import { ownRelay, setFeedback } from './own-relays.ts';

const PER_SECOND = 500;
const REPORTS = 2000;
const TICK_MS = 10;
const MAX_IN_FLIGHT = 300;
const TIMEOUT_MS = 30_000;
/** Per process, as in docs/feedback.md. */
const MAX_PER_SECOND = 50;
/** Below the bound, so that the rest arrives. */
const CALM_PER_SECOND = 40;
const CALM_IN_FLIGHT = 8;
const CALM_MS = 60_000;

export interface ReportAct extends Act {
  /** Returns the conditions, given the number of stored reports. */
  checks(stored: number): Check[];
}

/** Returns the act of a relay of the greedy workspace that reports too fast, and retries what got no 200. */
export function reportAct({ secret }: Account, { ports }: Endpoints): ReportAct {
  const queue = Array.from({ length: REPORTS }, (_, index) => index);
  const arrivals = new Set<number>();
  const statuses = new Map<string, number>();
  const flood = { seconds: 0, accepted: 0 };
  let turn = 0;

  const report = async ({ path, signer }: Relay): Promise<void> => {
    const index = queue.shift() ?? turn % REPORTS;
    const port = ports[turn++ % ports.length] ?? 0;
    const status = await send(port, path, signer, index);
    const name = String(status);
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    if (status === 200) arrivals.add(index);
    else if (!arrivals.has(index)) queue.push(index);
  };

  return {
    name: `${PER_SECOND} reports per second of a relay of its own`,
    async run(until) {
      const relay = await reportingRelay(ports[0] ?? 0, secret);
      const began = performance.now();
      const open = new Set<Promise<void>>();
      for (let count = 0; !until.aborted; await pause(TICK_MS)) {
        const due = ((performance.now() - began) / 1000) * PER_SECOND;
        for (; count < due; count++) {
          if (open.size >= MAX_IN_FLIGHT) continue;
          const one: Promise<void> = report(relay).finally(() => open.delete(one));
          open.add(one);
        }
      }
      await Promise.all(open);
      flood.seconds = (performance.now() - began) / 1000;
      flood.accepted = statuses.get('200') ?? 0;
      const calm_until = performance.now() + CALM_MS;
      const retry = async () => {
        while (queue.length > 0 && performance.now() < calm_until) {
          await report(relay);
          await pause((1000 * CALM_IN_FLIGHT) / (CALM_PER_SECOND * ports.length));
        }
      };
      await Promise.all(Array.from({ length: CALM_IN_FLIGHT }, retry));
    },
    checks(stored) {
      const max_accepted = Math.ceil(flood.seconds + 1) * MAX_PER_SECOND * ports.length;
      const responses = [...statuses].map(([status, count]) => `${count} × ${status}`);
      return [
        check('reports that never received a 200', arrivals.size === REPORTS ? [] : [`${REPORTS - arrivals.size}`]),
        atMost('reports that are missing in the database', REPORTS - stored, 0),
        check(
          'responses to reports other than 200 and 429',
          responses.filter((text) => !/ (?:200|429)$/.test(text)),
        ),
        check('a flood of reports without a 429', statuses.has('429') ? [] : responses),
        atMost('reports accepted during the flood', flood.accepted, max_accepted, responses),
      ];
    },
  };
}

interface Relay {
  readonly path: string;
  readonly signer: Webhook;
}

async function reportingRelay(port: number, secret: string): Promise<Relay> {
  // An earlier act used up the workspace's transports.
  const feedback = await setFeedback(port, secret, await ownRelay(port, secret));
  return { path: new URL(feedback.url).pathname, signer: new Webhook(feedback.secret) };
}

/** Reports an email that was never sent, which stays pending. Returns null if there is no response. */
async function send(port: number, path: string, signer: Webhook, index: number): Promise<number | null> {
  const message_id = `msg_01k${String(index).padStart(23, '0')}@greedy.test`;
  const body = JSON.stringify({ type: 'bounced', message_id, recipient: `r${index}@greedy.test`, status: '5.1.1' });
  const at = new Date(wallTime());
  const id = `evt_${index}`;
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': signer.sign(id, at, body),
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => null,
  );
}
