import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Ban, MessageSquareWarning, Plus, Trash2, Undo2, UserX } from 'lucide-react';
import { type Outputs, trpc } from '../../api/trpc.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Choices } from '../../parts/field.tsx';
import { useKeyset } from '../../parts/keyset.ts';
import { type Column, KeysetList } from '../../parts/list.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { AddSuppression } from './add-suppression.tsx';
import { RemoveSuppression } from './remove-suppression.tsx';
import { words } from './strings.ts';

export type Suppression = Outputs['suppressions']['list']['data'][number];

const badges: Readonly<Record<Suppression['source'], readonly [Tone, typeof Ban, string]>> = {
  bounce: ['bad', Undo2, words.causes.bounce],
  complaint: ['wait', MessageSquareWarning, words.causes.complaint],
  manual: ['calm', UserX, words.causes.manual],
  import: ['calm', Ban, words.causes.import],
};

const sources = Object.entries(words.sources) as [keyof typeof words.sources, string][];

export function SuppressionsPage() {
  const { open, remove, source, email } = useSearch({ from: '/shell/suppressions' });
  const navigate = useNavigate({ from: '/suppressions' });
  const current = sources.find(([name]) => name === source)?.[0] ?? 'all';
  const list = useKeyset(trpc.suppressions.list, {
    limit: 100,
    ...(current !== 'all' && { source: current }),
    ...(email !== undefined && { email }),
  });
  const search = { ...(current !== 'all' && { source: current }), ...(email !== undefined && { email }) };
  const close = () => void navigate({ search, replace: true });
  const add = (
    <Button kind="primary" needs="admin" onClick={() => void navigate({ search: { ...search, open: 'new' } })}>
      <Plus size={15} />
      {words.add}
    </Button>
  );
  const count = list.rows?.length ?? 0;
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && (count === 0 ? words.answer.none : words.answer.some(count, list.more))}
        actions={add}
      />
      <Choices
        label={words.filter}
        options={sources}
        value={email === undefined ? current : null}
        onChange={(name) => void navigate({ search: name === 'all' ? {} : { source: name } })}
      />
      {email !== undefined && (
        <p className="line">
          {words.only(email)}
          <Link to="/suppressions" className="button s">
            {words.all}
          </Link>
        </p>
      )}
      <KeysetList
        label={words.title}
        list={list}
        columns={columns((address) => void navigate({ search: { ...search, remove: address } }))}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        freshWord={words.newRows}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      {open === 'new' && <AddSuppression onClose={close} />}
      {remove !== undefined && <RemoveSuppression email={remove} onClose={close} />}
    </Page>
  );
}

function columns(remove: (email: string) => void): readonly Column<Suppression>[] {
  const { email, source, reason, created, expires } = words.columns;
  return [
    { name: email, width: '28%', show: (row) => <span className="mono">{row.email}</span> },
    {
      name: source,
      width: 'fit',
      show: (row) => {
        const [tone, icon, word] = badges[row.source];
        return (
          <Badge tone={tone} icon={icon}>
            {word}
          </Badge>
        );
      },
    },
    { name: reason, less: true, show: (row) => <span title={row.reason ?? ''}>{row.reason}</span> },
    { name: created, width: 'fit', less: true, show: ({ created_at }) => <RelativeTime at={created_at} /> },
    {
      name: expires,
      width: 'fit',
      less: true,
      show: ({ expires_at }) =>
        expires_at === null ? <span className="faint">{words.never}</span> : <RelativeTime at={expires_at} upcoming />,
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => (
        <Button kind="icon plain" needs="admin" label={words.remove(row.email)} onClick={() => remove(row.email)}>
          <Trash2 size={15} />
        </Button>
      ),
    },
  ];
}
