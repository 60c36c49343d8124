import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { metricCatalogue } from './metric-catalogue.ts';
import { createMetrics } from './metrics.ts';

const pointsOf = (metrics: ReturnType<typeof createMetrics>, name: keyof typeof metricCatalogue) =>
  metrics.read().find((reading) => reading.name === name)?.points;

it('a counter can be read by its labels', () => {
  const metrics = createMetrics();

  metrics.count('messages_accepted_total', ['rest'], 3);
  metrics.count('messages_accepted_total', ['rest']);
  metrics.count('messages_accepted_total', ['dashboard']);

  expect(pointsOf(metrics, 'messages_accepted_total')).toEqual([
    { labels: ['rest'], value: 4 },
    { labels: ['dashboard'], value: 1 },
  ]);
});

it('a value is counted in the first bucket that fits, and a larger value in the last', () => {
  const metrics = createMetrics();

  for (const seconds of [0.005, 0.006, 31]) metrics.observe('smtp_phase_seconds', ['data'], seconds);

  const [point] = pointsOf(metrics, 'smtp_phase_seconds') ?? [];
  expect(point?.value).toMatchObject({ count: 3, counts: [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] });
  expect(point?.value).toHaveProperty('sum', 31.011);
});

it('every metric is reported, including a documented metric that is still 0', () => {
  const readings = createMetrics().read();

  expect(readings.map(({ name }) => name)).toEqual(Object.keys(metricCatalogue));
  const promises = readings.find(({ name }) => name === 'invariant_violations')?.points;
  expect(promises?.map(({ labels, value }) => [...labels, value])).toEqual([
    ['delivery_without_job', 0],
    ['webhook_without_job', 0],
    ['bulk_without_job', 0],
  ]);
});

it('a metric with too many label values merges later values into one series', () => {
  const metrics = createMetrics();

  for (let number = 0; number < 10_000; number++) metrics.count('rate_limited_total', [`policy ${number}`]);

  const points = pointsOf(metrics, 'rate_limited_total') ?? [];
  expect(points).toHaveLength(501);
  expect(points.at(-1)).toEqual({ labels: ['other'], value: 9500 });
});

it('instance gauges exist only while this process publishes them', () => {
  const metrics = createMetrics();

  metrics.publish([{ name: 'holds_active', labels: ['queue'], value: 2 }]);
  const published = pointsOf(metrics, 'holds_active');
  metrics.publish(null);

  expect(published).toMatchObject([{ labels: ['queue'], value: 2 }]);
  expect(pointsOf(metrics, 'holds_active')).toEqual([]);
});

it('docs/metrics.md has a row for every metric, and no other rows', () => {
  const page = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8');

  const rows = [...page.matchAll(/^\| `postrider_(\w+)` \| (\w+) \|/gm)].map(([, name, kind]) => [name, kind]);

  expect(rows.sort()).toEqual(
    Object.entries(metricCatalogue)
      .map(([name, { kind }]) => [name, kind])
      .sort(),
  );
});
