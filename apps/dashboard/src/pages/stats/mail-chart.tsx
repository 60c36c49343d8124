import { useNavigate } from '@tanstack/react-router';
import { useStore } from '../../api/store.ts';
import type { Outputs } from '../../api/trpc.ts';
import type { ChartSeries } from '../../parts/charts/chart.tsx';
import { ChartPanel, type ChartView } from '../../parts/charts/chart-panel.tsx';
import { inUtc } from '../../parts/times.tsx';
import { axisTime, bucketTime, emailSearch, isWithinDay, subtracted } from './ranges.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];

/** The outcomes add up; accepted and deferred emails are also counted by a later outcome. */
const CHART_METRICS = [
  ['accepted', 'info', true],
  ['delivered', 'good', false],
  ['captured', 'accent', false],
  ['bounced', 'bad', false],
  ['failed', 'calm', false],
  ['deferred', 'wait', true],
] as const;

const format = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1));

/** Returns the values of a metric over time, in which each email has one outcome. */
export function valuesOf(stats: Stats, metric: string): readonly (number | null)[] {
  const pointsOf = (name: string | null) => stats.series.find((one) => one.metric === name)?.points ?? [];
  const less = pointsOf(subtracted(metric));
  return pointsOf(metric).map(({ value }, at) => (value === null ? null : value - (less[at]?.value ?? 0)));
}

export function MailChart({
  stats,
  view,
  onView,
}: {
  readonly stats: Stats;
  readonly view: ChartView;
  readonly onView: (view: ChartView) => void;
}) {
  const navigate = useNavigate();
  const utc = useStore(inUtc);
  const { bucket } = stats;
  const points = stats.series[0]?.points ?? [];
  const series = CHART_METRICS.flatMap(([metric, tone, is_listed]): ChartSeries[] => {
    const values = valuesOf(stats, metric);
    return metric === 'captured' && values.every((value) => !value)
      ? []
      : [{ name: words.metrics[metric], tone, values, is_listed }];
  });
  const within_day = isWithinDay(points[0]?.at, points.at(-1)?.at);
  return (
    <ChartPanel
      title={words.mail}
      file="outcomes"
      timeWord={words.time}
      form="bars"
      times={points.map(({ at }) => bucketTime(at, bucket, utc))}
      labels={points.map(({ at }) => axisTime(at, bucket, utc, within_day))}
      series={series}
      format={format}
      view={view}
      onView={onView}
      onPick={(at) => {
        const point = points[at];
        if (point) void navigate({ to: '/emails', search: { q: emailSearch(point.at, bucket) } });
      }}
    />
  );
}
