import { setTimeout as pause } from 'node:timers/promises';
import type { Signer } from '@postrider/core/webhooks';
import { eventTypes } from '@postrider/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { type Client, createClient } from '../connect/client.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, type Terminal } from '../terminal/terminal.ts';
import { addEndpoints } from './webhooks-endpoints.ts';

const PAGE = 100;
// Every plan allows 120 of these requests a minute; half of them are left for other clients of the key.
const DEFAULT_SECONDS = 1;
const ANSWER_TIMEOUT_MS = 10_000;
const KNOWN = 10 * PAGE;
// Long enough for a receiver to restart; later events wait meanwhile.
const PAUSES_SECONDS = [1, 2, 4];

const event = z.looseObject({ id: z.string(), type: z.string() });
type Event = z.output<typeof event>;
const page = z.looseObject({ data: z.array(event), next_cursor: z.string().nullable() });

interface ListenOptions {
  readonly forwardTo: string;
  readonly events?: string;
  readonly secret?: string;
  readonly interval: number;
}

export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program.command('webhooks').description('webhooks, and their receivers while you write them');
  addEndpoints(webhooks, terminal);
  webhooks
    .command('listen')
    .description(
      'post new events to a program on this machine, signed like a webhook, until Ctrl-C; a refused connection ' +
        `is retried ${PAUSES_SECONDS.length} times, and any answer is final`,
    )
    .requiredOption('--forward-to <url or port>', 'where your program listens', target)
    .option('--events <types>', `any of ${eventTypes.join(',')}`)
    .option('--secret <secret>', 'the signing secret (default: a new one, printed)')
    .option('--interval <seconds>', 'how often to ask', seconds, DEFAULT_SECONDS)
    .action(async (options: ListenOptions) => {
      const ended = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
      await listen(terminal, createClient(terminal), options, ended.signal);
    });
}

async function listen(terminal: Terminal, client: Client, options: ListenOptions, signal: AbortSignal): Promise<void> {
  // Loaded on demand, because it takes half a second.
  const [{ systemClock }, { createSigner, newWebhookSecret }] = await Promise.all([
    import('@postrider/core'),
    import('@postrider/core/webhooks'),
  ]);
  const secret = options.secret ?? newWebhookSecret();
  const signer = signerOf(createSigner, secret);
  const newest = await pageOf(client, options, null);
  const floor = newest.data[0]?.id ?? '';
  let seen: ReadonlySet<string> = new Set(newest.data.map(({ id }) => id));
  terminal.print(`Posting new events to ${options.forwardTo}, signed with ${secret}`);
  while (await paused(options.interval, signal)) {
    try {
      const found = await newerThan(client, options, floor, seen);
      seen = found.seen;
      for (const one of found.fresh)
        await deliver(terminal, one, { url: options.forwardTo, signer, now: systemClock.now }, signal);
    } catch (error) {
      if (!(error instanceof Problem) || !error.facts.passing) throw error;
      terminal.note(`${error.facts.reason}: ${error.message} Trying again.`);
    }
  }
}

interface Target {
  readonly url: string;
  readonly signer: Signer;
  now(): number;
}

/** New events, oldest first. Ids sort by time but commits do not, so a page is compared entry by entry. */
async function newerThan(client: Client, options: ListenOptions, floor: string, seen: ReadonlySet<string>) {
  const fresh: Event[] = [];
  const read = new Set(seen);
  let cursor: string | null = null;
  for (;;) {
    const found: z.output<typeof page> = await pageOf(client, options, cursor);
    const unseen = found.data.filter(({ id }) => id > floor && !seen.has(id));
    fresh.push(...unseen);
    for (const { id } of found.data) read.add(id);
    cursor = found.next_cursor;
    if (cursor === null || unseen.length < found.data.length)
      return { fresh: fresh.reverse(), seen: new Set([...read].sort().slice(-KNOWN)) };
  }
}

async function pageOf(client: Client, { events }: ListenOptions, cursor: string | null) {
  const query = new URLSearchParams({
    limit: String(PAGE),
    ...(events !== undefined && { type: events }),
    ...(cursor !== null && { cursor }),
  });
  return client.call('GET', `/events?${query}`, page);
}

/** Any HTTP answer is final, so that failures of the receiver show; only a refused connection is retried. */
async function deliver(terminal: Terminal, one: Event, target: Target, signal: AbortSignal) {
  for (const wait_seconds of PAUSES_SECONDS) {
    const { line, refused } = await forward(one, target);
    terminal.print(refused ? `${line}; trying again in ${wait_seconds} s` : line);
    if (!refused || !(await paused(wait_seconds, signal))) return;
  }
  terminal.print((await forward(one, target)).line);
}

async function forward(one: Event, { url, signer, now }: Target): Promise<{ line: string; refused: boolean }> {
  const body = Buffer.from(JSON.stringify(one));
  const line = `${one.id}  ${plain(one.type)}`;
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signer(one.id, now(), body) },
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    return { line: `${line}  ${answer.status}`, refused: false };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = plain(cause instanceof Error ? cause.message || cause.name : String(cause));
    const refused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
    return { line: `${line}  no answer: ${why}`, refused };
  }
}

function signerOf(createSigner: (secrets: readonly string[]) => Signer, secret: string): Signer {
  try {
    return createSigner([secret]);
  } catch {
    throw new Problem({
      reason: 'invalid_option',
      message: '--secret is not whsec_ and base64.',
      advice: 'Leave it out to have one generated.',
    });
  }
}

function target(text: string): string {
  const url = /^\d{1,5}$/.test(text) ? `http://localhost:${text}` : text;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new InvalidArgumentError('It must be a port or an http address, such as http://localhost:4000/hooks.');
}

function seconds(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 3600) return value;
  throw new InvalidArgumentError('It must be a whole number from 1 to 3600.');
}

async function paused(wait_seconds: number, signal: AbortSignal): Promise<boolean> {
  await pause(wait_seconds * 1000, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
