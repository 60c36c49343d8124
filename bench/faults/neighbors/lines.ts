import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { ask } from '../instance.ts';
import { wallTime } from '../wall-time.ts';
import { type Act, inFlight, post, untilAborted } from './greedy.ts';
import type { Account, Endpoints } from './neighbor.ts';
import { createRelay } from './own-relays.ts';

const ERASURES = 100;
const RECOVERIES = 100;
// A workspace can have at most ten webhooks; the setup created two of them.
const ENDPOINTS = 8;
const SILENT_DOMAINS = 60;
const IDLE_SUBMISSIONS = 200;
const SUBMITTER_ADDRESSES = 11;
const IDLE_BOUNCES = 50;
const SEARCHERS = 16;
const CAPTURES_IN_FLIGHT = 8;
const CAPTURE_BYTES = 1_000_000;
// The limit of a workspace.
const RELAYS = 10;
const RELAY_EMAILS_IN_FLIGHT = 20;
const RULE_CHANGES_IN_FLIGHT = 4;
const CLOSED_PORT = 9;

export interface LineOptions {
  readonly account: Account;
  readonly sandbox_secret: string;
  readonly endpoints: Endpoints;
  /** Adds pending notices of the greedy workspace for a webhook at this address. */
  readonly addNotices: (webhook_url: string) => Promise<void>;
}

/** Returns the acts by which a greedy workspace or a stranger fills shared queues and tables. */
export function lineActs({ account, sandbox_secret, endpoints, addNotices }: LineOptions): Act[] {
  const [port = 0] = endpoints.ports;
  const portOf = (turn: number) => endpoints.ports[turn % endpoints.ports.length] ?? 0;
  return [
    {
      name: `${ERASURES} erasures, ${RECOVERIES} recoveries and ${SILENT_DOMAINS} domains whose servers are silent`,
      async run(until) {
        const { secret } = account;
        const ids: string[] = [];
        for (let turn = 0; turn < ENDPOINTS; turn++) {
          const url = `http://127.0.0.99:9999/recovery-${turn}`;
          ids.push(((await ask(port, secret, 'POST', '/webhooks', { url })) as { id: string }).id);
        }
        const since = new Date(wallTime() - 600_000);
        for (let turn = 0; turn < RECOVERIES; turn++)
          await post(port, `/v1/webhooks/${ids[turn % ENDPOINTS]}/recover`, secret, { since });
        for (let turn = 0; turn < SILENT_DOMAINS; turn++)
          await post(port, '/v1/domains', secret, { name: `d${turn}.silent.test` });
        for (let turn = 0; turn < ERASURES; turn++)
          await post(port, '/v1/erasures', secret, { email: `g${turn}@erased.test` });
        await untilAborted(until);
      },
    },
    {
      name: `${IDLE_SUBMISSIONS} idle sessions from ${SUBMITTER_ADDRESSES} addresses, ${IDLE_BOUNCES} of returned mail, ${SEARCHERS} searchers`,
      async run(until) {
        const sockets: Socket[] = [];
        for (let turn = 0; turn < IDLE_SUBMISSIONS; turn++)
          sockets.push(idle(endpoints.submission_ports[0] ?? 0, `127.0.1.${1 + (turn % SUBMITTER_ADDRESSES)}`));
        for (let turn = 0; turn < IDLE_BOUNCES; turn++)
          sockets.push(idle(endpoints.inbound_ports[0] ?? 0, '127.0.0.1'));
        await inFlight(SEARCHERS, until, async (turn) => {
          const response = await fetch(`http://127.0.0.1:${portOf(turn)}/docs/search?q=webhook+signature+retry`);
          await response.arrayBuffer();
        });
        for (const socket of sockets) socket.destroy();
      },
    },
    {
      name: `email through ${RELAYS} dead relays of its own, whose rules change all the time`,
      async run(until) {
        const { secret, from } = account;
        const silent = await startSilentServer();
        const ids: string[] = [];
        for (let turn = 0; turn < RELAYS; turn++) {
          const relay_port = turn % 2 === 0 ? Number(new URL(silent.url).port) : CLOSED_PORT;
          ids.push(await createRelay(port, secret, `Relay ${turn}`, relay_port));
        }
        const send = (turn: number) => {
          const email = {
            from,
            to: `g${turn}@greedy.test`,
            subject: 'Relayed',
            text: 'x',
            tags: [`r${turn % RELAYS}`],
          };
          return post(portOf(turn), '/v1/email/send', secret, email);
        };
        const change = (turn: number) => {
          const rules = ids.map((id, at) => ({ tag: `r${(at + turn) % RELAYS}`, transports: [id] }));
          return setRules(portOf(turn), secret, rules);
        };
        await Promise.all([
          inFlight(RELAY_EMAILS_IN_FLIGHT, until, send),
          inFlight(RULE_CHANGES_IN_FLIGHT, until, change),
        ]);
        await setRules(port, secret, []);
      },
    },
    {
      name: '1,000 notices that cannot be told, and captures to the quota',
      async run(until) {
        const silent = await startSilentServer();
        await addNotices(silent.url);
        const email = { from: account.from, to: 'captured@greedy.test', subject: 'Captured' };
        await inFlight(CAPTURES_IN_FLIGHT, until, (turn) =>
          post(portOf(turn), '/v1/email/send', sandbox_secret, { ...email, text: 'x'.repeat(CAPTURE_BYTES) }),
        );
      },
    },
  ];
}

function setRules(port: number, secret: string, rules: readonly object[]): Promise<void> {
  const query = `mutation ($input: TransportRulesInput!) {
    transportRulesSet(input: $input) { __typename ... on ApiError { message } }
  }`;
  return post(port, '/graphql', secret, { query, variables: { input: { reach: 'WORKSPACE', rules } } });
}

function idle(port: number, address: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address });
  socket.on('error', () => socket.destroy());
  socket.resume();
  return socket;
}

/** Starts a server that accepts connections until the end of the run and never responds. */
async function startSilentServer(): Promise<{ readonly url: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.resume();
  }).unref();
  server.listen(0, '127.0.0.1');
  while (!server.listening) await pause(1);
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/silent` };
}
