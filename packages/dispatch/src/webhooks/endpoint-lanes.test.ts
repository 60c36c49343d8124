import { describe, expect, it } from 'vitest';
import { EndpointLanes } from './endpoint-lanes.ts';

const ID = 'endpoint';

function openLane() {
  let now_ms = 0;
  let is_full = false;
  const lanes = new EndpointLanes<number>(
    () => now_ms,
    () => is_full,
    () => 0,
  );
  lanes.begin({ webhook_id: ID, workspace_id: 'workspace', holder: 'worker', job_id: 'job', retry_count: 0 });
  /** Claims the deliveries that the lane requests, and starts those that may be posted. */
  const start = () => {
    lanes.markDue();
    for (const { count } of lanes.ask(1200)) lanes.claimed(ID, Array<number>(count).fill(0), count, count);
    return lanes.start(ID).length;
  };
  const end = (count: number, succeeded: boolean, began_at = now_ms) => {
    for (let index = 0; index < count; index++) {
      const { dropped } = lanes.ended(ID, succeeded ? 'accepted' : 'failed', began_at);
      for (let settled = 0; settled < dropped.length + 1; settled++) lanes.settled(ID);
    }
  };
  return {
    start,
    end,
    wait(ms: number) {
      now_ms += ms;
    },
    fill() {
      is_full = true;
    },
    grow() {
      let posting = start();
      for (let round = 0; round < 10; round++) {
        end(posting, true);
        posting = start();
      }
      return posting;
    },
  };
}

describe('endpoint lanes', () => {
  it('fairness C15: an endpoint that succeeds grows from four concurrent posts to thirty-two', () => {
    const lane = openLane();

    expect(lane.start()).toBe(4);
    lane.end(4, true);
    expect(lane.start()).toBeGreaterThan(4);
    expect(openLane().grow()).toBe(32);
  });

  it('fairness C15: an endpoint that fails is reduced to one concurrent post within ten failures', () => {
    const lane = openLane();
    expect(lane.grow()).toBe(32);

    lane.end(10, false);
    expect(lane.start()).toBe(0);
    lane.end(22, false);

    expect(lane.start()).toBe(1);
    lane.end(1, false);
    expect(lane.start()).toBe(1);
  });

  it('an endpoint that fails now and then keeps its concurrent posts', () => {
    const lane = openLane();
    let posting = lane.grow();

    for (let round = 0; round < 100; round++) {
      lane.end(2, false);
      lane.end(8, true);
      posting += lane.start() - 10;
    }

    expect(posting).toBe(32);
  });

  it('posts that began before the last success and fail later cost no slot', () => {
    const lane = openLane();
    const posting = lane.grow();
    lane.wait(1000);
    lane.end(12, true);

    lane.end(20, false, 0);

    expect(lane.start()).toBe(posting);
  });

  it('a post that hangs does not keep the others of its endpoint waiting until it ends, unless endpoints need the lease', () => {
    const lane = openLane();
    const endAllBut = (hanging: number, posting: number) => {
      let count = posting - hanging;
      while (count > 0) {
        lane.end(count, true);
        count = lane.start();
      }
    };
    const posting = lane.grow();

    lane.wait(5001);
    endAllBut(1, posting);
    expect(lane.start()).toBe(0);
    lane.wait(1000);
    expect(lane.start()).toBe(31);

    lane.fill();
    endAllBut(1, posting);
    expect(lane.start()).toBe(0);
  });

  it('leases that begin together end apart', () => {
    let now_ms = 0;
    const spread = [0, 0.5];
    const lanes = new EndpointLanes<number>(
      () => now_ms,
      () => false,
      () => spread.shift() ?? 0,
    );
    for (const webhook_id of ['first', 'second'])
      lanes.begin({ webhook_id, workspace_id: 'workspace', holder: 'worker', job_id: webhook_id, retry_count: 0 });

    now_ms = 4000;

    expect(lanes.ask(1200).map(({ webhook_id }) => webhook_id)).toEqual(['first']);
    expect(lanes.release(new Map()).map(({ webhook_id }) => webhook_id)).toEqual(['second']);
  });

  it('an endpoint that recovers gains concurrent posts again', () => {
    const lane = openLane();
    lane.end(lane.grow(), false);
    lane.end(lane.start(), true);

    expect(lane.grow()).toBe(32);
  });
});
