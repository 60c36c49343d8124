import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Eraser } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { shortId } from '../../../parts/copy.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, QueryView } from '../../../parts/states.tsx';
import { RelativeTime, spanMs } from '../../../parts/times.tsx';
import { EraseAddress } from './erase-address.tsx';
import { ErasureBadge } from './erasure-badge.tsx';
import { KeptPanel } from './kept-panel.tsx';
import { Receipt } from './receipt.tsx';
import { words } from './strings.ts';

type Erasure = Outputs['erasures']['list']['data'][number];

const idOf = ({ id }: Erasure) => id;

export function ErasuresPage() {
  const { open } = useSearch({ from: '/shell/settings/retention' });
  const navigate = useNavigate({ from: '/settings/retention' });
  const list = useKeyset(trpc.erasures.list, { limit: 50 });
  const retention = useQuery(trpc.workspaces.retention.queryOptions({}));
  const show = (id: string) => void navigate({ search: { open: id } });
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(open);
  };
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && answerOf(list.rows, list.more)}
        actions={
          <Button kind="primary" needs="admin" onClick={() => show('new')}>
            <Eraser size={15} />
            {words.create}
          </Button>
        }
      />
      <KeysetList
        label={words.list}
        list={list}
        columns={columns}
        idOf={idOf}
        nameOf={idOf}
        onOpen={({ id }) => show(id)}
        freshWord={words.fresh}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      <QueryView query={retention}>{(data) => <KeptPanel retention={data} />}</QueryView>
      {open === 'new' && <EraseAddress onClose={close} onStarted={({ id }) => show(id)} />}
      {open !== undefined && open !== 'new' && <Receipt id={open} onClose={close} />}
    </Page>
  );
}

function answerOf(rows: readonly Erasure[], has_more: boolean): string {
  const running = rows.filter(({ status }) => status !== 'completed').length;
  if (rows.length === 0) return words.answer.none;
  return running > 0 ? words.answer.running(running) : words.answer.done(rows.length, has_more);
}

const columns: readonly Column<Erasure>[] = [
  {
    name: words.columns.id,
    show: ({ id }) => (
      <Link className="row-link mono" from="/settings/retention" search={{ open: id }} title={id}>
        {shortId(id)}
      </Link>
    ),
  },
  { name: words.columns.status, width: 'fit', show: ({ status }) => <ErasureBadge status={status} /> },
  {
    name: words.columns.emails,
    width: 'fit',
    end: true,
    less: true,
    show: ({ counts }) => <span className="num">{counts.messages.toLocaleString('en')}</span>,
  },
  {
    name: words.columns.rows,
    width: 'fit',
    end: true,
    less: true,
    show: ({ counts }) => <span className="num">{rowsOf(counts).toLocaleString('en')}</span>,
  },
  {
    name: words.columns.took,
    width: 'fit',
    end: true,
    less: true,
    show: ({ created_at, finished_at }) =>
      finished_at === null ? '–' : spanMs(Date.parse(finished_at) - Date.parse(created_at)),
  },
  {
    name: words.columns.started,
    width: 'fit',
    end: true,
    show: ({ created_at }) => <RelativeTime at={created_at} />,
  },
];

function rowsOf({ bodies_kept: _, ...counts }: Erasure['counts']): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
