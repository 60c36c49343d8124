import { Link } from '@tanstack/react-router';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { useReach } from '../reach/use-reach.ts';
import { paths } from './paths.ts';
import { isRunning, RunBadge } from './run-badge.tsx';
import { words } from './strings.ts';

type Run = Outputs['ops']['bulkList']['data'][number];

const starts = [
  ['/delivery/backlog', words.empty.starts.backlog],
  ['/delivery/incidents', words.empty.starts.incidents],
  ['/emails', words.empty.starts.emails],
] as const;

export function BulkPage() {
  const reach = useReach();
  const path = paths[reach];
  const list = useKeyset(trpc.ops.bulkList, { limit: 50 });
  const running = (list.rows ?? []).filter(isRunning).length;
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && (running === 0 ? words.answer.none : words.answer.some(running))}
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columnsOf(path)}
        idOf={({ id }) => id}
        nameOf={({ action, reason }) => `${words.actions[action]} ${reason}`}
        freshWord={words.fresh}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about[reach]}</p>
            {reach === 'workspace' && (
              <p className="line">
                {starts.map(([to, label]) => (
                  <Link key={to} className="button" to={to}>
                    {label}
                  </Link>
                ))}
              </p>
            )}
          </Empty>
        }
      />
    </Page>
  );
}

const number = (name: string, show: (row: Run) => number, less = true): Column<Run> => ({
  name,
  width: 'fit',
  end: true,
  less,
  show: (row) => <span className="num">{show(row).toLocaleString('en')}</span>,
});

const columnsOf = (path: (typeof paths)[keyof typeof paths]): readonly Column<Run>[] => [
  {
    name: words.columns.action,
    width: '20%',
    show: ({ id, action }) => (
      <Link className="row-link" to={`${path}/$id` as const} params={{ id }}>
        {words.actions[action]}
      </Link>
    ),
  },
  { name: words.columns.state, width: 'fit', show: ({ status }) => <RunBadge status={status} /> },
  number(words.columns.done, ({ done }) => done, false),
  number(words.columns.failed, ({ failed }) => failed),
  number(words.columns.skipped, ({ skipped }) => skipped),
  { name: words.columns.reason, less: true, show: ({ reason }) => <span title={reason}>{reason}</span> },
  { name: words.columns.by, width: '16%', less: true, show: ({ created_by }) => created_by.name },
  { name: words.columns.at, width: 'fit', less: true, end: true, show: (row) => <RelativeTime at={row.created_at} /> },
];
