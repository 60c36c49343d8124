import type { Signer } from '@postrider/core/webhooks';
import { type EventBase, eventTypes } from '@postrider/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import { createClient } from '../connect/client.ts';
import { FOLLOW_PAGE, follow, paused } from '../connect/follow.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, type Terminal } from '../terminal/terminal.ts';
import { addEndpoints } from './webhooks-endpoints.ts';

// Every plan allows 120 of these requests per minute; half of them are left for the key's other clients.
const DEFAULT_SECONDS = 1;
const ANSWER_TIMEOUT_MS = 10_000;
// Long enough for a receiver to restart; later events wait in the meantime.
const PAUSES_SECONDS = [1, 2, 4];

interface ListenOptions {
  readonly forwardTo: string;
  readonly events?: string;
  readonly secret?: string;
  readonly interval: number;
}

export function addWebhooks(program: Command, terminal: Terminal): void {
  const webhooks = program.command('webhooks').description('webhooks, and tools for developing receivers');
  addEndpoints(webhooks, terminal);
  webhooks
    .command('listen')
    .description(
      'forward new events, signed like a webhook, to a program on this machine until Ctrl-C; refused connections ' +
        `are retried ${PAUSES_SECONDS.length} times, but error responses are never retried`,
    )
    .requiredOption('--forward-to <url or port>', 'where your application listens', target)
    .option('--events <types>', `any of ${eventTypes.join(',')}`)
    .option('--secret <secret>', 'signing secret (default: generate one and print it)')
    .option('--interval <seconds>', 'polling interval in seconds', seconds, DEFAULT_SECONDS)
    .action((options: ListenOptions) => listen(terminal, options));
}

async function listen(terminal: Terminal, options: ListenOptions): Promise<void> {
  const { forwardTo: url, events: type, interval: seconds } = options;
  const client = createClient(terminal);
  // Loaded on demand, because it takes half a second.
  const [{ systemClock }, { createSigner, newWebhookSecret }] = await Promise.all([
    import('@postrider/core'),
    import('@postrider/core/webhooks'),
  ]);
  const secret = options.secret ?? newWebhookSecret();
  const signer = signerOf(createSigner, secret);
  await follow(terminal, () => client.events.list({ type, limit: FOLLOW_PAGE }), {
    seconds,
    begin: () => terminal.print(`Forwarding new events to ${url}, signed with ${secret}`),
    each: (event, signal) => deliver(terminal, event, { url, signer, now: systemClock.now }, signal),
  });
}

interface Target {
  readonly url: string;
  readonly signer: Signer;
  now(): number;
}

/**
 * Posts an event to the target. Any HTTP response is final, so that receiver failures show; only a refused connection
 * is retried.
 */
async function deliver(terminal: Terminal, one: EventBase, target: Target, signal: AbortSignal) {
  for (const wait_seconds of PAUSES_SECONDS) {
    const { line, refused } = await forward(one, target);
    terminal.print(refused ? `${line}; retrying in ${wait_seconds} s` : line);
    if (!refused || !(await paused(wait_seconds, signal))) return;
  }
  terminal.print((await forward(one, target)).line);
}

async function forward(one: EventBase, { url, signer, now }: Target): Promise<{ line: string; refused: boolean }> {
  const body = Buffer.from(JSON.stringify(one));
  const line = `${one.id}  ${plain(one.type)}`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...signer(one.id, now(), body) },
      body,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return { line: `${line}  ${response.status}`, refused: false };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = plain(cause instanceof Error ? cause.message || cause.name : String(cause));
    const refused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
    return { line: `${line}  no response: ${reason}`, refused };
  }
}

function signerOf(createSigner: (secrets: readonly string[]) => Signer, secret: string): Signer {
  try {
    return createSigner([secret]);
  } catch {
    throw new Problem({
      reason: 'invalid_option',
      message: '--secret must be whsec_ followed by base64.',
      advice: 'Omit it to generate one.',
    });
  }
}

function target(text: string): string {
  const url = /^\d{1,5}$/.test(text) ? `http://localhost:${text}` : text;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new InvalidArgumentError('It must be a port or an HTTP URL, such as http://localhost:4000/hooks.');
}

function seconds(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 3600) return value;
  throw new InvalidArgumentError('It must be a whole number from 1 to 3600.');
}
