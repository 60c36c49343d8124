import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Download, ShieldCheck } from 'lucide-react';
import { useMemo } from 'react';
import { useStore } from '../../../api/store.ts';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Id } from '../../../parts/copy.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, ErrorPanel, Notice } from '../../../parts/states.tsx';
import { inUtc, RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { type Reach, useReach } from '../../operations/reach/use-reach.ts';
import { actionWord } from './action-words.ts';
import { AuditFilters } from './audit-filters.tsx';
import { summaryOf } from './diff.ts';
import { EntryDrawer } from './entry-drawer.tsx';
import { exportEntries } from './export-entries.ts';
import { filterOf, isFiltered } from './filter.ts';
import { readSearch } from './search.ts';
import { words } from './strings.ts';
import { useActors } from './use-actors.ts';

type Entry = Outputs['audit']['list']['data'][number];
type Verification = Outputs['audit']['verify'];

const paths = { workspace: '/settings/audit-log', instance: '/instance/audit-log' } as const;

export function AuditPage() {
  const chain = useReach();
  const search = useSearch({ from: `/shell${paths[chain]}` });
  const { open, ...filters } = search;
  const navigate = useNavigate({ from: paths[chain] });
  // The filters are new objects with every render.
  const selection = JSON.stringify(filters);
  const filter = useMemo(() => filterOf(chain, JSON.parse(selection)), [chain, selection]);
  const list = useKeyset(trpc.audit.list, { limit: 100, ...filter });
  const actors = useActors(chain, list.rows ?? [], filters.actor);
  const entry = list.rows?.find(({ id }) => id === open);
  const close = () => {
    void navigate({ search: filters, replace: true });
    focusRowOf(open);
  };
  const verify = useMutation({ mutationFn: () => client.audit.verify.query({ chain }) });
  const save = useMutation({
    mutationFn: () => exportEntries(filter),
    onSuccess: ({ count, complete }) => complete && toast(words.exporting.done(count)),
  });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={words.answer[chain]}
        actions={
          <>
            <Button onClick={() => save.mutate()} busy={save.isPending}>
              <Download size={15} />
              {words.exporting.submit}
            </Button>
            <Button onClick={() => verify.mutate()} busy={verify.isPending}>
              <ShieldCheck size={15} />
              {words.verify}
            </Button>
          </>
        }
      />
      {verify.error !== null && <ErrorPanel error={verify.error} />}
      {verify.data && <VerificationResult result={verify.data} />}
      {save.error !== null && <ErrorPanel error={save.error} />}
      {save.data?.complete === false && (
        <Notice tone="wait" alert>
          <p>{words.exporting.stopped(save.data.count)}</p>
        </Notice>
      )}
      <AuditFilters
        path={paths[chain]}
        search={filters}
        actors={actors}
        onChange={(change) => void navigate({ search: readSearch({ ...filters, ...change }) })}
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columnsOf(paths[chain])}
        idOf={({ id }) => id}
        nameOf={({ action, target_id }) => `${actionWord(action)} ${target_id}`}
        freshWord={words.newRows}
        onOpen={({ id }) => void navigate({ search: { ...filters, open: id } })}
        empty={<NoEntries word={isFiltered(filters) ? 'none' : filters.kind === 'reads' ? 'noReads' : 'empty'} />}
      />
      {entry && <EntryDrawer entry={entry} onClose={close} />}
    </Page>
  );
}

function NoEntries({ word }: { readonly word: 'none' | 'noReads' | 'empty' }) {
  return (
    <Empty title={words[word].title}>
      <p>{words[word].about}</p>
    </Empty>
  );
}

function VerificationResult({ result }: { readonly result: Verification }) {
  const { broken, complete, verified, length } = result;
  if (broken) {
    return (
      <Notice tone="bad" alert>
        <p>{words.broken(broken.sequence, broken.problem)}</p>
      </Notice>
    );
  }
  return (
    <Notice tone="good">
      <p>{complete ? words.verified(length) : words.partly(verified, length)}</p>
    </Notice>
  );
}

const { at, actor, action, change, target: targetWord, via, reason } = words.columns;
const columnsOf = (path: (typeof paths)[Reach]): readonly Column<Entry>[] => [
  { name: at, width: 'fit', show: (row) => <RelativeTime at={row.at} /> },
  { name: actor, width: '18%', less: true, show: (row) => <span title={row.actor.id}>{row.actor.name}</span> },
  {
    name: action,
    width: '20%',
    show: (row) => (
      <Link
        className="row-link"
        from={path}
        search={({ open: _, ...search }) => ({ ...search, open: row.id })}
        title={row.action}
      >
        {actionWord(row.action)}
      </Link>
    ),
  },
  { name: change, less: true, show: (row) => <Summary entry={row} /> },
  { name: targetWord, width: 'fit', show: (row) => <Id id={row.target_id} /> },
  {
    name: reason,
    width: '16%',
    less: 'unless-wide',
    show: (row) => <span title={row.reason ?? ''}>{row.reason}</span>,
  },
  { name: via, width: 'fit', less: 'unless-wide', show: (row) => <span className="chip">{row.via}</span> },
];

function Summary({ entry }: { readonly entry: Entry }) {
  const text = summaryOf(entry.diff, useStore(inUtc));
  return <span title={text ?? ''}>{text}</span>;
}
