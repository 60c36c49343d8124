import { describe, expect, it } from 'vitest';
import { type ConnectionLoad, connectionToFollow } from './batch-connections.ts';

const NOW_MS = 1000;

const idle: ConnectionLoad = { under_way: 0, fast: true, begun_ms: NOW_MS - 1 };
const busy: ConnectionLoad = { under_way: 1, fast: true, begun_ms: NOW_MS - 24 };
const full: ConnectionLoad = { ...busy, under_way: 2 };
const slow: ConnectionLoad = { ...busy, fast: false };
const hanging: ConnectionLoad = { ...busy, begun_ms: NOW_MS - 25 };

describe('a batch', () => {
  it.each<[string, { size: number; fast: boolean }, ConnectionLoad[], ConnectionLoad | undefined]>([
    ['of sixteen follows the commit under way', { size: 16, fast: true }, [idle, busy], busy],
    ['of fifteen gets its own connection', { size: 15, fast: true }, [busy, idle], undefined],
    ['on the slow path gets its own connection', { size: 16, fast: false }, [busy, idle], undefined],
    ['does not follow a commit on the slow path', { size: 16, fast: true }, [slow, idle], undefined],
    ['does not follow a commit that began 25 ms ago', { size: 16, fast: true }, [hanging, idle], undefined],
    ['does not follow two commits', { size: 16, fast: true }, [full, idle], undefined],
    ['follows nothing when no commit is under way', { size: 16, fast: true }, [idle, idle], undefined],
    ['follows on the first connection that allows it', { size: 16, fast: true }, [full, slow, hanging, busy], busy],
  ])('%s', (_title, batch, connections, expected) => {
    expect(connectionToFollow(connections, batch, NOW_MS)).toBe(expected);
  });
});
