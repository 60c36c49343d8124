import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { errorOf, openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

it.each([
  ['GET', '/email/whk_', 'message_not_found'],
  ['POST', '/email/cap_', 'message_not_found', '/cancel'],
  ['GET', '/webhooks/whk_', 'webhook_not_found'],
  ['GET', '/captures/cap_', 'capture_not_found'],
  ['GET', '/requests/req_', 'request_not_found'],
  ['DELETE', '/api-keys/key_', 'api_key_not_found'],
])('%s %s… followed by the rest of a message id is not found', async (...parts) => {
  const [method, path, reason, action = ''] = parts;
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  const { body } = await rest.call('POST', '/email/send', { body: mail });

  const response = await rest.call(method, `${path}${String(body.id).slice(4)}${action}`);

  expect([response.status, errorOf(response).reason]).toEqual([404, reason]);
});
