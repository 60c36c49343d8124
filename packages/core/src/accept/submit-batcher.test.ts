import { connectSingly, type Sql } from '@postrider/db';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createContext, createServices, invoke } from '../index.ts';
import type { Services } from '../operation/context.ts';
import { hashSecret } from '../operation/secrets.ts';
import { MAX_WAIT_MS } from './batching-policy.ts';
import { sendMessage } from './send-message.ts';

const EARLY_BATCH = 20;
const FULL_BATCH = 64;
const FEW = 16;

const world = await openWorld();
let accept_connections: Sql[];
/** With dedicated batcher connections, as in a real process. */
let services: Services;
beforeAll(async () => {
  await world.clock.freeze(new Date('2030-05-15T10:00:00Z'));
  accept_connections = connectSingly(world.database_url, 2, { application_name: 'submit-batcher-test' });
  // Disables timeouts, so that a commit waits for a lock until the test releases it, even on a slow machine.
  for (const connection of accept_connections) {
    await connection`select set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false)`;
  }
  services = createServices({ ...world.services, accept_connections });
});
afterEach(() => vi.useRealTimers());
afterAll(async () => {
  await Promise.all((accept_connections ?? []).map((connection) => connection.end()));
});

async function newTenant(domain: string) {
  const workspace = await world.workspace('business');
  await world.domain(domain, workspace.workspace_id);
  const tenant = { ...workspace, from: `app@${domain}` };
  // Fills the admission cache, so that the next sends take the fast path.
  await send(tenant);
  return tenant;
}
type Tenant = Awaited<ReturnType<typeof newTenant>>;

function send({ secret, from }: Pick<Tenant, 'secret' | 'from'>, text = 'Hello.') {
  const ctx = createContext(services, { kind: 'credential', secret_hash: hashSecret(secret), address: '127.0.0.1' });
  return invoke(ctx, sendMessage, { from, to: 'ada@rcpt.test', subject: 'Hello', text });
}

function many(tenant: Tenant, count = EARLY_BATCH) {
  return Promise.all(Array.from({ length: count }, () => send(tenant)));
}

/** Locks the volume counter of this tenant until the returned function is called or the test ends. */
async function holdVolume({ workspace_id }: Tenant): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = world.services.sql.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`select from usage_months where workspace_id = ${workspace_id} for update`;
    locked.resolve();
    await released.promise;
  });
  const release = async () => {
    released.resolve();
    await holding;
  };
  onTestFinished(release);
  await Promise.race([locked.promise, holding]);
  return release;
}

async function stored({ workspace_id }: Tenant): Promise<number> {
  const [row] = await world.services.sql<{ count: number }[]>`
    select count(*)::int as count from messages where workspace_id = ${workspace_id}`;
  return row?.count ?? 0;
}

describe('a commit that is waiting for a lock', () => {
  it('does not block other email, and requests queued behind it are eventually stored', async () => {
    const [leader, follower, other] = await Promise.all(['held.test', 'follower.test', 'other.test'].map(newTenant));
    if (!leader || !follower || !other) throw new Error('a tenant is missing');
    const release = await holdVolume(leader);

    const waiting = [many(leader), many(follower)];
    // Once this resolves, both batches are in flight, so the next message gets its own batch.
    expect(await stored(leader)).toBe(1);
    await send(other);

    expect([await stored(leader), await stored(other)]).toEqual([1, 2]);
    await release();
    const ids = (await Promise.all(waiting)).flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(2 * EARLY_BATCH);
    expect([await stored(leader), await stored(follower)]).toEqual([1 + EARLY_BATCH, 1 + EARLY_BATCH]);
  });

  it('is overtaken after the maximum wait, even by a batch too small to start sooner', async () => {
    const [crowded, other] = await Promise.all(['crowd.test', 'few.test'].map(newTenant));
    if (!crowded || !other) throw new Error('a tenant is missing');
    const release = await holdVolume(crowded);
    vi.useFakeTimers({ toFake: ['performance'] });

    // Twenty begin in their turn of the event loop, a full batch follows them, and the others have to wait.
    const waiting = [many(crowded, EARLY_BATCH + FULL_BATCH), many(other, FEW)];
    expect(await stored(other)).toBe(1);
    vi.advanceTimersByTime(MAX_WAIT_MS);

    await expect.poll(async () => [await stored(crowded), await stored(other)]).toEqual([1, 1 + FEW]);
    await release();
    await Promise.all(waiting);
    expect(await stored(crowded)).toBe(1 + EARLY_BATCH + FULL_BATCH);
  });
});

describe('a batch that follows another batch on the same connection', () => {
  it('is stored even though the previous batch failed', async () => {
    const [failing, follower] = await Promise.all(['failing.test', 'after.test'].map(newTenant));
    if (!failing || !follower) throw new Error('a tenant is missing');
    await world.services.sql`
      update rate_windows set used = 995 where subject = ${failing.key_id} and class = 'send'`;

    const [outcomes, sent] = await Promise.all([
      Promise.allSettled(Array.from({ length: EARLY_BATCH }, () => send(failing))),
      many(follower),
    ]);

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(EARLY_BATCH);
    expect([await stored(failing), await stored(follower)]).toEqual([6, 1 + EARLY_BATCH]);
  });
});

describe('large submissions from one workspace', () => {
  it('leave a connection and memory for other workspaces, and wait in a queue reported in the metrics', async () => {
    const [greedy, other] = await Promise.all(['greedy.test', 'beside.test'].map(newTenant));
    if (!greedy || !other) throw new Error('a tenant is missing');
    const large = 'x'.repeat(600_000);
    const release = await holdVolume(greedy);
    const waitingNow = () =>
      services.metrics
        .read()
        .find(({ name }) => name === 'share_waiting')
        ?.points.find(({ labels }) => labels.includes('large_commits'))?.value;

    const waiting = [send(greedy, large)];
    expect(await stored(greedy)).toBe(1);
    waiting.push(send(greedy, large), send(greedy, large));
    await expect.poll(waitingNow).toBe(2);
    await send(other);
    await send(other, large);

    expect([await stored(greedy), await stored(other)]).toEqual([1, 3]);
    await release();
    await Promise.all(waiting);
    expect([await stored(greedy), waitingNow()]).toEqual([4, 0]);
  });
});
