import { setTimeout as pause } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import { ask } from '../instance.ts';
import { startSlowUploads } from '../slow-uploads.ts';
import type { Account, Endpoints } from './neighbor.ts';

/** An action repeated without limit until the signal aborts. */
export interface Act {
  readonly name: string;
  run(until: AbortSignal): Promise<void>;
}

const IN_FLIGHT = 20;
const TIMEOUT_MS = 30_000;
const LARGE_BYTES = 1_000_000;
const STORED_BYTES = 10_000_000;
const STORED = 4;
const UPLOADS_PER_KEY = 60;
const QUERIES_IN_FLIGHT = 6;
const MESSAGES_IN_FLIGHT = 8;
const PARTS = 1100;

/** Returns every way for a workspace to request too much, in order. */
export function attacksOf(
  account: Account,
  second_secret: string,
  endpoints: Endpoints,
  slow_domains: readonly string[],
): Act[] {
  const { secret, from } = account;
  const port = (turn: number) => endpoints.ports[turn % endpoints.ports.length] ?? 0;
  return [
    {
      name: 'emails of 1 MB to servers that answer the dot after a minute',
      run: (until) =>
        inFlight(IN_FLIGHT, until, async (turn) => {
          const to = `g${turn}@${slow_domains[turn % slow_domains.length]}`;
          await post(port(turn), '/v1/email/send', secret, {
            from,
            to,
            subject: 'Large',
            text: 'x'.repeat(LARGE_BYTES),
          });
        }),
    },
    {
      name: 'slow uploads with two keys',
      async run(until) {
        const stops = [secret, second_secret].map((key) => startSlowUploads(endpoints.ports, key, UPLOADS_PER_KEY));
        await untilAborted(until);
        for (const stop of stops) stop();
      },
    },
    {
      name: 'GraphQL at the limit of its cost over emails of 10 MB',
      async run(until) {
        const ids: string[] = [];
        for (let turn = 0; turn < STORED; turn++) {
          const email = { from, to: `s${turn}@${slow_domains[0]}`, subject: 'Stored', text: 'x'.repeat(STORED_BYTES) };
          const sent = (await ask(port(0), secret, 'POST', '/email/send', email)) as { id: string };
          ids.push(sent.id);
        }
        const fields = Array.from(
          { length: 9 },
          (_, at) => `m${at}: node(id: "${ids[at % ids.length]}") { ... on Message { content { text } } }`,
        );
        const query = `{ ${fields.join(' ')} }`;
        await inFlight(QUERIES_IN_FLIGHT, until, (turn) => post(port(turn), '/graphql', secret, { query }));
      },
    },
    {
      name: 'messages of 1,100 parts over submission',
      run: (until) =>
        inFlight(MESSAGES_IN_FLIGHT, until, async (turn) => {
          const submission_port = endpoints.submission_ports[turn % endpoints.submission_ports.length];
          const auth = { user: 'api', pass: secret };
          const transport = createTransport({
            host: '127.0.0.1',
            port: submission_port,
            auth,
            socketTimeout: TIMEOUT_MS,
          });
          await transport.sendMail(manyParts(from));
        }),
    },
  ];
}

/** Returns a message with more parts than the parser accepts. */
function manyParts(from: string) {
  const to = 'parts@greedy.test';
  const part = '--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment\r\n\r\nx\r\n';
  const head = `From: ${from}\r\nTo: ${to}\r\nSubject: Parts\r\nMIME-Version: 1.0\r\n`;
  const raw = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(PARTS)}--b--\r\n`;
  return { raw, envelope: { from: from.replace(/^.*<|>$/g, ''), to: [to] } };
}

export async function post(port: number, path: string, secret: string, body: object): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.arrayBuffer();
}

/** Keeps `count` calls in flight, starting another whenever one ends. */
export async function inFlight(
  count: number,
  until: AbortSignal,
  call: (turn: number) => Promise<void>,
): Promise<void> {
  let turn = 0;
  const loop = async () => {
    while (!until.aborted) {
      const started_at = performance.now();
      await call(turn++).catch(() => undefined);
      // Avoids a busy loop when calls are rejected instantly.
      if (performance.now() - started_at < 5) await pause(5);
    }
  };
  await Promise.all(Array.from({ length: count }, loop));
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
