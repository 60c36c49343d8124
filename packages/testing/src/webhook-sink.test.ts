import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

let sink: WebhookSink;
beforeEach(async () => {
  sink = await startWebhookSink();
});
afterEach(async () => {
  await sink.stop();
});

describe('the webhook sink', () => {
  it('records the headers and raw body of each post', async () => {
    const posted = fetch(`${sink.url}/hook?x=1`, {
      method: 'POST',
      headers: { 'webhook-id': 'evt_1' },
      body: '{"a": 1}',
    });

    const request = await sink.waitFor(({ path }) => path === '/hook?x=1');
    expect(request.headers['webhook-id']).toBe('evt_1');
    expect(request.body.toString()).toBe('{"a": 1}');
    expect((await posted).status).toBe(200);
  });

  it('responds as scripted for each request number', async () => {
    sink.script(({ nth }) =>
      nth === 1
        ? { kind: 'reply', status: 503, headers: { 'retry-after': '7' }, body: 'busy' }
        : { kind: 'reply', status: 204 },
    );

    const first = await fetch(sink.url);
    const second = await fetch(sink.url);

    expect([first.status, first.headers.get('retry-after'), await first.text()]).toEqual([503, '7', 'busy']);
    expect(second.status).toBe(204);
  });

  it('closes the connection, or delays a response until the script continues', async () => {
    const gate = Promise.withResolvers<void>();
    sink.script(({ path }) => (path === '/drop' ? { kind: 'drop' } : { kind: 'stall', until: gate.promise }));

    await expect(fetch(`${sink.url}/drop`)).rejects.toThrow('fetch failed');
    const pending = fetch(`${sink.url}/held`);
    await sink.waitFor(2);
    gate.resolve();

    expect((await pending).status).toBe(200);
  });
});
