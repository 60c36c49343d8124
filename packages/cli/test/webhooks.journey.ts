import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { startWebhookSink } from '@postrider/testing';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { openCommandLine, outcomeOf, spawnCommand, watch } from './command-line.ts';

const { environment, key, launch, postrider, send, url } = await openCommandLine();

describe('webhooks listen', () => {
  it('forwards each new event once to a local program, signed with the printed secret', async () => {
    await send('--to', 'before@example.com');
    const sink = await startWebhookSink();
    sink.script(({ nth }) => ({ kind: 'reply', status: nth === 1 ? 200 : 500 }));
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const port = new URL(sink.url).port;
    const listener = spawnCommand(['webhooks', 'listen', '--forward-to', port, '--events', 'email.queued'], env);
    const end = outcomeOf(listener);
    const waitForOutput = watch(listener);
    await waitForOutput('signed with');

    const emails = [await send('--to', 'a@example.com', '--json'), await send('--to', 'b@example.com', '--json')];
    const requests = await sink.waitFor(2);
    await waitForOutput('  500');
    listener.kill('SIGINT');

    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [, secret = ''] = /signed with (whsec_\S+)/.exec(out) ?? [];
    const deliveries = requests.map(({ body, headers }) =>
      new Webhook(secret).verify(body.toString(), headers as Record<string, string>),
    );
    expect(deliveries).toMatchObject(
      emails.map(({ out }) => ({ type: 'email.queued', data: { email: { id: JSON.parse(out).id } } })),
    );
    expect(sink.requests).toHaveLength(2);
    await sink.stop();
  });

  it('retries a refused connection, and delivers events in order once a receiver listens', async () => {
    const sink = await startWebhookSink();
    const { port } = new URL(sink.url);
    await sink.stop();
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const listener = spawnCommand(['webhooks', 'listen', '--forward-to', port, '--events', 'email.queued'], env);
    const end = outcomeOf(listener);
    const waitForOutput = watch(listener);
    await waitForOutput('signed with');

    const { id } = JSON.parse((await send('--to', 'late@example.com', '--json')).out);
    await waitForOutput('retrying in 1 s');
    const deliveries = Promise.withResolvers<string>();
    const receiver = createServer(async (request, response) => {
      deliveries.resolve(await text(request));
      response.end();
    });
    receiver.listen(Number(port));

    expect(JSON.parse(await deliveries.promise)).toMatchObject({ data: { email: { id } } });
    await waitForOutput('  200');
    listener.kill('SIGINT');
    expect((await end).code).toBe(0);
    receiver.close();
  });

  it('rejects invalid options, and shows the expected format', async () => {
    const missing = await launch(['webhooks', 'listen']);
    const file = await postrider(['webhooks', 'listen', '--forward-to', 'file:///etc/passwd']);
    const type = await postrider(['webhooks', 'listen', '--forward-to', '4000', '--events', 'email.opened']);

    expect([missing.code, file.code, type.code]).toEqual([2, 2, 1]);
    expect(missing.err).toContain('--forward-to');
    expect(file.err).toContain('http://localhost:4000/hooks');
    expect(type.err).toContain('email.queued');
  });
});

describe('webhooks', () => {
  it('can be created, receive a verified delivery, and be removed', async () => {
    const creation = await postrider(['webhooks', 'create', 'http://localhost:4000/', '--events', 'email.delivered']);
    const [secret = '', id = ''] = /^(whsec_\S+)\n(whk_\w+) sends to /.exec(creation.out)?.slice(1) ?? [];

    const receiver = spawnCommand(
      ['webhooks', 'receive', '--once', '--port', '0'],
      environment({ WEBHOOK_SECRET: secret }),
    );
    const receiving = outcomeOf(receiver);
    const hook_url = await new Promise<string>((resolve) => {
      receiver.stderr.on('data', (text: string) => {
        const receiving_at = /Listening at (http:\/\/localhost:\d+)/.exec(text)?.[1];
        if (receiving_at !== undefined) resolve(receiving_at);
      });
    });
    await fetch(`${url}/v1/webhooks/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: hook_url }),
    });
    const forgery = await fetch(hook_url, { method: 'POST', body: '{}' });
    expect(forgery.status).toBe(400);
    await send('--to', 'hooked@example.com');

    const { code, out, err } = await receiving;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ type: 'email.delivered' });
    expect(err).toContain('rejected a request: ');
    expect((await postrider(['webhooks', 'list'])).out).toMatch(
      new RegExp(`^${id} +enabled +live .* email.delivered$`, 'm'),
    );
    expect((await postrider(['webhooks', 'test', id])).out).toMatch(/^whd_/);
    expect((await postrider(['webhooks', 'remove', id])).code).toBe(2);
    const removed = { err: '', out: `${id}  removed\n` };
    expect(await postrider(['webhooks', 'remove', id, '--yes'])).toMatchObject(removed);
    expect((await postrider(['webhooks', 'receive'])).err).toMatch(/^missing_option: WEBHOOK_SECRET/);
  });
});
