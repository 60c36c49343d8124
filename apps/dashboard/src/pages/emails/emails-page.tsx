import './emails.css';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { Suspense, useEffect } from 'react';
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
import { BulkBar } from './bulk-bar.tsx';
import { LazyEmailDetail } from './detail/lazy-detail.ts';
import { SearchBar } from './search-bar.tsx';
import { parseSearch } from './search-grammar.ts';
import { words } from './strings.ts';

type Email = Outputs['emails']['list']['data'][number];

const PAGE = 50;
const none: ReadonlySet<string> = new Set();

type ListPath = '/emails' | '/emails/scheduled';

/** Lists the email of the workspace, or only what is scheduled, newest first. */
export function EmailsPage() {
  const scheduled = useShownPath() === '/emails/scheduled';
  const path: ListPath = scheduled ? '/emails/scheduled' : '/emails';
  const text = scheduled ? words.scheduled : words;
  const { q = '', open, tab = 'preview' } = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  const search = parseSearch(q);
  const selection = useSelection();
  const status = scheduled ? { status: 'scheduled' } : {};
  const list = useKeyset(trpc.emails.list, { ...search.filter, ...status, limit: PAGE });
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
        answer={scheduled ? words.scheduled.answer(list.rows?.length ?? 0, list.more) : answerOf(list.rows)}
        actions={<ComposeLink />}
      />
      <SearchBar
        filters={!scheduled}
        text={q}
        unknown={search.unknown}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text } })}
      />
      <BulkBar chosen={open === undefined ? selection.chosen : none} onDone={() => selection.replace([])} />
      <KeysetList
        label={text.title}
        list={list}
        columns={columnsOf(path)}
        idOf={idOf}
        nameOf={({ subject }) => subject || words.noSubject}
        onOpen={({ id: opened }) => void navigate({ search: (rest) => ({ ...rest, open: opened }) })}
        chosen={selection.chosen}
        onToggle={selection.toggle}
        freshWord={words.fresh}
        empty={q !== '' ? <NothingFound path={path} /> : scheduled ? <NothingScheduled /> : <FirstMail />}
      />
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
    width: '40%',
    show: ({ id, subject }) => (
      <Link className="row-link" from={path} search={(search) => ({ ...search, open: id })}>
        {subject || <span className="faint">{words.noSubject}</span>}
      </Link>
    ),
  },
  {
    name: words.columns.to,
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
  {
    name: words.columns.at,
    width: 'fit',
    less: true,
    end: true,
    show: ({ created_at }) => <RelativeTime at={created_at} />,
  },
];

function answerOf(rows: readonly Email[] | undefined): string {
  if (!rows || rows.length === 0) return words.answer.waiting;
  const bad = rows.filter(({ status }) => mailStates[status].tone === 'bad').length;
  const waits = rows.filter(({ status }) => isOpen(status)).length;
  return words.answer.loaded(rows.length, waits, bad);
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
