import { listenHttp, type World } from '@postrider/testing';
import { endAfterTests } from '@postrider/testing/open-world';
import { createResendHandler } from '../src/index.ts';

/** Serves the API for Resend clients on a separate port until the tests of the file end. */
export async function openResend(world: World): Promise<{ readonly url: string }> {
  const { url } = endAfterTests(await listenHttp(createResendHandler(world.services)));
  return { url: `${url}/resend` };
}
