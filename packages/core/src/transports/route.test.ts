import { describe, expect, it } from 'vitest';
import { routeOf } from './route.ts';
import type { RuleRow } from './store.ts';

const any = { workspace_id: null, from_domain: null, tag: null, priority: null, destination: null };
const rule = (conditions: Partial<RuleRow>, ...transports: string[]): RuleRow => ({
  ...any,
  ...conditions,
  transports,
});
const email = {
  workspace_id: 'wsp_1',
  from_domain: 'shop.example',
  tags: ['receipt', 'eu'],
  priority: 'normal',
  email: 'Ada@example.com',
} as const;

describe('the route of an email', () => {
  it('is the default transport without a rule that matches', () => {
    expect(routeOf([], email)).toEqual(['default']);
    expect(routeOf([rule({ tag: 'bulk' }, 'trn_1')], email)).toEqual(['default']);
  });

  it('is that of the first rule that matches', () => {
    expect(routeOf([rule({ tag: 'bulk' }, 'trn_1'), rule({}, 'trn_2'), rule({}, 'trn_3')], email)).toEqual(['trn_2']);
  });

  it.each([
    [{ workspace_id: 'wsp_1' }, true],
    [{ workspace_id: 'wsp_2' }, false],
    [{ from_domain: 'shop.example' }, true],
    [{ from_domain: 'other.example' }, false],
    [{ tag: 'eu' }, true],
    [{ tag: 'e' }, false],
    [{ priority: 'normal' }, true],
    [{ priority: 'bulk' }, false],
    [{ destination: 'example.com' }, true],
    [{ destination: 'mail.example.com' }, false],
    [{ tag: 'eu', destination: 'example.com', workspace_id: 'wsp_1' }, true],
    [{ tag: 'eu', destination: 'example.net' }, false],
  ] as const)('follows %j: %s', (conditions, matches) => {
    expect(routeOf([rule(conditions, 'trn_1')], email)).toEqual([matches ? 'trn_1' : 'default']);
  });
});
