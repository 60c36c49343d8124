import { listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { createResendHandler } from '../src/index.ts';

/** The API for clients of Resend on a port of its own; it ends after the tests of the file. */
export async function openResend(world: World): Promise<{ readonly url: string }> {
  const { url } = endAfterTests(await listenHttp(createResendHandler(world.services)));
  return { url: `${url}/resend` };
}
