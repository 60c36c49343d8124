import { getBacklog } from '@postrider/core/backlog';
import { examineMachine } from '@postrider/core/doctor';
import { failureGroups } from '@postrider/core/failures';
import { getHealth } from '@postrider/core/health';
import { getStats, statSeries } from '@postrider/core/stats';
import { getRetention, getStorage } from '@postrider/core/storage';
import { getMonthUsage, getUsage } from '@postrider/core/usage';
import * as shapes from '../shapes.ts';
import { absent, fields, reading, type Setup, useCase } from '../use-case.ts';
import { emptySetup, hoursAhead, NO_PAGE, NO_REST, sent, withInput } from './setup.ts';

export const numbers = [
  useCase(getUsage, {
    rest: 'GET /usage',
    trpc: 'GET usage.get',
    graphql: reading('usage', {}, shapes.usage, undefined, byDate),
    given: emptySetup,
  }),
  useCase(getMonthUsage, {
    rest: NO_REST,
    trpc: NO_PAGE,
    graphql: reading('workspace', {}, `usage { ${shapes.monthUsage} }`, undefined, (response) =>
      byDate((response as { usage: unknown }).usage),
    ),
    given: emptySetup,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the usage of any workspace.') },
  }),
  useCase(getHealth, {
    rest: NO_REST,
    trpc: 'GET ops.health',
    graphql: reading('health', {}, 'status checks { name status detail advice checked_at: checkedAt }'),
    given: emptySetup,
    scope: 'admin',
    scope_on: { graphql: absent('An operator sees the health of the instance.') },
  }),
  useCase(examineMachine, {
    rest: NO_REST,
    trpc: 'GET ops.doctor',
    graphql: reading('machine', {}, shapes.checkup),
    given: emptySetup,
    // Free bytes change between the calls.
    varying: ['detail'],
  }),
  useCase(getStorage, {
    rest: NO_REST,
    trpc: 'GET ops.storage',
    graphql: reading(
      'storage',
      {},
      `${fields('database_bytes messages bytes_per_message measured messages_per_day days_until_full checked_at')}
       disk { ${fields('free_bytes total_bytes')} }
       tables { ${fields('name bytes index_bytes rows partitions kept kept_seconds setting')} }`,
    ),
    given: emptySetup,
    // Files grow between the two calls.
    varying: ['database_bytes', 'free_bytes', 'bytes', 'index_bytes', 'rows', 'messages', 'days_until_full', 'tables'],
  }),
  useCase(getRetention, {
    rest: NO_REST,
    trpc: 'GET workspaces.retention',
    graphql: reading(
      'retention',
      {},
      `kinds { ${fields('kind kept_seconds setting')} } ${fields('captured_bytes delivery transcripts request_log')}`,
    ),
    given: emptySetup,
  }),
  useCase(getBacklog, {
    rest: NO_REST,
    trpc: 'GET ops.backlog',
    graphql: reading(
      'backlog',
      { by: 'BacklogDimension', top: 'Int', reach: 'Reach' },
      shapes.backlog,
      ({ input }) => ({
        by: String(input.by).toUpperCase(),
        top: input.top,
        reach: String(input.reach).toUpperCase(),
      }),
    ),
    async given(world, workspace_id, number) {
      await sent(world, workspace_id, number);
      return { input: { by: 'destination', top: 5, reach: 'workspace' } };
    },
    scope: 'admin',
    bad: { top: 0 },
  }),
  useCase(getBacklog, {
    name: 'backlog.get of the instance',
    rest: NO_REST,
    trpc: 'GET ops.backlog',
    graphql: reading('backlog', { reach: 'Reach' }, shapes.backlog, given_reach),
    given: withInput({ reach: 'instance' }),
    scope: 'operator',
  }),
  useCase(failureGroups, {
    rest: NO_REST,
    trpc: 'GET ops.failureGroups',
    graphql: reading(
      'failureGroups',
      { range: 'TimeRange!', kind: 'FailureKind!', top: 'Int', reach: 'Reach' },
      shapes.failureGroup,
      ({ input: { since, top } }) => ({ range: { since }, kind: 'SMTP', top, reach: 'WORKSPACE' }),
      (data) => ({ data }),
    ),
    given: async (world) => ({ input: { since: hoursAhead(world, -3), kind: 'smtp', top: 5, reach: 'workspace' } }),
    scope: 'admin',
    bad: { top: 0 },
  }),
  useCase(getStats, {
    rest: 'GET /stats',
    trpc: 'GET stats.get',
    graphql: absent('GraphQL has all metrics and dimensions as stats.'),
    given: withInput({ step: 'hour', group_by: 'tag' }),
    bad: { step: 'week' },
  }),
  useCase(statSeries, {
    rest: NO_REST,
    trpc: 'GET stats.series',
    graphql: reading(
      'stats',
      { range: 'TimeRange!', bucket: 'Bucket!', metrics: '[Metric!]!', top: 'Int', reach: 'Reach' },
      shapes.statSeries,
      ({ input: { since, top } }) => ({
        range: { since },
        bucket: 'HOUR',
        metrics: ['ACCEPTED', 'DELIVERED'],
        top,
        reach: 'WORKSPACE',
      }),
      (series) => ({ series }),
    ),
    given: async (world) => ({
      input: {
        since: hoursAhead(world, -3),
        bucket: 'hour',
        metrics: ['accepted', 'delivered'],
        top: 5,
        reach: 'workspace',
      },
    }),
    scope: 'admin',
    // GraphQL returns `complete_until` for each series.
    varying: ['complete_until'],
    bad: { top: 31 },
  }),
];

function given_reach({ input }: Setup) {
  return { reach: String(input.reach).toUpperCase() };
}

function byDate(response: unknown): unknown {
  const { by_day, ...rest } = response as { by_day: readonly { at: string; value: number }[] };
  return { ...rest, by_day: by_day.map(({ at, value }) => ({ date: at.slice(0, 10), used: value })) };
}
