import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { offersNoTls } from './tls-offer.ts';

it.each([
  ['N', '?sslmode=require', true],
  ['N', '?sslmode=verify-full', true],
  ['N', '?sslmode=disable', false],
  ['N', '', false],
  ['S', '?sslmode=require', false],
])(
  'a server that replies %s to a client with "%s" is reported as lacking TLS: %s (newcomer N19)',
  async (reply, parameters, none) => {
    const server = createServer((socket) => socket.once('data', () => socket.end(reply)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;

    const response = await offersNoTls(`postgres://ada:secret@127.0.0.1:${port}/postrider${parameters}`);

    server.close();
    expect(response).toBe(none);
  },
);

it('an unreachable server is not reported as lacking TLS', async () => {
  expect(await offersNoTls('postgres://ada@127.0.0.1:1/postrider?sslmode=require')).toBe(false);
});
