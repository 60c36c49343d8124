import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openResend } from './resend-server.ts';
import { openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);
const resend = await openResend(world);
const send = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Held', text: 'x'.repeat(110_000) };

it.each([
  ['/v1/api-keys', 401, { name: 'Second', scopes: ['admin'] }],
  ['/v1/suppressions', 401, { email: 'held@example.com' }],
  ['/v1/email/send', 401, send],
  // The status that Resend clients expect.
  ['/resend/api-keys', 403, { name: 'Second' }],
])('a request to %s is rejected if its key is revoked before its delayed body arrives', async (path, status, input) => {
  const key = await world.key({ scopes: ['admin', 'email:send'] });
  const body = JSON.stringify(input);
  const port = path.startsWith('/resend') ? Number(new URL(resend.url).port) : rest.port;
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key.secret}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 1)}`,
  );
  // The key is rechecked if its body took longer than a second, which begins when a busy process has read the headers.
  await pause(3000);
  expect((await rest.call('DELETE', `/api-keys/${key.id}`)).status).toBe(200);
  socket.write(body.slice(1));

  const [response] = (await once(socket, 'data')) as [Buffer];
  expect(response.toString('latin1')).toContain(`HTTP/1.1 ${status} `);
  socket.destroy();
});
