import type { SendOutcome } from '@postrider/mail';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { claimDeliveries } from './claim.ts';
import { settleDeliveries } from './settle.ts';

const COUNT = 100;
const ROUNDS = 5;

const accepted: SendOutcome = {
  kind: 'accepted',
  reply: { code: 250, enhanced: '2.0.0', text: 'taken' },
  error: null,
  target: 'sink',
  address: null,
  tls_policy: 'none',
  tls: null,
  phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
  stage: 'after_dot',
  transcript: '',
};

const world = await openWorld();

/** Claims as many new emails, and returns what each one's server said. */
async function claim() {
  for (let count = 0; count < COUNT; count++)
    await invoke(world.as(world.workspace_id), sendMessage, {
      from: 'hello@sandbox.test',
      to: 'ada@example.com',
      subject: 'Hello',
      text: 'Hi',
    });
  const jobs = await world.services.jobs.fetch('delivery.attempt', COUNT);
  const claims = await claimDeliveries(world.services, jobs);
  return claims.map((claimed) => ({ claimed, outcome: accepted, duration_ms: 1, handed_back: false }));
}

// Postgres 18 crashed here now and then: docs/decisions/0035-no-pruning-beside-row-locks.md
describe('results of emails', () => {
  it('are all recorded if their messages and jobs change while the statement waits for them', async () => {
    const { sql } = world.services;
    const states: unknown[] = [];

    for (let round = 0; round < ROUNDS; round++) {
      const results = await claim();
      const blocking = Promise.withResolvers<void>();
      const change = sql.begin(async (tx) => {
        await tx`update messages set subject = subject where status = 'queued'`;
        await tx`update pgboss.job set heartbeat_on = now() where name = 'delivery.attempt' and state = 'active'`;
        blocking.resolve();
        await waitingSession();
      });
      await blocking.promise;
      await Promise.all([change, settleDeliveries(world.services, results)]);
      states.push(
        await sql`
        select m.status, r.state, count(*)::int as count from messages m
        join recipients r on r.workspace_id = m.workspace_id and r.message_id = m.id group by 1, 2`,
      );
    }

    expect(states).toEqual(
      Array.from({ length: ROUNDS }, (_, round) => [
        { status: 'delivered', state: 'delivered', count: COUNT * (round + 1) },
      ]),
    );
  });
});

async function waitingSession(): Promise<void> {
  const waiting = () => world.services.sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await waiting()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}
