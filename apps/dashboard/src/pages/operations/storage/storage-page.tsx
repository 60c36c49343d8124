import { useQuery } from '@tanstack/react-query';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { type Column, List } from '../../../parts/list.tsx';
import { Figures, Page, PageHeader, Panel } from '../../../parts/page.tsx';
import { bytes } from '../../../parts/sizes.ts';
import { QueryView } from '../../../parts/states.tsx';
import { span } from '../../../parts/times.tsx';
import './storage.css';
import { words } from './strings.ts';

type Storage = Outputs['ops']['storage'];
type Table = Storage['tables'][number];

const DAYS_PER_YEAR = 365;
const LONG_DAYS = 100 * DAYS_PER_YEAR;
/** Smaller tables are omitted because they occupy almost no space. */
const MIN_BYTES = 100_000;

const count = (value: number) => Math.round(value).toLocaleString('en');

export function StoragePage() {
  const storage = useQuery(trpc.ops.storage.queryOptions({}));
  return (
    <Page>
      <PageHeader title={words.title} answer={storage.data && answerOf(storage.data)} />
      <QueryView query={storage}>
        {(data) => (
          <>
            <Disk storage={data} />
            <Always tables={data.tables} />
            <Tables storage={data} />
          </>
        )}
      </QueryView>
    </Page>
  );
}

function answerOf({ disk, database_bytes, days_until_full, messages_per_day }: Storage): string {
  if (days_until_full !== null && days_until_full > LONG_DAYS) return words.answer.ages;
  if (days_until_full !== null) return words.answer.full(words.days(days_until_full));
  if (disk === null) return words.answer.elsewhere(bytes(database_bytes));
  return messages_per_day === 0 ? words.answer.idle : words.answer.never;
}

function Disk({ storage }: { readonly storage: Storage }) {
  const { disk, database_bytes, bytes_per_message, measured, messages, messages_per_day } = storage;
  const text = words.figures;
  const figures: readonly (readonly [string, string])[] = [
    [text.database, bytes(database_bytes)],
    [text.free, disk === null ? '–' : bytes(disk.free_bytes)],
    [text.stored, messages === null ? '–' : count(messages)],
    [text.perEmail, bytes(bytes_per_message)],
    [text.perDay, count(messages_per_day)],
    [text.perYear, bytes(bytes_per_message * messages_per_day * DAYS_PER_YEAR)],
  ];
  const used = disk && words.used(bytes(disk.free_bytes), bytes(disk.total_bytes));
  return (
    <Panel title={text.title} bare>
      <Figures all={figures.map(([name, value]) => ({ name, value }))} />
      <div className="pad stack-s">
        {disk && (
          <meter
            className="quota"
            aria-label={used ?? ''}
            min={0}
            max={1}
            high={0.9}
            value={1 - disk.free_bytes / disk.total_bytes}
          />
        )}
        <p className="muted small">
          {used} {measured ? words.measured : words.unmeasured(bytes(bytes_per_message))}
        </p>
      </div>
    </Panel>
  );
}

function Always({ tables }: { readonly tables: readonly Table[] }) {
  const permanent = tables.filter(({ kept }) => kept === 'always');
  const by_setting = [...Map.groupBy(permanent, ({ setting }) => setting)];
  return (
    <Panel title={words.always.title}>
      {permanent.length === 0 ? (
        <p className="muted">{words.always.none}</p>
      ) : (
        <dl className="facts">
          {by_setting.flatMap(([setting, setting_tables]) => [
            <dt key={`${setting} name`}>{bytes(setting_tables.reduce((sum, table) => sum + table.bytes, 0))}</dt>,
            <dd key={`${setting} about`}>
              <span className="mono small">{setting_tables.map(nameOf).join(', ')}</span>
              <br />
              <span className="muted small">
                {setting === null ? words.always.byDesign : words.always.setting(setting)}
              </span>
            </dd>,
          ])}
        </dl>
      )}
    </Panel>
  );
}

function Tables({ storage }: { readonly storage: Storage }) {
  const tables = storage.tables.filter((table) => table.bytes >= MIN_BYTES);
  const rest = storage.database_bytes - tables.reduce((sum, table) => sum + table.bytes, 0);
  return (
    <Panel title={words.tables} bare>
      <List
        label={words.tables}
        columns={columns(storage)}
        rows={tables}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
      />
      <p className="pad muted small">{words.rest(bytes(Math.max(0, rest)), bytes(storage.database_bytes))}</p>
    </Panel>
  );
}

/** All job tables are combined under their library's name. */
function nameOf({ name }: Table): string {
  return name === 'pgboss' ? words.jobs : name;
}

function columns({ database_bytes, messages, measured }: Storage): readonly Column<Table>[] {
  const { name, bytes: size, share, indexes, perEmail, rows, partitions, kept } = words.columns;
  const number = (head: string, show: (table: Table) => string, less = true): Column<Table> => ({
    name: head,
    width: 'fit',
    end: true,
    less,
    show: (table) => <span className="num">{show(table)}</span>,
  });
  return [
    { name, show: (table) => <strong className="mono small">{nameOf(table)}</strong> },
    number(size, (table) => bytes(table.bytes), false),
    {
      name: share,
      width: '14%',
      less: true,
      show: (table) => (
        <span className="share" aria-hidden>
          <span style={{ width: `${Math.max(1, (100 * table.bytes) / database_bytes)}%` }} />
        </span>
      ),
    },
    number(indexes, (table) => bytes(table.index_bytes)),
    ...(measured ? [number(perEmail, (table) => bytes(Math.round(table.bytes / (messages ?? 1))))] : []),
    number(rows, (table) => (table.rows === null ? '–' : count(table.rows))),
    number(partitions, (table) => (table.partitions === 0 ? '–' : String(table.partitions))),
    {
      name: kept,
      width: 'fit',
      show: (table) =>
        table.kept_seconds !== null ? (
          <span title={table.setting ?? undefined}>{span(table.kept_seconds)}</span>
        ) : (
          <span
            className={table.kept === 'trimmed' ? 'faint' : ''}
            title={table.kept === 'trimmed' ? words.trimmedAbout : (table.setting ?? undefined)}
          >
            {words.kept[table.kept === 'trimmed' ? 'trimmed' : 'always']}
          </span>
        ),
    },
  ];
}
