import { newId } from '@postrider/core';
import { transportOfLane } from '@postrider/core/lanes';
import type { Mailer } from '@postrider/mail';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TransportSet } from './transport-set.ts';

const world = await openWorld({ DELIVERY: 'smtp://127.0.0.1:2525' });
const { sql, clock } = world.services;

const unused = async () => {
  throw new Error('nothing is sent');
};
const mailer: Mailer = { send: unused, laneOf: (to) => to.replace(/^.*@/, ''), stop: async () => undefined };

/** Three workspaces and the instance, null, with two transports each. */
const owners = [
  null,
  world.workspace_id,
  (await world.workspace('free')).workspace_id,
  (await world.workspace('free')).workspace_id,
];
const workspace_ids = owners.filter((id) => id !== null);
const transports = await Promise.all(
  [...owners, ...owners].map(async (owner_id, index) => {
    const id = newId('transport', clock.now());
    await sql`
      insert into transports (id, workspace_id, name, kind, host, port, tls, created_at, updated_at)
      values (${id}, ${owner_id}, ${`Relay ${index}`}, 'smtp', 'relay.example', 25, 'none', clock_now(), clock_now())`;
    return { id, owner_id };
  }),
);
const ownerOf = new Map(transports.map(({ id, owner_id }) => [id, owner_id]));

const domains = ['shop.example', 'other.example'] as const;
const condition = <T>(...values: readonly T[]) => fc.constantFrom<T | null>(null, null, ...values);
// Also transports of others, which no operation stores.
const ruleOf = (workspace: fc.Arbitrary<string | null>) =>
  fc.record({
    workspace_id: workspace,
    from_domain: condition(...domains),
    tag: condition('bulk'),
    destination: condition('example.com'),
    transports: fc.uniqueArray(fc.constantFrom(...transports.map(({ id }) => id)), { minLength: 1, maxLength: 4 }),
  });

it('a transport of a workspace carries no email of another, whatever the rules say', async () => {
  let version = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(ruleOf(condition(...workspace_ids)), { maxLength: 4 }),
      fc.array(ruleOf(fc.constantFrom(...workspace_ids)), { maxLength: 6 }),
      async (instance_rules, own_rules) => {
        await sql`delete from transport_rules`;
        await sql`delete from workspace_transport_rules`;
        for (const [index, one] of instance_rules.entries())
          await sql`
            insert into transport_rules (position, workspace_id, from_domain, tag, destination, transports)
            values (${index + 1}, ${one.workspace_id}, ${one.from_domain}, ${one.tag}, ${one.destination}, ${one.transports}::uuid[])`;
        for (const [index, one] of own_rules.entries())
          await sql`
            insert into workspace_transport_rules (workspace_id, position, from_domain, tag, destination, transports)
            values (${one.workspace_id}, ${index + 1}, ${one.from_domain}, ${one.tag}, ${one.destination}, ${one.transports}::uuid[])`;
        version += 1;
        await sql`update transport_versions set version = ${version}, workspace_version = ${version}`;
        for (const id of workspace_ids)
          await sql`
            insert into workspace_transport_versions (workspace_id, version) values (${id}, ${version})
            on conflict (workspace_id) do update set version = excluded.version`;
        const set = new TransportSet(world.services, { live: mailer, sandbox: mailer });
        await set.poll();

        for (const workspace_id of workspace_ids) {
          for (const from_domain of domains) {
            for (const tags of [[], ['bulk']]) {
              for (const email of ['ada@example.com', 'ada@example.net']) {
                const facts = { workspace_id, from_domain, tags, email, priority: 'normal' } as const;
                const lanes = set.lanesOf(facts, () => false);
                expect(lanes.length).toBeGreaterThan(0);
                const carriers = lanes.map((lane) => ownerOf.get(transportOfLane(lane)) ?? null);
                for (const owner_id of carriers) expect([null, workspace_id]).toContain(owner_id);
                for (const { id, owner_id } of transports)
                  if (owner_id !== null && owner_id !== workspace_id)
                    expect(set.allows(facts, `example.com via ${id}`)).toBe(false);
              }
            }
          }
        }
        await set.stop();
      },
    ),
    { numRuns: 40 },
  );
});
