import { createWorld, type World } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RestServer, startRest } from './rest-server.ts';

let world: World;
let rest: RestServer;

beforeAll(async () => {
  world = await createWorld();
  rest = await startRest(world.services, world.secret);
});
afterAll(async () => {
  await rest.stop();
  await world.stop();
});

const hello = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

describe('202', () => {
  it('accepts a mail, delivers it once and shows it delivered', async () => {
    const sent = await rest.call('POST', '/email/send', { body: hello });

    expect(sent.status).toBe(202);
    expect(sent.body).toEqual({ id: expect.stringMatching(/^msg_/), status: 'queued', created_at: expect.any(String) });
    await world.drain();
    const [mail] = await world.smtp.waitFor(1);
    expect(mail?.envelope_to).toEqual(['ada@example.com']);
    const shown = await rest.call('GET', `/email/logs/${sent.body.id}`);
    expect(shown.body).toMatchObject({ status: 'delivered', recipients: [{ attempts: 1, status: 'delivered' }] });
  });
});
