import { rollUpStats } from '@postrider/core/stats';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { detailsOf, errorOf, openRest } from './rest-server.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld();
const rest = await openRest(world);
beforeAll(async () => {
  await world.clock.freeze(new Date(Date.UTC(2030, 4, 15, 12)));
  await world.services.sql`update roll_ups set early_until = clock_now(), final_until = clock_now()`;
  const mail = { from: 'shop@sandbox.test', subject: 'Hi', text: 'Hi' };
  const { body } = await rest.call('POST', '/email/batch', {
    body: [
      { ...mail, to: ['ada@example.com', 'bob@example.net'], tags: ['welcome'] },
      { ...mail, to: 'cy@example.com', tags: ['invoice'] },
    ],
  });
  expect(JSON.stringify(body)).not.toContain('error');
  await world.drain();
  await world.clock.advance(HOUR_MS);
  await rollUpStats(world.services);
});

/** Returns the sum of each metric, by key. */
function sums(body: Readonly<Record<string, unknown>>): Record<string, number> {
  const series = body.series as { metric: string; key: string | null; points: { value: number }[] }[];
  return Object.fromEntries(
    series.map(({ metric, key, points }) => [
      key === null ? metric : `${metric} ${key}`,
      points.reduce((sum, { value }) => sum + value, 0),
    ]),
  );
}

describe('GET /stats: 200', () => {
  it('recipients are counted per hour for the last day', async () => {
    const { status, body } = await rest.call('GET', '/stats');

    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'stats', bucket: 'hour', group_by: 'none' });
    expect(sums(body)).toEqual({
      accepted: 3,
      delivered: 3,
      captured: 3,
      relayed: 0,
      bounced: 0,
      deferred: 0,
      failed: 0,
      complained: 0,
    });
  });

  it.each([
    ['destination', { 'delivered example.com': 2, 'delivered example.net': 1 }],
    ['tag', { 'delivered welcome': 2, 'delivered invoice': 1 }],
    ['domain', { 'delivered sandbox.test': 3 }],
  ])('counts are grouped by %s', async (group_by, expected) => {
    const since = new Date(world.clock.now() - 2 * HOUR_MS).toISOString();

    const { body } = await rest.call('GET', `/stats?group_by=${group_by}&step=minute&since=${since}`);

    expect(sums(body)).toMatchObject(expected);
  });
});

describe('GET /stats: the default range', () => {
  it.each(['minute', 'hour', 'day'])('has no more %s steps than a response allows', async (step) => {
    const { status, text } = await rest.call('GET', `/stats?step=${step}&until=2030-05-15T11:30:30Z`);

    expect(status, text).toBe(200);
  });
});

describe('GET /stats: 400', () => {
  it('an unknown step or grouping is reported', async () => {
    const response = await rest.call('GET', '/stats?step=week&group_by=moon');

    expect(response.status).toBe(400);
    expect(detailsOf(response).toSorted()).toEqual(['group_by invalid_type', 'step invalid_type']);
  });

  it('invalid_range: a range with too many points for a single response is rejected', async () => {
    const response = await rest.call('GET', '/stats?step=minute&since=2030-05-01T00:00:00Z');

    expect(errorOf(response).reason).toBe('invalid_range');
  });
});

it('a range at the end of the supported calendar is rejected', async () => {
  const { status, body } = await rest.call('GET', '/stats?step=hour&until=9999-12-31T23:59:59.999Z');

  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { reason: 'invalid_range' } });
});
