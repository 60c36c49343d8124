import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { createResendHandler } from '../src/index.ts';

/** The API for clients of Resend on a port of its own; it ends after the tests of the file. */
export async function openResend(world: World): Promise<{ readonly url: string }> {
  const handle = createResendHandler(world.services);
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endAfterTests({
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/resend` };
}
