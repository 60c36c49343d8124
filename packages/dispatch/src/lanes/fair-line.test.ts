import type { Priority } from '@postrider/core/priorities';
import { describe, expect, it } from 'vitest';
import { FairLine, type Standing } from './fair-line.ts';
import { PriorityTurns } from './turns.ts';

const line = () => new FairLine<Standing>((item) => item);
const fill = (filled: FairLine<Standing>, count: number, priority: Priority, workspace_id = 'ws_1') => {
  for (let index = 0; index < count; index++) filled.push({ workspace_id, priority });
};
const countByWorkspace = (items: readonly (Standing | null)[]) =>
  Object.fromEntries(
    [...Map.groupBy(items, (item) => `${item?.workspace_id} ${item?.priority}`)].map(([name, { length }]) => [
      name,
      length,
    ]),
  );

describe('turns by priority', () => {
  it('alternate 8 : 4 : 1 while all priorities are waiting, in each round of 13', () => {
    const turns = new PriorityTurns();

    for (let round = 0; round < 3; round++) {
      const order = Array.from({ length: 13 }, () => turns.next(() => true));
      expect(order[0]).toBe('high');
      expect(['high', 'normal', 'bulk'].map((one) => order.filter((got) => got === one).length)).toEqual([8, 4, 1]);
    }
  });

  it('go only to waiting priorities, and idle priorities save up no turns', () => {
    const turns = new PriorityTurns();

    expect(Array.from({ length: 50 }, () => turns.next((one) => one === 'bulk'))).toEqual(Array(50).fill('bulk'));
    expect(turns.next(() => true)).toBe('high');
    expect(turns.next(() => false)).toBeNull();
  });
});

describe('a queue of workspaces', () => {
  it('gives each workspace its turn, whatever its priorities', () => {
    const waiting = line();
    fill(waiting, 100, 'high', 'ws_loud');
    fill(waiting, 100, 'bulk', 'ws_quiet');

    expect(countByWorkspace(Array.from({ length: 40 }, () => waiting.shift()))).toEqual({
      'ws_loud high': 20,
      'ws_quiet bulk': 20,
    });
  });

  it('preserves the priority turns of a temporarily blocked workspace', () => {
    const waiting = line();
    fill(waiting, 100, 'bulk');
    fill(waiting, 50, 'high');

    const served = Array.from({ length: 18 }, () => {
      waiting.shift(() => false);
      return waiting.shift();
    });

    expect(countByWorkspace(served)).toEqual({ 'ws_1 high': 16, 'ws_1 bulk': 2 });
  });

  it('lets high-priority email overtake a bulk backlog, which still makes progress', () => {
    const waiting = line();
    fill(waiting, 100, 'bulk');
    fill(waiting, 50, 'high');

    const first = Array.from({ length: 18 }, () => waiting.shift());

    expect(first[0]?.priority).toBe('high');
    expect(countByWorkspace(first)).toEqual({ 'ws_1 high': 16, 'ws_1 bulk': 2 });
  });

  it('skips a workspace that is not currently allowed a turn', () => {
    const waiting = line();
    fill(waiting, 2, 'normal', 'ws_full');
    fill(waiting, 2, 'normal', 'ws_2');

    expect(waiting.shift((workspace_id) => workspace_id !== 'ws_full')?.workspace_id).toBe('ws_2');
    expect(waiting.shift(() => false)).toBeNull();
    expect(waiting.length).toBe(3);
  });

  it('drops the last email of the workspace with the most email', () => {
    const waiting = line();
    fill(waiting, 5, 'bulk', 'ws_1');
    fill(waiting, 3, 'bulk', 'ws_2');
    fill(waiting, 9, 'high', 'ws_3');

    expect(waiting.popLongest('bulk', 0)?.workspace_id).toBe('ws_1');
    expect(waiting.popLongest('bulk', 4)).toBeNull();
    expect(waiting.popLongest('normal', 0)).toBeNull();
    expect([waiting.countOf('bulk'), waiting.countOf('high'), waiting.length]).toEqual([7, 9, 16]);
    expect(waiting.empty()).toHaveLength(16);
    expect(waiting.length).toBe(0);
  });
});
