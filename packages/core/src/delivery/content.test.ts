import { randomBytes } from 'node:crypto';
import { createContext, invoke } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createSigningKeys } from '../domains/keys/signing-keys.ts';
import { rescheduleMessage } from '../messages/index.ts';
import { claimDeliveries } from './claim.ts';

const world = await openWorld();

const mail = { from: 'a@sandbox.test', subject: 'Hello', text: 'Hi' };
const context = () => createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });

async function claimAll() {
  return claimDeliveries(world.services, await world.services.jobs.fetch('delivery.attempt', 100));
}

it('a message, small or large, is rendered once for all of its recipients', async () => {
  const attachment = { filename: 'x.bin', content: randomBytes(300_000).toString('base64') };
  await invoke(context(), sendMessage, { ...mail, to: ['a@example.com', 'b@example.com'] });
  await invoke(context(), sendMessage, { ...mail, to: ['c@example.com', 'd@example.com'], attachments: [attachment] });

  const claimed = await claimAll();

  const contents = [...new Set(claimed.map(({ content }) => content))];
  expect(contents.map(({ large }) => large).sort()).toEqual([false, true]);
  for (const content of contents) {
    const [first, second] = await Promise.all([content.raw(), content.raw()]);
    expect(first).toBe(second);
  }
});

it('a claimed email keeps no body in memory, and reads the body again after a failed render', async () => {
  const { services } = world;
  await invoke(context(), sendMessage, { ...mail, to: 'again@example.com', text: 'Words of this mail' });
  const fresh = { ...services, signing_keys: createSigningKeys(services.sql, services.encryption) };
  await services.sql`update dkim_keys set id = ('f' || substr(id::text, 2))::uuid`;
  const jobs = await services.jobs.fetch('delivery.attempt', 100);

  const [claimed] = await claimDeliveries(fresh, jobs);

  expect(JSON.stringify(claimed?.delivery)).not.toContain('Words of this mail');
  await expect(claimed?.content.raw()).rejects.toThrow('could not be signed');
  await services.sql`update dkim_keys set id = ('0' || substr(id::text, 2))::uuid`;
  expect(String(await claimed?.content.raw())).toContain('Words of this mail');
});

it('a recipient whose content was deleted fails with a reason, and nothing is sent', async () => {
  const { id } = await invoke(context(), sendMessage, { ...mail, to: 'gone@example.com' });
  await world.services.sql`delete from bodies where message_id = ${id}`;

  await world.drain();

  const [row] = await world.services.sql<{ state: string; reason: string }[]>`
    select state, reason from recipients where message_id = ${id}`;
  expect(row).toEqual({ state: 'failed', reason: 'content_gone' });
  expect(world.smtp.messages.filter((one) => one.envelope_to.includes('gone@example.com'))).toEqual([]);
});

it('a message rescheduled many times has one job left once the earlier times have passed', async () => {
  const hour = 3_600_000;
  const at = (hours: number) => new Date(world.clock.now() + hours * hour).toISOString();
  const { id } = await invoke(context(), sendMessage, { ...mail, to: 'late@example.com', scheduled_at: at(1) });
  for (let turn = 2; turn <= 10; turn++) await invoke(context(), rescheduleMessage, { id, scheduled_at: at(turn) });

  await world.clock.advance(9.5 * hour);
  await world.drain();

  const live = await world.services.sql`
    select from pgboss.job where name = 'delivery.attempt' and state < 'completed' and (data ->> 'message_id')::uuid = ${id}`;
  expect(live).toHaveLength(1);
});
