import { invoke } from '@postrider/core';
import { addDomain, getDomain } from '@postrider/core/domains';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRole, type WorkerRole } from './role.ts';

const world = await openWorld();
let worker: WorkerRole;
beforeAll(async () => {
  worker = createRole(world.services, { inbound_port: world.smtp.port });
  await worker.start();
});
afterAll(async () => {
  await worker.stop();
});

it('the job that runs every minute verifies a domain automatically', async () => {
  const { sql, jobs } = world.services;
  const context = world.as(world.workspace_id);
  const added = await invoke(context, addDomain, { name: 'good.test' });
  for (const { type, fqdn, value } of added.dns_records) if (type === 'TXT') world.dns.set(fqdn, 'TXT', [value]);
  await world.clock.advance(60_000);

  await sql.begin((tx) => jobs.send(tx, 'domain.recheck', [{ data: {} }]));

  const status = async () => (await invoke(context, getDomain, { domain: 'good.test' })).status;
  await expect.poll(status, { timeout: 30_000 }).toBe('verified');
  const [schedule] = await sql<{ cron: string }[]>`select cron from pgboss.schedule where name = 'domain.recheck'`;
  expect(schedule?.cron).toBe('* * * * *');
});
