import { describe, expect, it } from 'vitest';
import { EndpointLanes } from './endpoint-lanes.ts';

const ID = 'endpoint';

function openLane() {
  const lanes = new EndpointLanes<number>(() => 0);
  lanes.begin({ webhook_id: ID, workspace_id: 'workspace', holder: 'worker', job_id: 'job', retry_count: 0 });
  /** Claims the deliveries that the lane requests, and starts those that may be posted. */
  const start = () => {
    lanes.markDue();
    for (const { count } of lanes.ask(1200)) lanes.claimed(ID, Array<number>(count).fill(0), count, count);
    return lanes.start(ID).length;
  };
  const end = (count: number, succeeded: boolean) => {
    for (let index = 0; index < count; index++) {
      const dropped = lanes.ended(ID, succeeded).length;
      for (let settled = 0; settled < dropped + 1; settled++) lanes.settled(ID);
    }
  };
  return {
    start,
    end,
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

  it('an endpoint that recovers gains concurrent posts again', () => {
    const lane = openLane();
    lane.end(lane.grow(), false);
    lane.end(lane.start(), true);

    expect(lane.grow()).toBe(32);
  });
});
