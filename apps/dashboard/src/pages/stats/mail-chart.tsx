import { useNavigate } from '@tanstack/react-router';
import { useStore } from '../../api/store.ts';
import type { Outputs } from '../../api/trpc.ts';
import type { ChartSeries } from '../../parts/charts/chart.tsx';
import { ChartPanel, type ChartView } from '../../parts/charts/chart-panel.tsx';
import { inUtc } from '../../parts/times.tsx';
import { bucketTime, mailsOf, subtracted } from './ranges.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];

const CHART_METRICS = [
  ['accepted', 'info'],
  ['delivered', 'good'],
  ['captured', 'info'],
  ['bounced', 'bad'],
  ['deferred', 'wait'],
  ['failed', 'calm'],
] as const;

const format = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1));

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
  const pointsOf = (metric: string | null) => stats.series.find((one) => one.metric === metric)?.points ?? [];
  const series = CHART_METRICS.flatMap(([metric, tone]): ChartSeries[] => {
    const less = pointsOf(subtracted(metric));
    const values = pointsOf(metric).map(({ value }, at) => (value === null ? null : value - (less[at]?.value ?? 0)));
    return metric === 'captured' && values.every((value) => !value)
      ? []
      : [{ name: words.metrics[metric], tone, values }];
  });
  return (
    <ChartPanel
      title={words.mail}
      file="mail"
      timeWord={words.time}
      times={points.map(({ at }) => bucketTime(at, bucket, utc))}
      series={series}
      format={format}
      view={view}
      onView={onView}
      onPick={(at) => {
        const point = points[at];
        if (point) void navigate({ to: '/emails', search: { q: mailsOf(point.at, bucket) } });
      }}
    />
  );
}
