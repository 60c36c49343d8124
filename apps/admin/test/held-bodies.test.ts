import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const world = await openWorld();
const { sql } = world.services;
const admin = await openAdmin(world);
// The first request loads GraphQL before it checks a key.
await fetch(`http://127.0.0.1:${admin.port}/graphql`);

/** Sends the first byte of a body, then the rest after `meanwhile`. Returns the start of the response. */
async function respondWhile(
  path: string,
  headers: readonly string[],
  input: object,
  meanwhile: () => Promise<unknown>,
) {
  const body = JSON.stringify(input);
  const socket = connect(admin.port, '127.0.0.1');
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  // The key or session is rechecked if the body took longer than a second.
  await pause(1100);
  await meanwhile();
  socket.write(body.slice(1));
  const [response] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return response.toString('latin1');
}

it('a GraphQL request is rejected if its key is revoked before its delayed body arrives', async () => {
  const { id, secret } = await world.key({ scopes: ['admin'] });
  const query = 'mutation { apiKeyCreate(input: { name: "Second", scopes: ["admin"] }) { __typename } }';

  const response = await respondWhile('/graphql', [`Authorization: Bearer ${secret}`], { query }, async () => {
    await sql`update api_keys set revoked_at = clock_now() where id = ${id}`;
  });

  expect(response).toMatch(/^HTTP\/1\.1 401 /);
});

it('a tRPC request is rejected if its member is removed before its delayed body arrives', async () => {
  const { cookie, user_id } = await signedIn(world, admin, 'member');
  const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Held', text: 'Hi' };

  const headers = [`Cookie: ${cookie}`, 'x-postrider: 1', 'Sec-Fetch-Site: same-origin'];
  const response = await respondWhile('/trpc/test.send', headers, mail, async () => {
    await sql`delete from sessions where user_id = ${user_id}`;
  });

  expect(response).toMatch(/^HTTP\/1\.1 401 /);
});
