import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CircleAlert, TriangleAlert } from 'lucide-react';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { useKeyset } from '../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList, List } from '../../parts/list.tsx';
import { Page, PageHeader, Panel } from '../../parts/page.tsx';
import { Empty, QueryView } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { RelativeTime, spanMs } from '../../parts/times.tsx';
import { answerOf } from './answer.ts';
import { RequestDrawer } from './request-drawer.tsx';
import { words } from './strings.ts';

type Request = Outputs['requests']['list']['data'][number];
type Group = Outputs['requests']['groups']['data'][number];

export function RequestsPage() {
  const { reason, open } = useSearch({ from: '/shell/logs' });
  const navigate = useNavigate({ from: '/logs' });
  const groups = useQuery(trpc.requests.groups.queryOptions({}));
  const list = useKeyset(trpc.requests.list, { limit: 50, ...(reason && { reason }) });
  const close = () => {
    void navigate({ search: reason ? { reason } : {}, replace: true });
    focusRowOf(open);
  };
  const rows = groups.data?.data ?? [];
  return (
    <Page>
      <PageHeader title={words.title} answer={groups.data && answerOf(groups.data)} />
      {rows.length > 0 && (
        <Panel title={words.groups} bare>
          <QueryView query={groups}>
            {({ data }) => (
              <List
                label={words.groups}
                columns={groupColumns}
                rows={data}
                idOf={(row) => `${row.reason} ${row.method} ${row.path}`}
                nameOf={(row) => row.reason}
                onOpen={(row) => void navigate({ search: { reason: row.reason } })}
              />
            )}
          </QueryView>
        </Panel>
      )}
      {reason !== undefined && (
        <div className="line">
          <span className="chip">
            {words.only} {reason}
          </span>
          <Button small onClick={() => void navigate({ search: {} })}>
            {words.all}
          </Button>
        </div>
      )}
      <KeysetList
        label={words.each}
        list={list}
        columns={columns}
        idOf={idOf}
        nameOf={(row) => `${row.reason} ${row.path}`}
        onOpen={({ id }) => void navigate({ search: (search) => ({ ...search, open: id }) })}
        freshWord={words.fresh}
        empty={reason === undefined ? <NothingYet /> : <NothingFound />}
      />
      {open !== undefined && <RequestDrawer id={open} onClose={close} />}
    </Page>
  );
}

const idOf = ({ id }: Request) => id;

const groupColumns: readonly Column<Group>[] = [
  {
    name: words.groupColumns.reason,
    width: '30%',
    show: ({ reason }) => (
      <Link className="row-link mono" from="/logs" search={{ reason }}>
        {reason}
      </Link>
    ),
  },
  {
    name: words.groupColumns.route,
    show: ({ method, path }) => (
      <span className="mono small">
        {method} {path}
      </span>
    ),
  },
  { name: words.groupColumns.last, width: 'fit', less: true, show: ({ last_at }) => <RelativeTime at={last_at} /> },
  {
    name: words.groupColumns.count,
    width: 'fit',
    end: true,
    show: ({ count }) => <span className="num">{count.toLocaleString('en')}</span>,
  },
];

export function StatusBadge({ status }: { readonly status: number }) {
  return status >= 500 ? (
    <Badge tone="bad" icon={CircleAlert}>
      {String(status)}
    </Badge>
  ) : (
    <Badge tone="wait" icon={TriangleAlert}>
      {String(status)}
    </Badge>
  );
}

const columns: readonly Column<Request>[] = [
  { name: words.columns.status, width: 'fit', show: ({ status }) => <StatusBadge status={status} /> },
  {
    name: words.columns.reason,
    width: '20%',
    show: ({ id, reason }) => (
      <Link className="row-link mono" from="/logs" search={(search) => ({ ...search, open: id })}>
        {reason}
      </Link>
    ),
  },
  {
    name: words.columns.route,
    width: '22%',
    less: true,
    show: ({ method, path }) => (
      <span className="mono small">
        {method} {path}
      </span>
    ),
  },
  { name: words.columns.message, less: true, show: ({ message }) => <span title={message}>{message}</span> },
  { name: words.columns.took, width: 'fit', end: true, less: true, show: (row) => spanMs(row.duration_ms) },
  { name: words.columns.at, width: 'fit', end: true, show: ({ at }) => <RelativeTime at={at} /> },
];

function NothingYet() {
  return (
    <Empty title={words.empty.title}>
      <p>{words.empty.about}</p>
      <CodeBlock
        text={`curl ${location.origin}/v1/email/send -H 'Authorization: Bearer <API key>' -H 'Content-Type: application/json' -d '{"from":"hello@sandbox.test","to":"ada","subject":"Hello","text":"It works."}'`}
        what={parts.texts.curl}
      />
    </Empty>
  );
}

function NothingFound() {
  return (
    <Empty title={words.empty.none}>
      <p>{words.empty.noneAbout}</p>
      <Link to="/logs" className="button">
        {words.all}
      </Link>
    </Empty>
  );
}
