import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { Resend } from 'resend';
import { expect, it } from 'vitest';
import { createResendHandler } from '../src/index.ts';

// Checks the table in docs/from-resend.md by running the real client and calling each of its methods. A method counts
// as absent if no supported route responds to any of its requests.

const world = await openWorld();
const handle = createResendHandler(world.services);
const responses: { readonly status: number; readonly text: string }[] = [];
const server = createServer((request, response) => {
  const end = response.end.bind(response);
  response.end = ((chunk?: unknown) => {
    responses.push({ status: response.statusCode, text: String(chunk ?? '') });
    return end(chunk);
  }) as typeof response.end;
  void handle(request, response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
endAfterTests({
  async stop() {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
});
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/resend`;
const client = new Resend(world.secret, { baseUrl });

type Method = (...args: readonly unknown[]) => unknown;

interface ClientMethod {
  readonly name: string;
  call(...args: readonly unknown[]): unknown;
}

/** Returns every method by name, such as `emails.send` or `webhooks.events.list`. */
function methodsOf(part: object, path = ''): ClientMethod[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(part))
    .filter((name) => name !== 'constructor' && path !== '')
    .map((name) => ({
      name: `${path}${name}`,
      call: (...args: readonly unknown[]) => (Reflect.get(part, name) as Method).apply(part, [...args]),
    }));
  const below = Object.entries(part).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && name !== 'resend' && !(value instanceof Headers)
      ? methodsOf(value, `${path}${name}.`)
      : [],
  );
  return [...own, ...below];
}

/** The forms of arguments that methods accept: an ID, fields, or both. */
const ANY = { id: 'x', name: 'x', email: 'a@b.test', emailId: 'x', contactId: 'x', endpoint: 'x', events: [], to: 'x' };
const argument_lists: readonly (readonly unknown[])[] = [[ANY], ['x', ANY], [[ANY]], ['x', 'y'], []];

/** Methods that compute their result from the arguments, without a request. */
const LOCAL = ['webhooks.verify'];

/** Differences from Resend. Everything else that is supported behaves the same. */
const differences: Readonly<Record<string, string>> = {
  'domains.create': 'one region; tracking options are ignored',
  'domains.verify': 'responds after a live DNS check',
  'emails.list': 'pages forwards only',
  'suppressions.get': 'by address, not by id',
  'suppressions.remove': 'by address, not by id',
  'webhooks.create': 'rejects events that Postrider does not have, such as `email.opened`',
  'webhooks.get': 'the signing secret is returned on creation only',
  'webhooks.update': 'rejected for endpoints in the postrider format',
};

async function isOffered({ name, call }: ClientMethod): Promise<boolean> {
  if (LOCAL.includes(name)) return true;
  for (const args of argument_lists) {
    const before = responses.length;
    try {
      await call(...args);
    } catch {
      // The method expects other arguments.
    }
    if (responses.slice(before).some(({ text }) => !text.includes('Supported Resend APIs'))) return true;
  }
  return false;
}

it('docs/from-resend.md lists every client method with its actual result', { timeout: 120_000 }, async () => {
  const offered: string[] = [];
  const absent: string[] = [];
  for (const method of methodsOf(client)) {
    // Prevents rate limits from failing the run.
    await world.services.sql`delete from rate_windows`;
    ((await isOffered(method)) ? offered : absent).push(method.name);
  }

  const rows = [
    ...offered
      .toSorted()
      .map((name) => `| \`${name}\` | ${name in differences ? 'different' : 'same'} | ${differences[name] ?? ''} |`),
    ...absent.toSorted().map((name) => `| \`${name}\` | absent | |`),
  ].map((row) => row.replace('|  |', '| |'));
  const page = readFileSync(new URL('../../../docs/from-resend.md', import.meta.url), 'utf8');
  const listed = page.split('\n').filter((line) => /^\| `[\w.]+` \| (?:same|different|absent) \|/.test(line));

  expect(listed).toEqual(rows);
  expect(Object.keys(differences).filter((name) => !offered.includes(name))).toEqual([]);
  expect(offered.length).toBeGreaterThan(20);
});
