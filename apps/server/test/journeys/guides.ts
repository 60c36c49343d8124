import { readFileSync } from 'node:fs';
import { type SmtpSink, type SmtpSinkOptions, startSmtpSink } from '@postrider/testing';
import { afterEach, expect } from 'vitest';
import { type Block, blocksOf } from '../../../../scripts/doc-blocks.ts';
import { runBlocks } from '../../../../scripts/run-doc-blocks.ts';
import { hello, type Journey, openJourney } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

// Runs the guides of the documentation, with stubs in place of relays.

export const PATIENCE = { timeout: 30_000, interval: 500 };

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Stops this after the test. */
export function endAfterTest<T extends { stop(): Promise<void> }>(resource: T): T {
  endings.push(() => resource.stop());
  return resource;
}

export async function startRelay(pass: string, options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  return endAfterTest(await startSmtpSink({ login: { user: 'shop', pass }, ...options }));
}

export interface Service {
  readonly server: ServerProcess;
  readonly journey: Journey;
}

export async function startService(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const journey = endAfterTest(await openJourney(env));
  return { server: await journey.start(), journey };
}

export interface Guide {
  readonly page: string;
  readonly heading: string;
  /** By the host in the guide. */
  readonly relays: Readonly<Record<string, SmtpSink>>;
  /** Called after each block with what it printed. */
  readonly after?: (block: Block, printed: string) => Promise<void>;
}

/** Runs the commands of a guide, with these relays in place of its hosts. Other tests compare what they print. */
export async function follow({ server, journey }: Service, { page, heading, relays, after }: Guide): Promise<void> {
  const markdown = readFileSync(new URL(`../../../../${page}`, import.meta.url), 'utf8');
  const guide = markdown.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';
  const blocks = blocksOf(page, guide).blocks.filter(({ marker }) => marker.kind === 'run');
  const local = blocks.map((block) => ({
    ...block,
    text: Object.entries(relays).reduce(
      (text, [name, { host, port }]) => text.replaceAll(`--host ${name}`, `--host ${host} --port ${port} --tls none`),
      // Its email does not leave the machine.
      block.text.replaceAll('sandbox.test', 'good.test'),
    ),
  }));
  const instance = { url: server.url, key: journey.secret, data_dir: '', settings: {}, stop: async () => undefined };
  const outcomes = await runBlocks(local, instance, ['sh'], { ...(after && { after }) });
  expect(outcomes.length).toBeGreaterThan(2);
  expect(outcomes.filter(({ problem }) => problem !== null)).toEqual([]);
}

export async function send(server: ServerProcess, ...to: string[]): Promise<void> {
  expect((await server.call('POST', '/v1/email/send', { body: { ...hello, to } })).status).toBe(202);
}

export const recipientsAt = ({ messages }: SmtpSink) => messages.flatMap(({ envelope_to }) => envelope_to);
