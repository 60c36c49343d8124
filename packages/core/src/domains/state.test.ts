import { describe, expect, it } from 'vitest';
import { domainStates, domainTransitions, judgeProof } from './state.ts';

const DAY_MS = 86_400_000;

describe('a domain check', () => {
  it('changes no state if it fails, however long ago the last success was', () => {
    for (const state of domainStates) expect(judgeProof(state, 'unknown', 365 * DAY_MS)).toBe(null);
  });

  it('verifies any domain with correct records that is not already verified or suspended', () => {
    const verified = domainStates.filter((state) => judgeProof(state, 'right', 0) === 'verify');

    expect(verified).toEqual(['pending', 'at_risk', 'failed']);
    expect(judgeProof('verified', 'right', 0)).toBe(null);
    expect(judgeProof('suspended', 'right', 0)).toBe(null);
  });

  it('gives a verified domain 72 hours before it fails if a record is missing', () => {
    expect(judgeProof('verified', 'wrong', 0)).toBe('lose');
    expect(judgeProof('at_risk', 'wrong', 3 * DAY_MS - 1)).toBe(null);
    expect(judgeProof('at_risk', 'wrong', 3 * DAY_MS)).toBe('give_up');
  });

  it('gives a pending domain 14 days before it fails if a record is missing', () => {
    expect(judgeProof('pending', 'wrong', 14 * DAY_MS - 1)).toBe(null);
    expect(judgeProof('pending', 'wrong', 14 * DAY_MS)).toBe('give_up');
    expect(judgeProof('failed', 'wrong', 365 * DAY_MS)).toBe(null);
  });

  it('never requests a transition that the domain’s state does not allow', () => {
    for (const state of domainStates) {
      for (const proof of ['right', 'wrong', 'unknown'] as const) {
        const name = judgeProof(state, proof, 365 * DAY_MS);
        if (name) expect(domainTransitions[name].from).toContain(state);
      }
    }
  });
});
