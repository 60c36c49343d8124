import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../run-command.ts';

const capture = {
  id: 'cap_1',
  from: 'hello@sandbox.test',
  to: ['ada@example.com'],
  sender: 'hello@sandbox.test',
  subject: 'Hello',
  received_at: '2031-05-10T12:00:00.000Z',
  links: [],
  codes: [],
};
const waits: number[] = [];
// Responds immediately, without waiting as the service would, and returns the message in its third response.
const service = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/v1/captures') waits.push(Number(searchParams.get('wait')));
  const body = pathname === '/v1/captures' ? { data: waits.length < 3 ? [] : [capture] } : capture;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => service.close());

it('a wait is split into parts, each shorter than the client timeout', async () => {
  let out = '';
  const code = await runCommand(['captures', 'wait', '--timeout', '120', '--json'], {
    env: {
      POSTRIDER_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      POSTRIDER_API_KEY: 'pr_live_0',
    },
    print: (text) => {
      out += text;
    },
    note: () => {},
  });

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ id: 'cap_1' });
  expect(waits).toEqual([20, 20, 20]);
});

it('a redirect is not followed, since it would send the request to a different address', async () => {
  let noted = '';
  const front = createServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${(service.address() as AddressInfo).port}/` }).end();
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const waits_before = waits.length;

  const code = await runCommand(['captures', 'wait', '--json'], {
    env: {
      POSTRIDER_URL: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
      POSTRIDER_API_KEY: 'pr_live_0',
    },
    print: () => {},
    note: (text) => {
      noted += text;
    },
  });
  front.close();

  expect(code).not.toBe(0);
  expect(noted).toContain('redirected');
  expect(waits).toHaveLength(waits_before);
});
