import { createMetrics } from '@postrider/core';
import { describe, expect, it } from 'vitest';
import type { Candidate } from './candidate.ts';
import { Lanes } from './lanes.ts';
import { LargeEmailMemory } from './large-email-memory.ts';

let serial = 0;
function candidate(lane: string, workspace_id = 'ws_1', fields: Partial<Candidate> = {}): Candidate {
  const id = `job${serial++}`;
  const data = { workspace_id, message_id: id, recipient_id: id };
  const job = { id, retry_count: 0, data };
  const mail = {
    email: `to@${lane}`,
    mode: 'live',
    from_domain: 'sender.test',
    api_key_id: null,
    tags: [],
    body_bytes: 100,
  } as const;
  return { job, lane, priority: 'normal', ...mail, due_at: new Date(0), resumed: false, ...fields };
}
const some = (count: number, lane: string, workspace_id?: string, fields?: Partial<Candidate>) =>
  Array.from({ length: count }, () => candidate(lane, workspace_id, fields));

/** Creates lanes with a clock that the test controls. */
function lanesAt(start_ms = 0) {
  let now = start_ms;
  const metrics = createMetrics();
  const memory = new LargeEmailMemory(metrics);
  return {
    lanes: new Lanes(() => now, memory),
    memory,
    waiting: () =>
      metrics
        .read()
        .find(({ name }) => name === 'share_waiting')
        ?.points.find(({ labels }) => labels[0] === 'large_emails')?.value ?? 0,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

function countByWorkspace(candidates: readonly Candidate[]): Record<string, number> {
  const groups = Map.groupBy(candidates, ({ job, body_bytes }) => `${job.data.workspace_id} ${body_bytes}`);
  return Object.fromEntries([...groups].map(([name, { length }]) => [name, length]));
}

/** Takes and starts all jobs that may run, and ends each attempt with the same result. */
function run(lanes: Lanes, count: number, result: 'taken' | 'failed' | 'answered' = 'taken'): number {
  const batch = lanes.take(count);
  for (const { lane, job } of batch) {
    const { workspace_id } = job.data;
    lanes.start(lane, {
      workspace_id,
      priority: 'normal',
      run: () => lanes.done(lane, workspace_id, result),
      refuse: () => undefined,
    });
  }
  return batch.length;
}

const lanesOf = (candidates: readonly Candidate[]) => candidates.map(({ lane }) => lane);
const workspacesOf = (candidates: readonly Candidate[]) => candidates.map(({ job }) => job.data.workspace_id);

describe('the choice of the next lane', () => {
  it('rotates among lanes, and each lane holds five emails at first', () => {
    const { lanes } = lanesAt();
    lanes.admit([...some(20, 'a'), ...some(20, 'b'), ...some(1, 'c')]);

    expect(lanesOf(lanes.take(100)).join('')).toBe('abcabababab');
    expect(lanes.take(100)).toEqual([]);
  });

  it('rotates among the workspaces in a lane', () => {
    const { lanes } = lanesAt();
    lanes.admit([...some(20, 'a', 'ws_flood'), ...some(2, 'a', 'ws_small')]);

    expect(workspacesOf(lanes.take(5))).toEqual(['ws_flood', 'ws_small', 'ws_flood', 'ws_small', 'ws_flood']);
  });

  it('resumes after the last lane served when few places are available', () => {
    const { lanes } = lanesAt();
    lanes.admit([...some(3, 'a'), ...some(3, 'b'), ...some(3, 'c')]);

    expect(lanesOf([1, 2, 3, 4, 5].flatMap(() => lanes.take(1))).join('')).toBe('abcab');
  });
});

describe('a workspace that sends to many domains on slow servers', () => {
  /** Queues messages of a workspace to `names` destinations, none of which responds. */
  function flood(lanes: Lanes, workspace_id: string, names: number): number {
    const name = (index: number) => `${workspace_id} ${index}`;
    lanes.admit(Array.from({ length: names }, (_, index) => some(5, name(index), workspace_id)).flat());
    let total = 0;
    for (let more = 1; more > 0; total += more) more = lanes.take(600 - lanes.counts().claimed).length;
    return total;
  }

  it('leaves a fifth of the places to workspaces that arrive later, however long it was alone', () => {
    const { lanes } = lanesAt();
    expect(flood(lanes, 'ws_flood', 300)).toBe(480);
    expect(lanes.take(120)).toEqual([]);

    lanes.admit(some(5, 'well', 'ws_small'));

    expect(workspacesOf(lanes.take(120))).toEqual(Array.from({ length: 5 }, () => 'ws_small'));
  });

  it('gets none of the freed places while a workspace holding fewer is waiting', () => {
    const { lanes } = lanesAt();
    expect(['ws_1', 'ws_2', 'ws_3', 'ws_4'].map((workspace_id) => flood(lanes, workspace_id, 300))).toEqual([
      480, 96, 20, 4,
    ]);
    lanes.admit(some(5, 'well', 'ws_small'));
    const order: string[] = [];

    for (let index = 0; index < 8; index++) {
      lanes.giveBack(`ws_1 ${index}`, 'ws_1');
      order.push(...workspacesOf(lanes.take(600 - lanes.counts().claimed)));
    }

    expect(order.filter((workspace_id) => workspace_id === 'ws_small')).toHaveLength(4);
    expect(order).not.toContain('ws_1');
    expect(order).not.toContain('ws_2');
  });
});

describe('a relay’s lane', () => {
  it('is the only lane until email for another lane arrives, and again once none has arrived for a while', () => {
    const { lanes, pass } = lanesAt();
    lanes.admit(some(20, 'relay'));
    expect(lanes.isAlone()).toBe(true);

    lanes.admit([...some(1, 'other', 'ws_other'), ...some(20, 'relay', 'ws_more')]);
    expect(lanes.isAlone()).toBe(false);
    pass(2000);
    lanes.admit(some(20, 'relay', 'ws_later'));

    expect(lanes.isAlone()).toBe(true);
  });
});

describe('the capacity of the only lane', () => {
  it('equals its waiting room, is zero while earlier email is parked, and is unknown beside other lanes', () => {
    const { lanes } = lanesAt();
    lanes.admit(some(100, 'relay'));
    expect(lanes.aloneCapacity('normal')).toEqual({ free: 300, most: 400 });
    lanes.setBacklog('relay', 'normal', true);
    expect(lanes.aloneCapacity('normal')).toEqual({ free: 0, most: 400 });

    lanes.admit(some(1, 'other', 'ws_other'));

    expect(lanes.aloneCapacity('normal')).toBeNull();
  });
});

describe('a destination’s lane', () => {
  it('claims as far ahead as it has recently sent, and stops claiming once it stalls', () => {
    const { lanes, pass } = lanesAt();
    lanes.admit(some(400, 'a'));
    for (let round = 0; round < 10; round++) run(lanes, 20);

    const ahead = lanes.take(1000).length;
    expect(ahead).toBeGreaterThan(100);

    pass(2000);
    expect(lanes.take(1000)).toEqual([]);
  });

  it('grows as wide as the destination allows', () => {
    const lanes = new Lanes(
      () => 0,
      new LargeEmailMemory(createMetrics()),
      (lane) => ({ width: lane === 'relay' ? 60 : 20, longest_pause_ms: 10_000 }),
    );
    const placesOf = (lane: string) => {
      lanes.admit(some(400, lane));
      for (let round = 0; round < 15; round++) run(lanes, 20);
      let sending = 0;
      for (const { job } of lanes.take(300)) {
        const { workspace_id } = job.data;
        const run = () => {
          sending += 1;
        };
        lanes.start(lane, { workspace_id, priority: 'normal', run, refuse: () => undefined });
      }
      return sending;
    };

    expect([placesOf('relay'), placesOf('strangers')]).toEqual([60, 20]);
  });

  it('never sends more concurrently than its limit, however many emails are claimed', () => {
    const { lanes } = lanesAt();
    lanes.admit(some(200, 'a'));
    for (let round = 0; round < 5; round++) run(lanes, 20);
    let sending = 0;

    for (const { lane } of lanes.take(100)) {
      lanes.start(lane, {
        workspace_id: 'ws_1',
        priority: 'normal',
        run() {
          sending += 1;
        },
        refuse: () => undefined,
      });
    }

    expect(sending).toBe(20);
  });

  it('parks email it has no room for, but not a small workspace’s few emails', () => {
    const { lanes, pass } = lanesAt();
    lanes.admit(some(1, 'a'));
    pass(2000);

    const flood = lanes.admit(some(100, 'a', 'ws_flood'));
    const small = lanes.admit(some(3, 'a', 'ws_small'));

    expect(flood.length).toBe(100 - 9);
    expect(small.length).toBe(1);
  });

  it('has separate room for each priority, and bulk email blocks no other priority', () => {
    const { lanes, pass } = lanesAt();
    lanes.admit(some(1, 'a'));
    pass(2000);

    expect(lanes.admit(some(100, 'a', 'ws_1', { priority: 'bulk' }))).toHaveLength(90);
    expect(lanes.admit(some(3, 'a', 'ws_1', { priority: 'high' }))).toEqual([]);
    expect(lanes.take(5).map(({ priority }) => priority)).toEqual(['high', 'normal', 'high', 'high', 'bulk']);
    expect(lanes.shortages()).toEqual([]);
  });

  it('unparks email in priority order', () => {
    const { lanes } = lanesAt();
    lanes.setBacklog('a', 'bulk', true);
    lanes.setBacklog('a', 'high', true);
    lanes.admit(some(400, 'a', 'ws_1', { priority: 'high', resumed: true }));

    expect(lanes.shortages()).toEqual([{ lane: 'a', priority: 'bulk', count: 400 }]);
  });

  it('preserves each workspace’s order by parking new email behind parked email', () => {
    const { lanes, pass } = lanesAt();
    lanes.admit(some(1, 'a'));
    pass(2000);
    lanes.admit(some(100, 'a', 'ws_flood'));
    lanes.take(5);

    expect(lanes.admit(some(1, 'a', 'ws_flood'))).toHaveLength(1);
    expect(lanes.admit(some(1, 'a', 'ws_flood', { resumed: true }))).toHaveLength(0);
    lanes.drained('a', { workspace_id: 'ws_flood', priority: 'normal' });
    expect(lanes.admit(some(1, 'a', 'ws_flood'))).toHaveLength(0);
  });

  it('closes after five failures: waiting email is parked, claims are rejected, and no email is admitted', () => {
    const { lanes } = lanesAt();
    lanes.admit(some(20, 'a'));
    const batch = lanes.take(5);
    let rejections = 0;
    const refuse = () => {
      rejections += 1;
    };
    for (const { lane } of batch)
      lanes.start(lane, { workspace_id: 'ws_1', priority: 'normal', run: () => undefined, refuse });

    const closings = batch.map(({ lane }) => lanes.done(lane, 'ws_1', 'failed').closed);

    expect(closings.map((closed) => closed?.left.length ?? null)).toEqual([null, null, null, null, 15]);
    expect(rejections).toBe(0);
    expect(closings.at(-1)).toMatchObject({ seconds: 1, closings: 1 });
    expect(lanes.admit(some(3, 'a'))).toHaveLength(3);
    expect(lanes.counts()).toEqual({ claimed: 0, waiting: 0 });
  });

  it('rejects email claimed ahead of its turn when it closes', () => {
    const { lanes } = lanesAt();
    lanes.admit(some(200, 'a'));
    for (let round = 0; round < 5; round++) run(lanes, 20);
    let rejections = 0;
    const refuse = () => {
      rejections += 1;
    };
    const batch = lanes.take(40);
    for (const { lane } of batch)
      lanes.start(lane, { workspace_id: 'ws_1', priority: 'normal', run: () => undefined, refuse });

    lanes.close('a', 'failing', 1);

    expect(rejections).toBe(batch.length - 20);
    expect(lanes.counts()).toEqual({ claimed: 20, waiting: 0 });
  });

  it('receives two emails after a pause, and tries only one of them at first', () => {
    const { lanes } = lanesAt();
    lanes.setBacklog('a', 'normal', true);
    lanes.close('a', 'failing', 2);
    expect(lanes.shortages()).toEqual([]);

    lanes.open('a', 2);

    expect(lanes.shortages()).toEqual([{ lane: 'a', priority: 'normal', count: 2 }]);
    lanes.admit(some(2, 'a', 'ws_1', { resumed: true }));
    expect(lanes.take(10)).toHaveLength(1);
  });

  it('respects its connection limit', () => {
    const { lanes } = lanesAt();
    lanes.setLimits((lane) => (lane === 'a' ? { connections: 2, messages_per_minute: null } : null));
    lanes.admit(some(10, 'a'));

    expect(lanes.take(10)).toHaveLength(2);
  });

  it('eventually parks email that has waited too long', () => {
    const { lanes, pass } = lanesAt();
    expect(lanes.admit(some(300, 'a'))).toEqual([]);
    lanes.take(5);

    pass(2000);
    expect(lanes.trim()).toEqual([]);
    lanes.admit(some(1, 'b'));

    // While other lanes have messages, a lane may keep twice its cap.
    expect(lanes.trim()).toHaveLength(295 - 10);
    expect(lanes.counts()).toEqual({ claimed: 5, waiting: 11 });
  });
});

describe('a job that is returned while it is still waiting', () => {
  it('waits only once, with its newest attempt', () => {
    const { lanes } = lanesAt();
    const first = candidate('a');
    lanes.admit([first]);

    lanes.admit([{ ...first, job: { ...first.job, retry_count: 1 } }]);

    expect(lanes.take(10).map(({ job }) => job.retry_count)).toEqual([1]);
  });
});

describe('turns for large emails', () => {
  const MIB = 1024 * 1024;
  const large = { body_bytes: 10 * MIB };

  it('limit one workspace’s large emails to half of the memory, and free their lane places', () => {
    const { lanes, memory } = lanesAt();
    lanes.admit([...some(10, 'a.test', 'ws_greedy', large), ...some(2, 'a.test', 'ws_other', large)]);
    lanes.admit(some(1, 'a.test', 'ws_greedy', { priority: 'high' }));

    // A lane starts with five connections.
    const batch = lanes.take(100);

    expect(countByWorkspace(batch)).toEqual({
      'ws_greedy 100': 1,
      [`ws_greedy ${10 * MIB}`]: 2,
      [`ws_other ${10 * MIB}`]: 2,
    });
    lanes.admit(some(1, 'b.test', 'ws_greedy', large));
    expect(lanes.take(100)).toEqual([]);
    const [first] = batch.filter(({ body_bytes }) => body_bytes > MIB);
    expect(memory.release(first?.job.id ?? '')).toBe(true);
    expect(memory.release(first?.job.id ?? '')).toBe(false);
    expect(lanes.take(100)).toHaveLength(1);
  });

  it('do not let large sandbox emails delay the same workspace’s live emails', () => {
    const { lanes } = lanesAt();
    lanes.admit(some(10, 'sandbox a.test', 'ws_1', { ...large, mode: 'sandbox' }));
    expect(lanes.take(100)).toHaveLength(1);

    lanes.admit(some(1, 'a.test', 'ws_1', large));

    expect(lanes.take(100)).toHaveLength(1);
  });

  it('are counted as waiting by workspace, not by email', () => {
    const { lanes, memory, waiting } = lanesAt();
    const greedy = some(10, 'a.test', 'ws_greedy', large);
    lanes.admit(greedy);
    const batch = lanes.take(100);
    expect(waiting()).toBe(1);

    memory.release(batch[0]?.job.id ?? '');

    expect(waiting()).toBe(0);
  });
});
