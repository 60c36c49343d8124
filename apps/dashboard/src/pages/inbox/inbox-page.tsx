import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { client, type Outputs, trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Drawer } from '../../parts/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { useAction } from '../../parts/dialogs/use-action.ts';
import { useKeyset } from '../../parts/keyset.ts';
import { type Column, FirstOf, focusRowOf, KeysetList } from '../../parts/list.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { bytes } from '../../parts/sizes.ts';
import { Empty } from '../../parts/states.tsx';
import { words as parts } from '../../parts/strings.ts';
import { RelativeTime } from '../../parts/times.tsx';
import { toast } from '../../parts/toasts.tsx';
import { waitCurl } from './as-code.ts';
import { CaptureDetail } from './capture-detail.tsx';
import { parseSearch } from './search.ts';
import { words } from './strings.ts';

type Capture = Outputs['captures']['list']['data'][number];

export function InboxPage() {
  const { q = '', open, tab = 'preview' } = useSearch({ from: '/shell/emails/test-inbox' });
  const navigate = useNavigate({ from: '/emails/test-inbox' });
  const clearing = useAction();
  const filter = parseSearch(q);
  const list = useKeyset(trpc.captures.list, { ...filter, limit: 50 });
  const close = () => {
    void navigate({ search: q === '' ? {} : { q }, replace: true });
    focusRowOf(open);
  };
  const count = list.rows?.length ?? 0;
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={count === 0 ? words.answer.about : words.answer.some(count, list.more)}
        actions={
          count > 0 && (
            <Button needs="admin" onClick={() => clearing.open('clear')}>
              <Trash2 size={15} />
              {words.clear}
            </Button>
          )
        }
      />
      <SearchField
        label={words.search.label}
        placeholder={words.search.placeholder}
        text={q}
        onChange={(text) => void navigate({ search: text === '' ? {} : { q: text } })}
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columns}
        idOf={idOf}
        nameOf={({ subject }) => subject || words.noSubject}
        onOpen={({ id }) => void navigate({ search: (search) => ({ ...search, open: id }) })}
        freshWord={words.fresh}
        empty={q === '' ? <NothingYet /> : <NothingFound />}
      />
      {open !== undefined && (
        <Drawer title={words.title} onClose={close}>
          <CaptureDetail
            id={open}
            tab={tab}
            onTab={(name) => void navigate({ search: (search) => ({ ...search, tab: name }), replace: true })}
            onGone={close}
            drawn
          />
        </Drawer>
      )}
      {clearing.action === 'clear' && (
        <FormDialog
          title={words.clearing.title}
          about={words.clearing.about}
          keep={words.clearing.keep}
          submit={words.clearing.submit}
          danger
          run={() => client.captures.clear.mutate({})}
          onDone={({ deleted }) => toast(words.clearing.done(deleted))}
          onClose={clearing.close}
        />
      )}
    </Page>
  );
}

const idOf = ({ id }: Capture) => id;

const columns: readonly Column<Capture>[] = [
  {
    name: words.columns.subject,
    width: '36%',
    show: ({ id, subject }) => (
      <Link className="row-link" from="/emails/test-inbox" search={(search) => ({ ...search, open: id })}>
        {subject || <span className="faint">{words.noSubject}</span>}
      </Link>
    ),
  },
  { name: words.columns.from, width: '24%', less: true, show: ({ sender }) => <span title={sender}>{sender}</span> },
  { name: words.columns.to, show: ({ to }) => <FirstOf all={to} more={words.more} /> },
  { name: words.columns.size, width: 'fit', less: true, end: true, show: (row) => bytes(row.size_bytes) },
  {
    name: words.columns.at,
    width: 'fit',
    end: true,
    less: true,
    show: ({ received_at }) => <RelativeTime at={received_at} />,
  },
];

function NothingYet() {
  return (
    <Empty title={words.empty.title}>
      <p>{words.empty.about}</p>
      <CodeBlock text={waitCurl('ada@example.com')} what={parts.texts.curl} />
      <Link to="/emails/new" className="button primary">
        <Plus size={15} />
        {words.empty.compose}
      </Link>
    </Empty>
  );
}

function NothingFound() {
  return (
    <Empty title={words.empty.none}>
      <p>{words.empty.noneAbout}</p>
      <Link to="/emails/test-inbox" className="button">
        {words.empty.all}
      </Link>
    </Empty>
  );
}
