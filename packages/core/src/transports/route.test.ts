import { describe, expect, it } from 'vitest';
import { type RuleBook, routeOf, transportsInUse, transportsOfSender } from './route.ts';
import type { RuleRow } from './store.ts';

const any = { workspace_id: null, from_domain: null, tag: null, priority: null, destination: null };
const rule = (conditions: Partial<RuleRow>, ...transports: string[]): RuleRow => ({
  ...any,
  ...conditions,
  transports,
});
const instance = (rules: readonly RuleRow[]): RuleBook => ({ instance: rules, own: new Map() });
const email = {
  workspace_id: 'wsp_1',
  from_domain: 'shop.example',
  tags: ['receipt', 'eu'],
  priority: 'normal',
  email: 'Ada@example.com',
} as const;

describe('the route of an email', () => {
  it('is the default transport without a rule that matches', () => {
    expect(routeOf(instance([]), email)).toEqual(['default']);
    expect(routeOf(instance([rule({ tag: 'bulk' }, 'trn_1')]), email)).toEqual(['default']);
  });

  it('is that of the first rule that matches', () => {
    expect(routeOf(instance([rule({ tag: 'bulk' }, 'trn_1'), rule({}, 'trn_2'), rule({}, 'trn_3')]), email)).toEqual([
      'trn_2',
    ]);
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
    expect(routeOf(instance([rule(conditions, 'trn_1')]), email)).toEqual([matches ? 'trn_1' : 'default']);
  });
});

describe('the rules of a workspace', () => {
  const book = (...rules: RuleRow[]): RuleBook => ({
    instance: [rule({ tag: 'eu' }, 'trn_1', 'default')],
    own: new Map([['wsp_1', rules]]),
  });

  it('come before those of the instance, for its own email', () => {
    expect(routeOf(book(rule({}, 'trn_own')), email)).toEqual(['trn_own']);
    expect(routeOf(book(rule({}, 'trn_own')), { ...email, workspace_id: 'wsp_2' })).toEqual(['trn_1', 'default']);
    expect(routeOf(book(rule({ tag: 'bulk' }, 'trn_own')), email)).toEqual(['trn_1', 'default']);
  });

  it('say with default what the rules of the instance say', () => {
    expect(routeOf(book(rule({}, 'trn_own', 'default')), email)).toEqual(['trn_own', 'trn_1', 'default']);
    expect(routeOf(book(rule({}, 'default')), email)).toEqual(['trn_1', 'default']);
  });

  it('decide what its domains use', () => {
    const used = (...rules: RuleRow[]) => [...transportsOfSender(book(...rules), email)];
    expect(used(rule({}, 'trn_own'))).toEqual(['trn_own']);
    expect(used(rule({ tag: 'bulk' }, 'trn_own'))).toEqual(['trn_own', 'trn_1', 'default']);
    expect(used(rule({ from_domain: 'other.example' }, 'trn_own'))).toEqual(['trn_1', 'default']);
  });
});

describe('the transports in use', () => {
  it('are the default one without rules', () => {
    expect([...transportsInUse([])]).toEqual(['default']);
  });

  it('end with the first rule that takes all email', () => {
    const rules = [rule({ tag: 'bulk' }, 'trn_1'), rule({}, 'trn_2', 'trn_3'), rule({}, 'trn_4')];

    expect([...transportsInUse(rules)]).toEqual(['trn_1', 'trn_2', 'trn_3']);
  });

  it('leave out the rules for other domains', () => {
    const rules = [
      rule({ workspace_id: 'wsp_2' }, 'trn_1'),
      rule({ from_domain: 'other.example' }, 'trn_2'),
      rule({ from_domain: 'shop.example', priority: 'bulk' }, 'trn_3'),
      rule({ workspace_id: 'wsp_1' }, 'trn_4'),
    ];

    expect([...transportsInUse(rules, email)]).toEqual(['trn_3', 'trn_4']);
    expect([...transportsInUse(rules)]).toEqual(['trn_1', 'trn_2', 'trn_3', 'trn_4', 'default']);
  });
});
