import './emails.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useEffect, useMemo } from 'react';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { useKeyset, useSelection } from '../../parts/keyset.ts';
import { type Column, FirstOf, focusRowOf, KeysetList } from '../../parts/list.tsx';
import { isOpen, MailBadge, mailStates } from '../../parts/mail-status.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { Empty, Skeleton } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { RelativeTime } from '../../parts/times.tsx';
import { useShownPath } from '../../shell/trail.tsx';
import { LazyEmailDetail } from './detail/lazy-detail.ts';
import { SearchBar } from './search-bar.tsx';
import { parseSearch } from './search-grammar.ts';
import { words } from './strings.ts';

/** Only needed once a row is selected. */
const BulkBar = lazy(async () => ({ default: (await import('./bulk-bar.tsx')).BulkBar }));

type Email = Outputs['emails']['list']['data'][number];

const PAGE = 50;

type ListPath = '/emails' | '/emails/scheduled';

/** Lists the email of the workspace, or only what is scheduled, newest first. */
export function EmailsPage() {
  const scheduled = useShownPath() === '/emails/scheduled';
  const path: ListPath = scheduled ? '/emails/scheduled' : '/emails';
  const text = scheduled ? words.scheduled : words;
  const { q = '', open, tab = 'preview' } = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  // A range such as after:24h is relative to the time at which it was chosen.
  const search = useMemo(() => parseSearch(q), [q]);
  const filter = { ...search.filter, ...(scheduled && { status: 'scheduled' }) };
  const list = useKeyset(trpc.emails.list, { ...filter, limit: PAGE });
  const selection = useSelection(`${path} ${q}`, list.rows);
  const { id } = search;
  useEffect(() => {
    if (id !== null) void navigate({ to: '/emails/$id', params: { id }, replace: true });
  }, [id, navigate]);
  const close = () => {
    void navigate({ search: ({ q: query }) => (query ? { q: query } : {}), replace: true });
    focusRowOf(open);
  };
  return (
    <Page>
      <PageHeader
        title={text.title}
        answer={
          scheduled ? list.rows && words.scheduled.answer(list.rows.length, list.more) : answerOf(list.rows, list.more)
        }
        actions={<ComposeLink />}
      />
      <SearchBar
        filters={!scheduled}
        text={q}
        unknown={search.unknown}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text } })}
      />
      <KeysetList
        label={text.title}
        list={list}
        columns={columnsOf(path)}
        idOf={idOf}
        nameOf={({ subject }) => subject || words.noSubject}
        onOpen={({ id: opened }) => void navigate({ search: (rest) => ({ ...rest, open: opened }) })}
        selected={selection.selected}
        onToggle={selection.toggle}
        onToggleAll={selection.toggleAll}
        freshWord={words.fresh}
        empty={q !== '' ? <NothingFound path={path} /> : scheduled ? <NothingScheduled /> : <FirstMail />}
      />
      {open === undefined && selection.selected.size > 0 && (
        <Suspense>
          <BulkBar
            selected={selection.selected}
            matching={{
              filter,
              // A term that is not understood would match more than the search says.
              offered: search.unknown.length === 0 && selection.selected.size === list.rows?.length,
              scheduled,
            }}
            onDone={selection.clear}
          />
        </Suspense>
      )}
      {open !== undefined && (
        <Drawer title={text.title} onClose={close}>
          <Suspense fallback={<Skeleton />}>
            <LazyEmailDetail
              id={open}
              tab={tab}
              onTab={(name) => void navigate({ search: (rest) => ({ ...rest, tab: name }), replace: true })}
              drawn
            />
          </Suspense>
        </Drawer>
      )}
    </Page>
  );
}

const idOf = ({ id }: Email) => id;

const columnsOf = (path: ListPath): readonly Column<Email>[] => [
  {
    name: words.columns.status,
    width: 'fit',
    show: ({ status, captured }) => <MailBadge status={status} captured={captured} />,
  },
  {
    name: words.columns.subject,
    width: '34%',
    show: ({ id, subject, to, cc, bcc, created_at }) => (
      <>
        <Link className="row-link" from={path} search={(search) => ({ ...search, open: id })}>
          {subject || <span className="faint">{words.noSubject}</span>}
        </Link>
        <span className="below faint">
          <FirstOf all={[...to, ...cc, ...bcc]} more={words.more} /> · <RelativeTime at={created_at} />
        </span>
      </>
    ),
  },
  {
    name: words.columns.to,
    less: 'not-phone',
    show: ({ to, cc, bcc }) => <FirstOf all={[...to, ...cc, ...bcc]} more={words.more} />,
  },
  {
    name: words.columns.tags,
    width: '14%',
    less: true,
    show: ({ tags }) =>
      tags.map((tag) => (
        <span key={tag} className="chip">
          {tag}
        </span>
      )),
  },
  path === '/emails/scheduled'
    ? {
        name: words.columns.scheduled,
        width: 'fit',
        end: true,
        show: ({ scheduled_at }) => scheduled_at && <RelativeTime at={scheduled_at} upcoming />,
      }
    : {
        name: words.columns.at,
        width: 'fit',
        less: true,
        end: true,
        show: ({ created_at }) => <RelativeTime at={created_at} />,
      },
];

function answerOf(rows: readonly Email[] | undefined, more: boolean): string {
  if (!rows || rows.length === 0) return words.answer.waiting;
  const bad = rows.filter(({ status }) => mailStates[status].tone === 'bad').length;
  const waits = rows.filter(({ status }) => isOpen(status)).length;
  return words.answer.loaded(rows.length, more, waits, bad);
}

function ComposeLink() {
  return (
    <Link to="/emails/new" className="button primary">
      <Plus size={15} />
      {words.compose}
    </Link>
  );
}

function FirstMail() {
  const curl = `curl ${location.origin}/v1/email/send -H 'Authorization: Bearer <API key>' -H 'Content-Type: application/json' -d '{"from":"hello@sandbox.test","to":"you@example.com","subject":"My first email","text":"It works."}'`;
  return (
    <Empty title={words.empty.title}>
      <p>{words.empty.about}</p>
      <CodeBlock text={curl} what={parts.texts.curl} />
      <ComposeLink />
    </Empty>
  );
}

function NothingScheduled() {
  return (
    <Empty title={words.scheduled.empty.title}>
      <p>{words.scheduled.empty.about}</p>
      <ComposeLink />
    </Empty>
  );
}

function NothingFound({ path }: { readonly path: ListPath }) {
  return (
    <Empty title={words.empty.none}>
      <p>{words.empty.noneAbout}</p>
      <Link to={path} className="button">
        {words.empty.clear}
      </Link>
    </Empty>
  );
}
