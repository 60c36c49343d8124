import { describe, expect, it } from 'vitest';
import { isSimulatorLane, type Script, scriptOf } from './script.ts';

describe('an address’s simulator script', () => {
  it.each<[string, Script]>([
    ['delivered', { kind: 'accept' }],
    ['bounce+5.1.1', { kind: 'bounce', status: '5.1.1' }],
    ['BOUNCE+5.7.26', { kind: 'bounce', status: '5.7.26' }],
    ['bounce+5.1.10+signup-7', { kind: 'bounce', status: '5.1.10' }],
    ['defer+1', { kind: 'defer', times: 1 }],
    ['defer+100', { kind: 'defer', times: 100 }],
    ['slow+30s', { kind: 'slow', seconds: 30 }],
    ['slow+5m', { kind: 'slow', seconds: 300 }],
    ['slow+300s+a', { kind: 'slow', seconds: 300 }],
    ['drop-after-data', { kind: 'drop_after_data' }],
    ['drop-after-data+again', { kind: 'drop_after_data' }],
    ['complain', { kind: 'complain' }],
    ['complain+shop', { kind: 'complain' }],
    ['dsn+5.2.2', { kind: 'dsn', status: '5.2.2' }],
    ['ada', { kind: 'accept' }],
    ['ada+bounce', { kind: 'accept' }],
    ['bounces+5.1.1', { kind: 'accept' }],
    ['constructor', { kind: 'accept' }],
  ])('%s', (local, script) => {
    expect(scriptOf(`${local}@simulator.test`)).toEqual(script);
    expect(scriptOf(`${local}@Simulator.Test`)).toEqual(script);
  });

  it.each([
    ['bounce', 'bounce+5.1.1@simulator.test'],
    ['bounce+', 'bounce+5.1.1@simulator.test'],
    ['bounce+xyz', 'bounce+5.1.1@simulator.test'],
    ['bounce+4.2.2', 'bounce+5.1.1@simulator.test'],
    ['bounce+5.1', 'bounce+5.1.1@simulator.test'],
    ['bounce+5.1.1234', 'bounce+5.1.1@simulator.test'],
    ['defer+0', 'defer+3@simulator.test'],
    ['defer+101', 'defer+3@simulator.test'],
    ['defer+-1', 'defer+3@simulator.test'],
    ['slow', 'slow+30s@simulator.test'],
    ['slow+30', 'slow+30s@simulator.test'],
    ['slow+0s', 'slow+30s@simulator.test'],
    ['slow+301s', 'slow+30s@simulator.test'],
    ['slow+6m', 'slow+30s@simulator.test'],
    ['dsn+full', 'dsn+5.2.2@simulator.test'],
  ])('is malformed in %s, and the error shows the correct syntax', (local, example) => {
    const script = scriptOf(`${local}@simulator.test`);

    expect(script).toEqual({ kind: 'malformed', advice: expect.stringContaining(example) });
    expect(scriptOf(example).kind).not.toBe('malformed');
  });

  it.each(['bounce+5.1.1@example.com', 'defer+3@sub.simulator.test', 'slow+xyz@notsimulator.test', 'nobody'])(
    'does not exist for an address such as %s',
    (address) => {
      expect(scriptOf(address)).toEqual({ kind: 'accept' });
    },
  );
});

it.each([
  ['simulator.test', true],
  ['sandbox simulator.test', true],
  ['drop_after_data.simulator.test', true],
  ['sandbox slow.simulator.test', true],
  ['notsimulator.test', false],
  ['simulator.test.example.com', false],
  ['sandbox example.com', false],
])('the lane %s is identified as the simulator’s: %s', (lane, expected) => {
  expect(isSimulatorLane(lane)).toBe(expected);
});
