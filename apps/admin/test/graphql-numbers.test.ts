import { createContext, invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { rollUpFailures } from '@postrider/core/failures';
import { createHold, releaseHold } from '@postrider/core/holds';
import { rollUpStats } from '@postrider/core/stats';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { openGraphql } from './graphql-server.ts';
import { refusalOf, signedIn } from './signed-in.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const world = await openWorld({ RETRY_SCHEDULE: '1h' });
const graphql = await openGraphql(world);
const admin = await openAdmin(world);
let other: { workspace_id: string; secret: string };
let since: string;
beforeAll(async () => {
  other = await world.workspace('business');
  const start = Math.ceil(world.clock.now() / HOUR_MS) * HOUR_MS;
  since = new Date(start).toISOString();
  await world.clock.freeze(new Date(start));
  await world.services.sql`update roll_ups set early_until = ${since}, final_until = ${since}`;
  world.smtp.script(({ stage, to }) =>
    stage === 'rcpt' && to.startsWith('later')
      ? { kind: 'reply', code: 451, text: '4.7.1 Not now' }
      : { kind: 'accept' },
  );
  await send(world.workspace_id, ['ada@example.com', 'later@example.com']);
  await world.drain();
  await world.clock.advance(6 * MINUTE_MS);
  await rollUpStats(world.services);
  await rollUpFailures(world.services);
});

async function send(workspace_id: string, to: readonly string[]): Promise<void> {
  const mail = { from: 'shop@sandbox.test', to, subject: 'Hello', text: 'Hi', tags: ['shop'] };
  await invoke(createContext(world.services, { kind: 'system', workspace_id }), sendMessage, mail);
}

const statsOf = `query ($since: DateTime!) {
  stats(range: { since: $since }, bucket: HOUR, metrics: [ACCEPTED, DELIVERED, ACCEPT_TO_DELIVERED_P95], groupBy: TAG) {
    metric key points { at value } completeUntil
  }
}`;
const backlogOf = `query ($reach: Reach) {
  backlog(reach: $reach) {
    dimension bucketUpperMinutes measuredAt
    rows { key total counts oldestSeconds lastReply lastSuccessAt closedUntil closedReason hold { id reason } } total { key total }
  }
}`;

describe('stats', () => {
  it('are returned as one series of points per metric and key', async () => {
    const { errors, data } = await graphql.ask(statsOf, { since });

    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      stats: [
        { metric: 'ACCEPTED', key: 'shop', points: [{ at: since, value: 2 }] },
        { metric: 'DELIVERED', key: 'shop', points: [{ at: since, value: 1 }] },
        { metric: 'ACCEPT_TO_DELIVERED_P95', key: 'shop', points: [{ at: since, value: expect.any(Number) }] },
      ],
    });
  });

  it('return an error with its reason for an invalid range', async () => {
    const { data, errors } = await graphql.ask(statsOf, { since: '2020-01-01T00:00:00Z' });

    expect(data).toBeNull();
    expect(errors[0]?.extensions).toMatchObject({ code: 'invalid_request', reason: 'invalid_range' });
  });
});

describe('numbers', () => {
  const requested = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }) =>
    (extensions.cost as { requested: number }).requested;
  const day = `range: { since: "2029-12-31T00:00:00Z", until: "2030-01-01T00:00:00Z" }`;

  it('cost one point per hundred values that a response may contain', async () => {
    const ask = (fields: string) => graphql.ask(`{ ${fields} }`);

    const plain = await ask(`stats(${day}, bucket: HOUR, metrics: [ACCEPTED]) { key }`);
    const minutes = await ask(`stats(${day}, bucket: MINUTE, metrics: [ACCEPTED, DELIVERED, BOUNCED]) { key }`);
    const grouped = await ask(
      `stats(${day}, bucket: HOUR, metrics: [ACCEPTED, DELIVERED], groupBy: TAG, top: 29) { key }`,
    );
    const groups = await ask(`failureGroups(${day}, kind: SMTP, top: 100) { id }`);
    const history = await ask(`queue(name: "delivery.attempt") { history(${day}, maxPoints: 1000) { ready } }`);

    expect([plain, minutes, grouped, groups, history].map(requested)).toEqual([2, 45, 16, 170, 16]);
  });

  it('are rejected if twenty aliases each request all of them', async () => {
    const all = `stats(${day}, bucket: MINUTE, metrics: [ACCEPTED, DELIVERED, BOUNCED, FAILED, DEFERRED], groupBy: TAG, top: 30) { key }`;
    const aliases = Array.from({ length: 20 }, (_, index) => `a${index}: ${all}`);

    const { status, errors } = await graphql.ask(`{ ${aliases.join(' ')} }`);

    expect(status).toBe(400);
    expect(errors[0]?.extensions).toMatchObject({ reason: 'query_too_complex' });
  });
});

describe('the backlog', () => {
  it('has one row per destination, by age', async () => {
    const { data, errors } = await graphql.ask(backlogOf);

    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      backlog: {
        dimension: 'DESTINATION',
        bucketUpperMinutes: [5, 10, 20, 40, 80, 160, 320, 640, null],
        rows: [
          {
            key: 'example.com',
            total: 1,
            counts: [0, 1, 0, 0, 0, 0, 0, 0, 0],
            oldestSeconds: 360,
            lastReply: '451 4.7.1 Not now',
            lastSuccessAt: since,
            closedUntil: null,
            closedReason: null,
          },
        ],
        total: { key: '', total: 1 },
      },
    });
  });

  it('shows the hold that is delaying a destination', async () => {
    const ctx = createContext(world.services, { kind: 'system', workspace_id: world.workspace_id });
    const { id } = await invoke(ctx, createHold, { scope: 'destination', value: 'example.com', reason: 'They asked' });

    const { data, errors } = await graphql.ask(backlogOf);

    expect(errors).toEqual([]);
    expect(data).toMatchObject({ backlog: { rows: [{ hold: { id, reason: 'They asked' } }] } });
    await invoke(ctx, releaseHold, { hold_id: id });
    expect((await graphql.ask(backlogOf)).data).toMatchObject({ backlog: { rows: [{ hold: null }] } });
  });

  it("covers an admin's own workspace, or the whole instance for an operator", async () => {
    const own_backlog = await graphql.ask(backlogOf, {}, { key: other.secret });
    const all = await graphql.ask(backlogOf, { reach: 'INSTANCE' });
    const response = await graphql.ask(backlogOf, { reach: 'INSTANCE' }, { key: other.secret });

    expect(own_backlog.data).toMatchObject({ backlog: { rows: [], total: { total: 0 } } });
    expect(all.data).toMatchObject({ backlog: { total: { total: 1 } } });
    expect(response.errors[0]?.extensions).toMatchObject({ reason: 'missing_scope', requiredScope: 'operator' });
  });
});

describe('failure groups', () => {
  it('include an example, the affected destinations and a history', async () => {
    const query = `query ($since: DateTime!) {
      failureGroups(range: { since: $since }, kind: SMTP) {
        id signature kind smtpCode enhancedCode sample count destinations firstSeenAt lastSeenAt trend { value }
      }
    }`;

    const { data, errors } = await graphql.ask(query, { since });

    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      failureGroups: [
        {
          id: expect.stringMatching(/^[0-9a-f]{16}$/),
          signature: '451 4.7.1 not now',
          kind: 'SMTP',
          smtpCode: 451,
          enhancedCode: '4.7.1',
          sample: '451 4.7.1 Not now',
          count: 1,
          destinations: ['example.com'],
          firstSeenAt: since,
          lastSeenAt: since,
          trend: [{ value: 1 }, { value: 0 }, { value: 0 }, { value: 0 }, { value: 0 }, { value: 0 }],
        },
      ],
    });
  });
});

describe('the dashboard', () => {
  it('receives the same numbers as GraphQL', async () => {
    const { api } = await signedIn(world, admin, 'operator');

    const series = await api.stats.series.query({ since, bucket: 'hour', metrics: ['delivered'], reach: 'instance' });
    const backlog = await api.ops.backlog.query({ by: 'tag', reach: 'instance' });
    const failures = await api.ops.failureGroups.query({ since, reach: 'instance' });

    expect(series.series).toMatchObject([{ metric: 'delivered', key: null, points: [{ at: since, value: 1 }] }]);
    expect(backlog.rows).toMatchObject([{ key: 'shop', total: 1 }]);
    expect(failures.data).toMatchObject([{ signature: '451 4.7.1 not now', count: 1 }]);
    expect(
      await refusalOf(api.stats.series.query({ since: 'x', bucket: 'hour', metrics: ['delivered'] })),
    ).toMatchObject({
      reason: 'invalid_timestamp',
    });
  });
});
