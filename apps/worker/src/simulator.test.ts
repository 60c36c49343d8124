import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { getCapture } from '@postrider/core/captures';
import { getMessage } from '@postrider/core/messages';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRole, type WorkerRole } from './role.ts';

const MINUTE_MS = 60_000;
const PATIENT = { timeout: 30_000 };

const world = await openWorld({ RETRY_SCHEDULE: '1m,1m,1m,1m' });
let worker: WorkerRole;
beforeAll(async () => {
  worker = createRole(world.services, { inbound_port: world.smtp.port });
  await worker.start();
});
afterAll(async () => {
  await worker.stop();
});

async function send(...locals: string[]): Promise<string> {
  const to = locals.map((local) => `${local}@simulator.test`);
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

const detail = (id: string) => invoke(world.as(world.workspace_id), getMessage, { id });
const statusOf = async (id: string) => (await detail(id)).status;

async function nextAttempt(): Promise<void> {
  await world.clock.advance(MINUTE_MS);
  world.services.jobs.wakeAll('delivery.attempt');
}

async function capturesOf(message_id: string): Promise<string[]> {
  const rows = await world.services.sql<{ id: string; envelope_to: string[] }[]>`
    select id, envelope_to from captures where message_id = ${message_id} order by envelope_to`;
  return rows.flatMap((row) => row.envelope_to);
}

describe('an email to a simulator address', () => {
  it('is delivered, rejected and reported per recipient, and its accepted content can be read', async () => {
    const id = await send('delivered', 'bounce+5.1.1+a', 'bounce+xyz', 'ada');

    await expect.poll(() => statusOf(id), PATIENT).toBe('bounced');

    const message = await detail(id);
    expect(message.recipients.map(({ email, status, last_response }) => [email, status, last_response])).toEqual([
      ['delivered@simulator.test', 'delivered', '250 2.6.0 captured'],
      ['bounce+5.1.1+a@simulator.test', 'bounced', '550 5.1.1 simulated: the mailbox does not exist'],
      [
        'bounce+xyz@simulator.test',
        'bounced',
        '550 5.5.4 simulator: use bounce+ and a 5.x.x status code, such as bounce+5.1.1@simulator.test',
      ],
      ['ada@simulator.test', 'delivered', '250 2.6.0 captured'],
    ]);
    expect(await capturesOf(id)).toEqual(['ada@simulator.test', 'delivered@simulator.test']);
    const [capture] = await world.services.sql<{ id: string }[]>`select id from captures where message_id = ${id}`;
    expect((await invoke(world.as(world.workspace_id), getCapture, { id: capture?.id ?? '' })).subject).toBe('Hello');
  });

  it('is deferred three times at defer+3, shown as waiting each time, and then accepted', async () => {
    const id = await send('defer+3');

    for (const times of [1, 2, 3]) {
      await expect.poll(async () => (await detail(id)).attempts.length, PATIENT).toBe(times);
      expect((await detail(id)).recipients).toMatchObject([
        {
          status: 'deferred',
          waiting: { reason: 'retry_backoff' },
          last_response: expect.stringContaining(`${times} of 3`),
        },
      ]);
      await nextAttempt();
    }

    await expect.poll(() => statusOf(id), PATIENT).toBe('delivered');
    const { attempts, events } = await detail(id);
    expect(attempts.map((attempt) => attempt.outcome)).toEqual(['deferred', 'deferred', 'deferred', 'accepted']);
    expect(events.map((event) => event.type)).toEqual([
      'email.queued',
      ...Array(3).fill('email.delivery_delayed'),
      'email.delivered',
    ]);
    expect(await capturesOf(id)).toHaveLength(1);
  });

  it('is unknown after the dot at drop-after-data, and is sent again with the same Message-ID', async () => {
    const id = await send('drop-after-data');
    await expect.poll(async () => (await detail(id)).attempts.length, PATIENT).toBe(1);
    await nextAttempt();

    await expect.poll(() => statusOf(id), PATIENT).toBe('delivered');

    expect((await detail(id)).attempts).toMatchObject([
      { outcome: 'unknown', stage: 'after_dot', reply: null },
      { outcome: 'accepted' },
    ]);
    expect(await capturesOf(id)).toEqual(['drop-after-data@simulator.test']);
  });

  it('never closes a lane by failing on purpose, even a dozen times at drop-after-data', async () => {
    const id = await send(...Array.from({ length: 12 }, (_, index) => `drop-after-data+${index}`));
    await expect.poll(async () => (await detail(id)).attempts.length, PATIENT).toBe(12);
    expect(await world.services.sql`select lane from lanes where closings > 0`).toEqual([]);
    await nextAttempt();

    await expect.poll(() => statusOf(id), PATIENT).toBe('delivered');

    const { attempts, recipients } = await detail(id);
    expect(recipients.map(({ status }) => status)).toEqual(Array(12).fill('delivered'));
    expect(attempts.map(({ outcome }) => outcome).sort()).toEqual([
      ...Array(12).fill('accepted'),
      ...Array(12).fill('unknown'),
    ]);
  });

  it('is delivered slowly at slow, while other email is still delivered', async () => {
    const slow = await send(...Array.from({ length: 20 }, (_, index) => `slow+2s+${index}`));
    await expect.poll(() => statusOf(slow), PATIENT).toBe('sending');
    const quick = await send('delivered+beside');

    await expect.poll(() => statusOf(quick), PATIENT).toBe('delivered');
    await expect.poll(() => statusOf(slow), PATIENT).toBe('delivered');

    const { attempts } = await detail(slow);
    expect(attempts).toHaveLength(20);
    for (const attempt of attempts) expect(attempt.phases_ms.mail).toBeGreaterThan(1900);
  });

  it('is accepted at complain and dsn, and a report is sent to its own envelope sender', async () => {
    const complained = await send('complain');
    const failed = await send('dsn+5.2.2');

    const reports = await Promise.all([
      world.smtp.waitFor((mail) => mail.raw.includes('Feedback-Type: abuse')),
      world.smtp.waitFor((mail) => mail.raw.includes('Status: 5.2.2')),
    ]);

    for (const [index, id] of [complained, failed].entries()) {
      expect(await statusOf(id)).toBe('delivered');
      const [capture] = await world.services.sql<{ envelope_from: string }[]>`
        select envelope_from from captures where message_id = ${id}`;
      expect(reports[index]?.envelope_to).toEqual([capture?.envelope_from]);
      expect(reports[index]?.raw.toString()).toContain(`<${id}@sandbox.test>`);
    }
  });
});
