import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { may, useMe } from '../../api/me.ts';
import { useStore } from '../../api/store.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Sparkline } from '../../parts/charts/chart.tsx';
import { ChartPanel, type ChartView } from '../../parts/charts/chart-panel.tsx';
import { useNow } from '../../parts/clock.ts';
import { Choices } from '../../parts/field.tsx';
import { type Figure, Figures, Page, PageHeader, Panel } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { inUtc, RelativeTime } from '../../parts/times.tsx';
import { Breakdown } from './breakdown.tsx';
import { MailChart, valuesOf } from './mail-chart.tsx';
import {
  axisTime,
  bucketTime,
  type Range,
  rangeNames,
  ranges,
  type Span,
  shareOf,
  spanOf,
  subtracted,
} from './ranges.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];

const EVERY_MS = 60_000;

const format = (value: number) => (Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1));
const seconds = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;

export function StatsPage() {
  const { range = 'day', by = 'domain', view = 'chart' } = useSearch({ from: '/shell/metrics' });
  const navigate = useNavigate({ from: '/metrics' });
  const utc = useStore(inUtc);
  const span = spanOf(range, useNow(EVERY_MS), utc);
  const { bucket } = ranges[range];
  const stats = useQuery(trpc.stats.get.queryOptions({ ...span, step: bucket }));
  const canceled = useQuery(
    trpc.stats.series.queryOptions(
      { ...span, bucket, metrics: ['canceled'], reach: 'workspace' },
      { enabled: may(useMe(), 'admin') },
    ),
  );
  const onView = (name: ChartView) =>
    void navigate({
      search: ({ view: _, ...search }) => (name === 'table' ? { ...search, view: name } : search),
      replace: true,
    });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={stats.data && answerOf(stats.data, canceled.data ? sum(canceled.data, 'canceled') : 0)}
      />
      <div className="line spread">
        <Choices<Range>
          label={words.range}
          options={rangeNames.map((name) => [name, words.ranges[name]] as const)}
          value={range}
          onChange={(name) => void navigate({ search: (search) => ({ ...search, range: name }) })}
        />
        {stats.data && (
          <span className="faint small">
            {words.complete} <RelativeTime at={stats.data.complete_until} />
          </span>
        )}
      </div>
      <QueryView query={stats}>
        {(data) => (
          <>
            <Panel title={words.summary} bare>
              <Figures all={figuresOf(data)} />
            </Panel>
            <MailChart stats={data} view={view} onView={onView} />
          </>
        )}
      </QueryView>
      <Durations span={span} range={range} view={view} onView={onView} />
      <Breakdown
        span={span}
        range={range}
        by={by}
        onBy={(name) => void navigate({ search: (search) => ({ ...search, by: name }) })}
      />
    </Page>
  );
}

const FIGURES = [
  ['accepted', 'info'],
  ['delivered', 'good'],
  ['captured', 'accent'],
  ['bounced', 'bad'],
  ['complained', 'wait'],
  ['failed', 'calm'],
] as const;

/** Returns the totals with their share of what was accepted, and their course. */
function figuresOf(stats: Stats): readonly Figure[] {
  const accepted = sum(stats, 'accepted');
  const relayed = sum(stats, 'relayed');
  return FIGURES.flatMap(([metric, tone]) => {
    const total = sum(stats, metric) - sum(stats, subtracted(metric));
    if (metric === 'captured' && total === 0) return [];
    return {
      name: words.metrics[metric],
      value: format(total),
      ...(metric !== 'accepted' && accepted > 0 && { note: noteOf(metric, shareOf(total, accepted), relayed) }),
      line: <Sparkline values={valuesOf(stats, metric)} tone={tone} />,
    };
  });
}

/** Returns the share, and how many of the delivered emails a relay accepted. */
function noteOf(metric: (typeof FIGURES)[number][0], share: string, relayed: number): string {
  return metric === 'delivered' && relayed > 0 ? words.relayed(share, format(relayed)) : share;
}

function sum(stats: Stats, metric: string | null): number {
  return stats.series
    .filter((one) => one.metric === metric)
    .reduce((total, { points }) => points.reduce((part, { value }) => part + (value ?? 0), total), 0);
}

/**
 * Summarizes sending results in a sentence. The shares exclude email canceled before it was sent, which has no sending
 * result.
 */
function answerOf(stats: Stats, canceled: number): string {
  const [all = 0, done = 0, captured = 0, bounced = 0] = ['accepted', 'delivered', 'captured', 'bounced'].map(
    (metric) => sum(stats, metric),
  );
  const delivered = done - captured;
  const accepted = all - canceled;
  if (accepted <= 0) return all > 0 ? words.answer.canceled(format(all)) : words.answer.none;
  const share = (part: number) => shareOf(part, accepted);
  const { some, captured: onlyCaptured, both } = words.answer;
  if (captured === 0) return some(share(delivered), format(accepted), share(bounced));
  if (delivered === 0) return onlyCaptured(share(captured), format(accepted), share(bounced));
  return both(share(delivered), format(accepted), share(captured), share(bounced));
}

interface ViewProps {
  readonly view: ChartView;
  readonly onView: (view: ChartView) => void;
}

/** Shows durations. They are for admins only because they also reveal details about the machine. */
function Durations({ span, range, view, onView }: ViewProps & { readonly span: Span; readonly range: Range }) {
  const allowed = may(useMe(), 'admin');
  const utc = useStore(inUtc);
  const { bucket } = ranges[range];
  const input = { ...span, bucket, metrics: ['accept_to_delivered_p50', 'accept_to_delivered_p95'] } as const;
  const stats = useQuery(
    trpc.stats.series.queryOptions({ ...input, metrics: [...input.metrics], reach: 'workspace' }, { enabled: allowed }),
  );
  if (!allowed) return null;
  return (
    <QueryView query={stats}>
      {({ series: [p50, p95] }) => (
        <ChartPanel
          title={words.took}
          file="time-to-delivery"
          timeWord={words.time}
          times={(p50?.points ?? []).map(({ at }) => bucketTime(at, bucket, utc))}
          labels={(p50?.points ?? []).map(({ at }) => axisTime(at, bucket, utc, range !== 'week' && range !== 'month'))}
          series={[
            { name: words.p50, tone: 'accent', values: (p50?.points ?? []).map(({ value }) => value) },
            { name: words.p95, tone: 'wait', values: (p95?.points ?? []).map(({ value }) => value) },
          ]}
          format={seconds}
          view={view}
          onView={onView}
        />
      )}
    </QueryView>
  );
}
