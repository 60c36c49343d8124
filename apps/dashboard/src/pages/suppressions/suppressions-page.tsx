import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { trpc } from '../../api/trpc.ts';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/field.tsx';
import { type Keyset, useKeyset } from '../../parts/keyset.ts';
import { type Column, focusRowOf, KeysetList } from '../../parts/list.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Empty } from '../../parts/states.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { AddSuppression } from './add-suppression.tsx';
import { RemoveSuppression } from './remove-suppression.tsx';
import { SourceBadge, type Suppression } from './source-badge.tsx';
import { words } from './strings.ts';
import { SuppressionDrawer } from './suppression-drawer.tsx';

const sources = Object.entries(words.sources) as [keyof typeof words.sources, string][];

export function SuppressionsPage() {
  const { open, remove, source, email, address } = useSearch({ from: '/shell/suppressions' });
  const navigate = useNavigate({ from: '/suppressions' });
  // A search covers every source, so that its response is about the address alone.
  const current = (email === undefined && sources.find(([name]) => name === source)?.[0]) || 'all';
  const search = email === undefined ? (current === 'all' ? {} : { source: current }) : { email };
  const list = useKeyset(trpc.suppressions.list, { limit: 100, ...search });
  const close = () => {
    void navigate({ search, replace: true });
    focusRowOf(address);
  };
  const openNew = () => void navigate({ search: { ...search, open: 'new' } });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={answerOf(list, email)}
        actions={
          <Button kind="primary" needs="admin" onClick={openNew}>
            <Plus size={15} />
            {words.add}
          </Button>
        }
      />
      <SearchField
        label={words.search.label}
        placeholder={words.search.placeholder}
        text={email ?? ''}
        onChange={(text) => void navigate({ search: text === '' ? {} : { email: text } })}
      />
      <Choices
        label={words.filter}
        options={sources}
        value={current}
        onChange={(name) => void navigate({ search: name === 'all' ? {} : { source: name } })}
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columns}
        idOf={({ email: row_email }) => row_email}
        nameOf={({ email: row_email }) => row_email}
        onOpen={(row) => void navigate({ search: { ...search, address: row.email } })}
        freshWord={words.newRows}
        empty={<Nothing email={email} filtered={current !== 'all'} onAdd={openNew} />}
      />
      {open === 'new' && <AddSuppression email={list.rows?.length === 0 ? email : undefined} onClose={close} />}
      {address !== undefined && (
        <SuppressionDrawer
          email={address}
          onRemove={() => void navigate({ search: { ...search, address, remove: address } })}
          onClose={close}
        />
      )}
      {remove !== undefined && (
        <RemoveSuppression
          email={remove}
          onRemoved={close}
          onClose={() => void navigate({ search: { ...search, ...(address && { address }) }, replace: true })}
        />
      )}
    </Page>
  );
}

function answerOf({ rows, more }: Keyset<Suppression>, email: string | undefined): string | undefined {
  if (!rows) return undefined;
  if (email !== undefined) return rows.length === 0 ? words.answer.sent(email) : words.answer.blocked(email);
  return rows.length === 0 ? words.answer.none : words.answer.some(rows.length, more);
}

function Nothing({
  email,
  filtered,
  onAdd,
}: {
  readonly email: string | undefined;
  readonly filtered: boolean;
  readonly onAdd: () => void;
}) {
  if (email !== undefined) {
    return (
      <Empty title={words.none.title(email)}>
        <p>{words.none.about}</p>
        <div className="line">
          <Button needs="admin" onClick={onAdd}>
            <Plus size={15} />
            {words.none.add}
          </Button>
          <Link to="/emails" search={{ q: `to:${email}` }} className="button">
            {words.detail.emails}
          </Link>
        </div>
      </Empty>
    );
  }
  return filtered ? (
    <Empty title={words.filtered.title}>
      <p>{words.filtered.about}</p>
      <Link to="/suppressions" className="button">
        {words.filtered.all}
      </Link>
    </Empty>
  ) : (
    <Empty title={words.empty.title}>
      <p>{words.empty.about}</p>
    </Empty>
  );
}

const columns: readonly Column<Suppression>[] = [
  {
    name: words.columns.email,
    width: '32%',
    show: ({ email, source, created_at }) => (
      <>
        <Link className="row-link mono" from="/suppressions" search={(rest) => ({ ...rest, address: email })}>
          {email}
        </Link>
        <span className="below faint">
          {words.causes[source]} · <RelativeTime at={created_at} />
        </span>
      </>
    ),
  },
  {
    name: words.columns.source,
    width: 'fit',
    less: 'not-phone',
    show: ({ source }) => <SourceBadge source={source} />,
  },
  {
    name: words.columns.reason,
    less: true,
    show: ({ reason }) => (reason === null ? <span className="faint">–</span> : <span title={reason}>{reason}</span>),
  },
  {
    name: words.columns.expires,
    width: 'fit',
    less: true,
    show: ({ expires_at }) =>
      expires_at === null ? <span className="faint">{words.never}</span> : <RelativeTime at={expires_at} upcoming />,
  },
  {
    name: words.columns.created,
    width: 'fit',
    less: 'not-phone',
    end: true,
    show: ({ created_at }) => <RelativeTime at={created_at} />,
  },
];
