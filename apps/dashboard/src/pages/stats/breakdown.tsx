import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { may, useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { csvOf } from '../../parts/csv.ts';
import { saveAs } from '../../parts/download.ts';
import { Choices } from '../../parts/field.tsx';
import { type Column, type ColumnSort, List } from '../../parts/list.tsx';
import { Panel } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { type Dimension, dimensions, type Range, ranges, type Span, subtracted } from './ranges.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];

const METRICS = ['accepted', 'delivered', 'captured', 'bounced', 'deferred', 'failed', 'complained'] as const;
type Metric = (typeof METRICS)[number];
/** The dimensions available to viewers. */
const OPEN = ['domain', 'tag', 'destination', 'transport'] as const;

interface Row {
  readonly key: string | null;
  readonly counts: Readonly<Record<Metric, number>>;
}

export function Breakdown({
  span,
  range,
  by,
  onBy,
}: {
  readonly span: Span;
  readonly range: Range;
  readonly by: Dimension;
  readonly onBy: (dimension: Dimension) => void;
}) {
  const admin = may(useMe(), 'admin');
  const { bucket } = ranges[range];
  const open = OPEN.find((name) => name === by);
  const dimension = admin ? by : (open ?? 'domain');
  const forAdmin = useQuery(
    trpc.stats.series.queryOptions(
      { ...span, bucket, metrics: [...METRICS], group_by: dimension, reach: 'workspace' },
      { enabled: admin },
    ),
  );
  const forAll = useQuery(
    trpc.stats.get.queryOptions({ ...span, step: bucket, group_by: open ?? 'domain' }, { enabled: !admin }),
  );
  return (
    <Panel
      title={words.breakdown}
      bare
      actions={
        <Choices
          label={words.by}
          options={(admin ? dimensions : OPEN).map((name) => [name, words.dimensions[name]] as const)}
          value={dimension}
          onChange={onBy}
        />
      }
    >
      <QueryView query={admin ? forAdmin : forAll}>
        {(stats) => <Table rows={rowsOf(stats)} by={dimension} />}
      </QueryView>
    </Panel>
  );
}

function rowsOf(stats: Stats): readonly Row[] {
  const keys = [...new Set(stats.series.map(({ key }) => key))];
  const total = (key: string | null, metric: string | null) =>
    stats.series
      .filter((one) => one.key === key && one.metric === metric)
      .reduce((part, { points }) => points.reduce((sum, { value }) => sum + (value ?? 0), part), 0);
  const count = (key: string | null, metric: Metric) => total(key, metric) - total(key, subtracted(metric));
  return keys
    .map((key): Row => {
      // The cast is safe because the keys are the metrics.
      const counts = Object.fromEntries(METRICS.map((metric) => [metric, count(key, metric)])) as Row['counts'];
      return { key, counts };
    })
    .filter(({ counts }) => METRICS.some((metric) => counts[metric] > 0));
}

type SortKey = 'key' | Metric | Rate;

interface Cell {
  readonly name: string;
  readonly by: SortKey;
  readonly value: (row: Row) => number;
  readonly format: (value: number) => string;
  readonly less: boolean;
}

const RATES = ['delivered', 'bounced', 'complained'] as const;
type Rate = `${(typeof RATES)[number]}_rate`;

const cells: readonly Cell[] = METRICS.flatMap((metric): Cell[] => {
  const rate = RATES.find((name) => name === metric);
  return [
    {
      name: words.metrics[metric],
      by: metric,
      value: ({ counts }) => counts[metric],
      format: (value) => value.toLocaleString('en'),
      less: metric !== 'accepted' && metric !== 'bounced',
    },
    ...(rate === undefined
      ? []
      : [
          {
            name: words.rates[rate],
            by: `${rate}_rate` as const,
            value: ({ counts }: Row) => (counts.accepted === 0 ? 0 : Math.min(1, counts[rate] / counts.accepted)),
            format: (value: number) => `${(value * 100).toFixed(1)}%`,
            less: rate !== 'bounced',
          },
        ]),
  ];
});

function Table({ rows, by: dimension }: { readonly rows: readonly Row[]; readonly by: Dimension }) {
  const [sort, setSort] = useState<{ readonly by: SortKey; readonly descending: boolean }>({
    by: 'accepted',
    descending: true,
  });
  if (rows.length === 0) return <p className="body muted pad">{words.none}</p>;
  const name = words.dimensions[dimension];
  const cell = cells.find(({ by }) => by === sort.by);
  const sorted = rows.toSorted((left, right) => {
    const order = cell ? cell.value(left) - cell.value(right) : (left.key ?? '').localeCompare(right.key ?? '');
    return sort.descending ? -order : order;
  });
  const sortOf = (by: SortKey, descending_first: boolean): ColumnSort => ({
    order: sort.by !== by ? null : sort.descending ? 'descending' : 'ascending',
    onSort: () => setSort({ by, descending: sort.by === by ? !sort.descending : descending_first }),
  });
  const save = () => {
    const lines = sorted.map((row) => [row.key ?? words.others, ...cells.map(({ value }) => value(row))]);
    saveAs(`metrics-by-${dimension}.csv`, csvOf([name, ...cells.map((one) => one.name)], lines), 'text/csv');
  };
  const columns: readonly Column<Row>[] = [
    {
      name,
      sort: sortOf('key', false),
      show: ({ key }) =>
        key === null ? <span className="faint">{words.others}</span> : <strong className="mono">{key}</strong>,
    },
    ...cells.map(
      ({ name: title, by, value, format, less }): Column<Row> => ({
        name: title,
        width: 'fit',
        end: true,
        less,
        sort: sortOf(by, true),
        show: (row) => <span className={`num ${value(row) === 0 ? 'faint' : ''}`}>{format(value(row))}</span>,
      }),
    ),
  ];
  return (
    <>
      <List
        label={words.breakdown}
        columns={columns}
        rows={sorted}
        idOf={({ key }) => key ?? ''}
        nameOf={({ key }) => key ?? ''}
      />
      <div className="pad">
        <Button small label={words.saveBreakdown} onClick={save}>
          <Download size={14} />
          {words.csv}
        </Button>
      </div>
    </>
  );
}
