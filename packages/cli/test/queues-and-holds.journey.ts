import { describe, expect, it, vi } from 'vitest';
import { openCommandLine } from './command-line.ts';

const { postrider, send } = await openCommandLine();

describe('queues, workers and schedules', () => {
  it('lists queue depths, live workers and scheduled jobs', async () => {
    const workers = await postrider(['workers', 'list']);
    const schedules = await postrider(['schedules', 'list']);

    await vi.waitFor(
      async () => {
        const top = await postrider(['queues', 'top', '--json']);
        expect(top).toMatchObject({ code: 0, err: '' });
        const { data } = JSON.parse(top.out) as { data: { name: string; measured_at: string | null }[] };
        expect(data.find(({ name }) => name === 'delivery.attempt')?.measured_at).not.toBeNull();
      },
      { timeout: 30_000, interval: 500 },
    );
    const view = (await postrider(['queues', 'top'])).out;
    expect(view).toMatch(/^queue +ready +deferred /);
    expect(view).toMatch(/^delivery\.attempt +\d/m);
    expect(workers.out).toMatch(/:\d+ +live +last heartbeat 20/);
    expect(schedules.out).toMatch(/^storage\.maintain +every hour at minute 7 +UTC +next 20/m);
    const job = await postrider(['schedules', 'run', 'storage.maintain', '--reason', 'rows in a default partition']);
    expect(job).toMatchObject({ code: 0, out: expect.stringMatching(/^job_\w+ {2}storage\.maintain \w+\n$/) });
  });

  it('jobs can be listed, redriven and retried, and a queue’s concurrency can be limited', async () => {
    const list = await postrider(['queues', 'jobs', '--queue', 'domain.recheck', '--json']);
    const preview = await postrider(['queues', 'redrive', 'domain.recheck', '--preview']);
    const concurrency = await postrider(['queues', 'concurrency', 'domain.recheck', '2', '--reason', 'many domains']);

    expect(JSON.parse(list.out).object).toBe('list');
    const none_dead = await postrider(['queues', 'jobs', '--queue', 'domain.recheck', '--state', 'dead']);
    expect(none_dead).toMatchObject({ code: 0, out: 'No results.\n' });
    expect(preview.out).toMatch(/^Dead jobs: \d+\n$/);
    expect(concurrency.out).toBe('Concurrency for domain.recheck set to 2 per worker\n');
    const none = await postrider(['queues', 'retry', 'job_none']);
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^job_not_found: /) });
  });
});

describe('destinations', () => {
  it('a rate-limited destination is listed under its normalized name until the limit is removed', async () => {
    const limit = await postrider([
      'destinations',
      'limit',
      'Example.COM',
      '--connections',
      '5',
      '--per-minute',
      '100',
    ]);
    expect([limit.code, limit.out]).toEqual([0, 'example.com is limited\n']);

    const list = await postrider(['destinations', 'list', '--json']);
    expect(JSON.parse(list.out).data).toEqual([
      {
        destination: 'example.com',
        transport_id: null,
        transport_name: null,
        connections: 5,
        messages_per_minute: 100,
        closed_until: null,
        reason: null,
        last_reply: null,
        held_until: null,
        hold_id: null,
        parked: 0,
      },
    ]);
    expect((await postrider(['destinations', 'list'])).out).toMatch(
      /^example\.com +open +5 connections +100 a minute +0 waiting/,
    );

    await postrider(['destinations', 'limit', 'example.com', '--off']);
    expect(JSON.parse((await postrider(['destinations', 'list', '--json'])).out).data).toEqual([]);
    const empty = await postrider(['destinations', 'list']);
    expect(empty.out).toBe('No destinations are limited, closed or held, and none have pending email.\n');
  });

  it('an invalid destination or a limit without a number is rejected', async () => {
    const empty = await postrider(['destinations', 'limit', 'example.com']);
    expect([empty.code, empty.err]).toEqual([1, expect.stringMatching(/^missing_field: /)]);

    const strange = await postrider(['destinations', 'limit', 'not a domain', '--per-minute', '5']);
    expect([strange.code, strange.err]).toEqual([1, expect.stringMatching(/^invalid_domain: /)]);
  });
});

describe('holding and releasing queues', () => {
  it('a held destination shows why its email is waiting, and can be released', async () => {
    const hold = await postrider([
      'queues',
      'hold',
      'destination',
      'Held.Example.com',
      '--reason',
      'An outage there',
      '--for',
      '2h',
      '--rate',
      '600',
    ]);
    const [, hold_id = ''] = /^(hld_\w+) {2}destination held\.example\.com is held until \S+\n$/.exec(hold.out) ?? [];
    expect([hold.code, hold_id]).toEqual([0, expect.stringMatching(/^hld_/)]);
    // Messages sent before the worker sees the hold are delivered.
    const id = await vi.waitFor(
      async () => {
        const email = await send('--to', 'ada@held.example.com', '--json');
        const destinations = await postrider(['destinations', 'list']);
        expect(destinations.out).toMatch(
          new RegExp(`^held\\.example\\.com +held until \\S+ \\(${hold_id}\\) .*[1-9]\\d* waiting`, 'm'),
        );
        return String(JSON.parse(email.out).id);
      },
      { timeout: 30_000, interval: 500 },
    );

    const list = await postrider(['queues', 'holds']);
    expect(list.out).toMatch(
      /^hld_\w+ {2}destination held\.example\.com +held until \S+ +[1-9]\d* held +First key +An outage there\n$/,
    );
    const view = await postrider(['email', 'get', id]);
    expect(view.out).toContain(`${hold_id}: An outage there`);
    expect(view.out).toMatch(/waiting: hold until \S+/);

    const duplicate = await postrider(['queues', 'hold', 'destination', 'held.example.com', '--reason', 'Again']);
    expect([duplicate.code, duplicate.err]).toEqual([1, expect.stringMatching(/^hold_exists: /)]);

    const release = await postrider(['queues', 'release', 'destination', 'held.example.com']);
    expect(release.out).toBe(`${hold_id}  destination held.example.com is resuming at 600 per minute\n`);
    expect(JSON.parse((await postrider(['queues', 'holds', '--json'])).out).data).toEqual([]);
    const history = JSON.parse((await postrider(['queues', 'holds', '--all', '--json'])).out).data;
    expect(history).toMatchObject([{ id: hold_id, ended_by: 'release' }]);
  });

  it('the suggested fix can be run as printed (releasing the email queue)', async () => {
    const queueAge = async () => {
      const { checks } = JSON.parse((await postrider(['doctor', '--json'])).out) as {
        checks: { name: string; result: string; fix?: string }[];
      };
      return checks.find(({ name }) => name === 'queue_age');
    };
    await postrider(['queues', 'hold', 'queue', 'delivery.attempt', '--reason', 'An outage']);
    const hold = await queueAge();
    const [, command = ''] = /`npx postrider ([^`]+)`/.exec(hold?.fix ?? '') ?? [];

    const release = await postrider(command.split(' '));

    expect(hold).toMatchObject({ result: 'warning' });
    expect(release).toMatchObject({ code: 0, err: '' });
    expect(await queueAge()).toMatchObject({ result: 'ok' });
  });

  it('rejects an unknown scope, an unknown queue and a release without a hold', async () => {
    const scope = await postrider(['queues', 'hold', 'planet', 'mars']);
    expect([scope.code, scope.err]).toEqual([1, expect.stringMatching(/^invalid_type: planet is not a valid scope/)]);
    const missingReason = await postrider(['queues', 'hold', 'queue', 'delivery.attempt']);
    expect([missingReason.code, missingReason.err]).toEqual([2, expect.stringMatching(/^missing_option: /)]);
    const queue = await postrider(['queues', 'hold', 'queue', 'mars', '--reason', 'Why not']);
    expect([queue.code, queue.err]).toEqual([1, expect.stringMatching(/^queue_not_found: /)]);
    const release = await postrider(['queues', 'release', 'queue', 'delivery.attempt']);
    expect([release.code, release.err]).toEqual([1, expect.stringMatching(/^hold_not_found: /)]);
  });
});

describe('status', () => {
  it('exits with 0 while all is well and with 1 while a hold is active, and says why', async () => {
    const code = async () => (await postrider(['status'])).code;
    await vi.waitFor(async () => expect(await code()).toBe(0), { timeout: 30_000, interval: 500 });
    expect((await postrider(['status'])).out).toBe('Healthy\n');
    await postrider(['queues', 'hold', 'destination', 'held.test', '--reason', 'a test']);

    const text = await postrider(['status']);
    const json = JSON.parse((await postrider(['status', '--json'])).out);
    await postrider(['queues', 'release', 'destination', 'held.test']);

    expect(text).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Degraded\nDegraded {2}holds {2}Instance holds: destination held\.test \(a test\)/),
    });
    expect(json).toMatchObject({ object: 'health', status: 'warning' });
    expect(await code()).toBe(0);
  });
});
