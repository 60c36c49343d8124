import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import {
  eventTypes,
  verifyWebhook,
  type Webhook,
  type WebhookDeliveryDetail,
  type WebhooksCreateBody,
  WebhookVerificationError,
} from '@postrider/sdk';
import type { Command } from 'commander';
import { all, createClient } from '../connect/client.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

interface JsonOption {
  readonly json?: boolean;
}

interface ReceiveOptions extends JsonOption {
  readonly port: number;
  readonly once?: boolean;
}

/** Adds the commands for registered webhooks, and for a local receiver to try one out with. */
export function addEndpoints(webhooks: Command, terminal: Terminal): void {
  webhooks
    .command('list')
    .description('list webhooks')
    .option('--json', 'print JSON')
    .action(async ({ json }: JsonOption) => {
      const data = await all(createClient(terminal).webhooks.list({ limit: 100 }));
      show(terminal, json, { object: 'list', data }, () => table(data.map(lineOf)));
    });
  webhooks
    .command('create <url>')
    .description('create a webhook; its secret is printed once')
    .option('--events <types>', `any of ${eventTypes.join(',')} (default: all)`)
    .option('--mode <mode>', 'live, or sandbox to receive events for email from sandbox keys')
    .option('--json', 'print JSON')
    .action(async (url: string, { events, mode, json }: JsonOption & { events?: string; mode?: string }) => {
      // The service rejects unknown events and modes, and lists the valid ones.
      const body = { url, events: events?.split(',') ?? 'all', mode } as WebhooksCreateBody;
      const webhook = await createClient(terminal).webhooks.create(body);
      show(
        terminal,
        json,
        webhook,
        () => `${webhook.secret}\n${webhook.id} sends to ${plain(webhook.url)}; the secret is shown once`,
      );
    });
  webhooks
    .command('test <id>')
    .description('send a test event now')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: JsonOption) => {
      const sent = await createClient(terminal).webhooks.test(id);
      show(terminal, json, sent, () => `${sent.id}  ${sent.status}`);
    });
  webhooks
    .command('delivery <id> <delivery_id>')
    .description('show a delivery of a webhook with its attempts')
    .option('--json', 'print JSON with every request and response')
    .action(async (id: string, delivery_id: string, { json }: JsonOption) => {
      const delivery = await createClient(terminal).webhooks.delivery(id, delivery_id);
      show(terminal, json, delivery, () => attemptsOf(delivery));
    });
  webhooks
    .command('remove <id>')
    .description('delete a webhook; pending deliveries are dropped')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (id: string, { yes, json }: JsonOption & { yes?: boolean }) => {
      await confirm(terminal, { preview: `${id} and its deliveries would be deleted.`, count: 1, yes });
      const removed = await createClient(terminal).webhooks.delete(id);
      show(terminal, json, removed, () => `${removed.id}  removed`);
    });
  webhooks
    .command('receive')
    .description(
      'receive webhook requests on this machine, verify their signatures with WEBHOOK_SECRET, and print the events',
    )
    .option('--port <port>', 'port to listen on (localhost); 0 picks a free port', wholeNumber(0, 65535), 4000)
    .option('--once', 'exit after the first verified request')
    .action((options: ReceiveOptions) => receive(terminal, options));
}

function lineOf({ id, status, failing_since, mode, url, events }: Webhook): string[] {
  return [
    id,
    failing_since === null ? status : 'failing',
    mode,
    plain(url),
    events === 'all' ? 'all' : events.join(','),
  ];
}

function attemptsOf({ id, event_type, status, posts }: WebhookDeliveryDetail): string {
  const attempts = posts.map(({ number, at, response_status, error, duration_ms }) => [
    String(number),
    at,
    plain(String(response_status ?? error ?? 'no response')),
    duration_ms === null ? '' : `${duration_ms} ms`,
  ]);
  return table([[id, plain(event_type), status], ...attempts]);
}

async function receive(terminal: Terminal, { port, once }: ReceiveOptions): Promise<void> {
  const secret = terminal.env.WEBHOOK_SECRET;
  if (!secret) {
    throw new Problem({
      reason: 'missing_option',
      message: 'WEBHOOK_SECRET is not set.',
      advice:
        'Set it to the secret printed by webhooks create. It cannot be passed as an option, because other users on the machine can see command-line arguments.',
    });
  }
  await new Promise<void>((resolve, reject) => {
    const server = createServer(async (request, response) => {
      try {
        terminal.print(JSON.stringify(await eventOf(request, secret)));
        response.writeHead(204).end();
        if (once) server.close(() => resolve());
      } catch (error) {
        if (!(error instanceof WebhookVerificationError)) return reject(error);
        terminal.note(`rejected a request: ${error.message}`);
        response.writeHead(400).end();
      }
    });
    server.keepAliveTimeout = 1;
    server.on('error', (error) => reject(cannotListen(port, error)));
    server.listen(port, 'localhost', () => {
      const address = server.address();
      const actual_port = typeof address === 'object' && address !== null ? address.port : port;
      terminal.note(`Listening at http://localhost:${actual_port}. Press Ctrl-C to stop.`);
    });
  });
}

async function eventOf(request: IncomingMessage, secret: string): Promise<object> {
  const body = (await buffer(request)).toString();
  return verifyWebhook(body, request.headers, secret);
}

function cannotListen(port: number, error: Error): Problem {
  const message = `Port ${port} cannot be used: ${'code' in error ? error.code : error.message}.`;
  return new Problem({ reason: 'invalid_option', message, advice: 'Choose another port with --port.' });
}
