import { Download } from 'lucide-react';
import { Button } from '../button.tsx';
import { csvOf } from '../csv.ts';
import { saveAs } from '../download.ts';
import { Choices } from '../field.tsx';
import { type Column, List } from '../list.tsx';
import { Panel } from '../page.tsx';
import { words } from '../strings.ts';
import { Chart, type ChartProps } from './chart.tsx';

export type ChartView = 'chart' | 'table';

/** Shows a chart that can be viewed as a table and downloaded. */
export function ChartPanel({
  title,
  file,
  timeWord,
  view,
  onView,
  ...chart
}: Omit<ChartProps, 'label'> & {
  readonly title: string;
  /** The file name without its extension. */
  readonly file: string;
  readonly timeWord: string;
  readonly view: ChartView;
  readonly onView: (view: ChartView) => void;
}) {
  const { times, series, format } = chart;
  const save = () => {
    const rows = times.map((time, at) => [time, ...series.map(({ values }) => values[at] ?? null)]);
    saveAs(`${file}.csv`, csvOf([timeWord, ...series.map(({ name }) => name)], rows), 'text/csv');
  };
  const columns: readonly Column<number>[] = [
    { name: timeWord, width: 'fit', show: (at) => <span className="num">{times[at]}</span> },
    ...series.map(
      ({ name, values }): Column<number> => ({
        name,
        width: 'fit',
        end: true,
        show: (at) => {
          const value = values[at];
          return <span className="num">{value == null ? '–' : format(value)}</span>;
        },
      }),
    ),
  ];
  return (
    <Panel
      title={title}
      bare={view === 'table'}
      actions={
        <div className="line">
          <Choices
            label={`${title}: ${words.charts.view}`}
            options={[
              ['chart', words.charts.chart],
              ['table', words.charts.table],
            ]}
            value={view}
            onChange={onView}
          />
          <Button small label={words.charts.save(title)} onClick={save}>
            <Download size={14} />
            {words.charts.csv}
          </Button>
        </div>
      }
    >
      {view === 'chart' ? (
        <Chart label={title} {...chart} />
      ) : (
        <List
          label={title}
          columns={columns}
          rows={times.map((_, at) => at)}
          idOf={String}
          nameOf={(at) => times[at] ?? ''}
        />
      )}
    </Panel>
  );
}
