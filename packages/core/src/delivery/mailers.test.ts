import { invoke, readConfig } from '@postrider/core';
import { type SmtpSink, startSmtpSink } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { getMessage } from '../messages/index.ts';
import { createMailers, stopMailers } from './mailers.ts';

const world = await openWorld({ DELIVERY: 'mx', RETRY_SCHEDULE: '1m,5m' });
let second: SmtpSink;
beforeAll(async () => {
  await world.domain('sender.test');
  second = await startSmtpSink({ host: '127.0.0.2', port: world.smtp.port });
});
afterAll(async () => {
  await second.stop();
});

async function send(to: string): Promise<string> {
  const mail = { from: 'hello@sender.test', to, subject: 'Hi', text: 'Hi' };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

const read = (id: string) => invoke(world.as(world.workspace_id), getMessage, { id });

describe('DELIVERY=mx', () => {
  it('sends each domain’s email to the domain’s own server, and records the server in the attempt', async () => {
    world.dns.set('one.test', 'MX', [{ priority: 10, exchange: 'mx1.one.test' }]);
    world.dns.set('mx1.one.test', 'A', ['127.0.0.1']);
    world.dns.set('two.test', 'A', ['127.0.0.2']);

    const ids = [await send('ada@one.test'), await send('bob@two.test')];
    await world.drain();

    expect(await Promise.all(ids.map(read))).toMatchObject([
      {
        status: 'delivered',
        attempts: [
          { target: `mx1.one.test:${world.smtp.port}`, address: '127.0.0.1', tls: null, tls_policy: 'opportunistic' },
        ],
      },
      { status: 'delivered', attempts: [{ target: `two.test:${world.smtp.port}`, address: '127.0.0.2' }] },
    ]);
    expect(second.messages.map((mail) => mail.envelope_to)).toEqual([['bob@two.test']]);
  });

  it('promise P5: bounces email to a null MX immediately and to a missing domain after an hour, suppressing neither address', async () => {
    world.dns.set('null.test', 'MX', [{ priority: 0, exchange: '.' }]);

    const ids = [await send('ada@null.test'), await send('ada@absent.test')];
    await world.drain();
    expect((await Promise.all(ids.map(read))).map(({ status }) => status)).toEqual(['bounced', 'deferred']);
    for (const _ of [1, 2]) {
      await world.clock.advance(31 * 60_000);
      await world.drain();
    }

    expect(await world.services.sql`select from suppressions`).toHaveLength(0);
    expect(await Promise.all(ids.map(read))).toMatchObject([
      {
        status: 'bounced',
        attempts: [{ outcome: 'rejected', stage: 'connect', reply: { code: 556, enhanced: '5.1.10' } }],
      },
      {
        status: 'bounced',
        attempts: Array(3).fill({ outcome: 'deferred', category: 'domain', reply: { code: 550, enhanced: '5.1.2' } }),
      },
    ]);
  });

  it('keeps email if DNS fails or the server has a private address, and reports why', async () => {
    world.dns.fail('broken.test', 'SERVFAIL');
    world.dns.set('inner.test', 'A', ['10.1.2.3']);

    const ids = [await send('ada@broken.test'), await send('ada@inner.test')];
    await world.drain();

    expect(await Promise.all(ids.map(read))).toMatchObject([
      { status: 'deferred', attempts: [{ outcome: 'deferred', error: expect.stringMatching(/DNS.*broken\.test/) }] },
      {
        status: 'deferred',
        attempts: [{ outcome: 'deferred', error: expect.stringMatching(/10\.1\.2\.3 is not a public address/) }],
      },
    ]);
  });
});

describe('the EHLO name', () => {
  it.each([
    [{ DELIVERY: 'mx', HELO_NAME: 'mail' }, 1],
    [{ DELIVERY: 'mx', HELO_NAME: 'mail.sender.test' }, 0],
    [{ DELIVERY: 'smtp://relay.test', HELO_NAME: 'mail' }, 0],
  ])('a configuration of %j produces %i warnings', async (env, warnings) => {
    const logged = world.logged.length;

    const mailers = createMailers(
      { ...world.services, config: readConfig(env) },
      { host: '127.0.0.1', port: world.smtp.port },
    );
    await stopMailers(mailers);

    expect(world.logged.slice(logged).filter((line) => line.helo_name === 'mail')).toHaveLength(warnings);
  });
});
