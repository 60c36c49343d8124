import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { may, useMe } from '../../api/me.ts';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { csvOf } from '../../parts/csv.ts';
import { saveAs } from '../../parts/download.ts';
import { Choices } from '../../parts/field.tsx';
import { type Column, List } from '../../parts/list.tsx';
import { Panel } from '../../parts/page.tsx';
import { QueryView } from '../../parts/states.tsx';
import { type Dimension, dimensions, type Range, ranges, subtracted } from './ranges.ts';
import { words } from './strings.ts';

type Stats = Outputs['stats']['get'];

const METRICS = ['accepted', 'delivered', 'captured', 'bounced', 'deferred', 'failed', 'complained'] as const;
type Metric = (typeof METRICS)[number];
/** The dimensions available to viewers. */
const OPEN = ['domain', 'tag', 'destination'] as const;

interface Row {
  readonly key: string | null;
  readonly counts: Readonly<Record<Metric, number>>;
}

export function Breakdown({
  since,
  range,
  by,
  onBy,
}: {
  readonly since: string;
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
      { since, bucket, metrics: [...METRICS], group_by: dimension, reach: 'workspace' },
      { enabled: admin },
    ),
  );
  const forAll = useQuery(
    trpc.stats.get.queryOptions({ since, step: bucket, group_by: open ?? 'domain' }, { enabled: !admin }),
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

function Table({ rows, by: dimension }: { readonly rows: readonly Row[]; readonly by: Dimension }) {
  if (rows.length === 0) return <p className="body muted pad">{words.none}</p>;
  const name = words.dimensions[dimension];
  const save = () => {
    const cells = rows.map(({ key, counts }) => [key ?? words.others, ...METRICS.map((metric) => counts[metric])]);
    saveAs(
      `mail-by-${dimension}.csv`,
      csvOf([name, ...METRICS.map((metric) => words.metrics[metric])], cells),
      'text/csv',
    );
  };
  const columns: readonly Column<Row>[] = [
    {
      name,
      show: ({ key }) =>
        key === null ? <span className="faint">{words.others}</span> : <strong className="mono">{key}</strong>,
    },
    ...METRICS.map(
      (metric): Column<Row> => ({
        name: words.metrics[metric],
        width: 'fit',
        end: true,
        less: metric !== 'accepted' && metric !== 'bounced',
        show: ({ counts }) => <span className="num">{counts[metric].toLocaleString('en')}</span>,
      }),
    ),
  ];
  return (
    <>
      <List
        label={words.breakdown}
        columns={columns}
        rows={rows}
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
