import { describe, expect, it } from 'vitest';
import { type Carried, placeToFollow } from './line-places.ts';

const NOW_MS = 1000;

const idle: Carried = { under_way: 0, at_once: true, begun_ms: NOW_MS - 1 };
const busy: Carried = { under_way: 1, at_once: true, begun_ms: NOW_MS - 24 };
const full: Carried = { ...busy, under_way: 2 };
const careful: Carried = { ...busy, at_once: false };
const hanging: Carried = { ...busy, begun_ms: NOW_MS - 25 };

describe('a batch', () => {
  it.each<[string, { size: number; at_once: boolean }, Carried[], Carried | undefined]>([
    ['of sixteen follows the commit under way', { size: 16, at_once: true }, [idle, busy], busy],
    ['of fifteen goes by itself', { size: 15, at_once: true }, [busy, idle], undefined],
    ['that is judged by the tables goes by itself', { size: 16, at_once: false }, [busy, idle], undefined],
    ['follows no commit that is judged by the tables', { size: 16, at_once: true }, [careful, idle], undefined],
    ['follows no commit that began 25 ms ago', { size: 16, at_once: true }, [hanging, idle], undefined],
    ['is no second follower', { size: 16, at_once: true }, [full, idle], undefined],
    ['follows nobody where nothing is under way', { size: 16, at_once: true }, [idle, idle], undefined],
    ['follows on the place where it may', { size: 16, at_once: true }, [full, careful, hanging, busy], busy],
  ])('%s', (_title, batch, places, expected) => {
    expect(placeToFollow(places, batch, NOW_MS)).toBe(expected);
  });
});
