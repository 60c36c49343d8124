import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copiesOf, hello, type Journey, openJourney, statesOf } from '../journey.ts';
import type { ServerProcess } from '../server-process.ts';

const CLI = fileURLToPath(new URL('../../../../packages/cli/src/launch.mjs', import.meta.url));
// We promise two seconds, but a machine that is busy with other tests gets more.
const OBEYED_MS = 5000;

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney();
});
afterAll(() => journey.stop());

/** Runs the command line as an operator on the machine would, and returns its output as JSON. */
async function postrider(...args: string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, [CLI, ...args, '--json'], { env: { ...journey.env } });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`postrider ${args.join(' ')} ended with ${code}`);
  return JSON.parse(out) as Record<string, unknown>;
}

const arrivedAt = (domain: string) =>
  journey.smtp.messages.filter((mail) => mail.envelope_to[0]?.endsWith(`@${domain}`));

describe('a hold on a destination while two processes send email', () => {
  it('is obeyed by both, survives the death of one, and neither loses nor duplicates email', async () => {
    const servers = [await journey.start(), await journey.start()] as const;
    const sent = { held: 0, other: 0 };
    let flowing = true;
    const flow = async (server: ServerProcess) => {
      for (let turn = 0; flowing; turn++) {
        const part = turn % 2 ? 'held' : 'other';
        const domain = `${part}.example.com`;
        const to = Array.from({ length: 5 }, (_, index) => `to${index}@${domain}`);
        const response = await server.call('POST', '/v1/email/send', { body: { ...hello, to } });
        expect(response.status).toBe(202);
        sent[part] += 5;
        await setTimeout(100);
      }
    };
    const flows = servers.map(flow);
    await expect.poll(() => arrivedAt('held.example.com').length, { timeout: 30_000 }).toBeGreaterThan(50);

    const { id } = await postrider(
      'queues',
      'hold',
      '--local',
      'destination',
      'held.example.com',
      '--reason',
      'An outage there',
    );
    await setTimeout(OBEYED_MS);
    const before = { held: arrivedAt('held.example.com').length, other: arrivedAt('other.example.com').length };
    await setTimeout(2000);

    // Messages were accepted throughout. Other messages are still sent, but held messages are not.
    expect(arrivedAt('held.example.com')).toHaveLength(before.held);
    expect(arrivedAt('other.example.com').length).toBeGreaterThan(before.other);
    flowing = false;
    await Promise.all(flows);
    await servers[0].kill();
    await expect
      .poll(() => statesOf(journey.sql), { timeout: 90_000, interval: 500 })
      .toEqual({
        delivered: expect.any(Number),
        queued: sent.held - before.held,
      });
    const attempts = await journey.sql`
      select from recipients where state = 'queued' and (attempt_count > 0 or first_attempt_at is not null)`;
    expect(attempts).toHaveLength(0);
    expect(arrivedAt('held.example.com')).toHaveLength(before.held);

    const released = await postrider('queues', 'release', '--local', String(id));
    expect(released.status).toBe('ended');

    await expect
      .poll(() => statesOf(journey.sql), { timeout: 90_000, interval: 500 })
      .toEqual({ delivered: sent.held + sent.other });
    const copies = [...copiesOf(journey.smtp).values()];
    expect(copies).toHaveLength(sent.held + sent.other);
    // A killed process may have sent what it could not record, in which case the same bytes are sent again.
    expect(copies.filter((one) => one.copies > 1 && one.bodies > 1)).toEqual([]);
    expect(arrivedAt('held.example.com')).toHaveLength(sent.held);
    await servers[1].end();
  });
});
