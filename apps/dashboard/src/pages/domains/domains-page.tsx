import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useProblemCount } from '../../api/problems.ts';
import { client, trpc } from '../../api/trpc.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { calls } from '../../parts/calls/api-calls.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { useKeyset } from '../../parts/keyset.ts';
import { type Column, KeysetList } from '../../parts/list.tsx';
import { Page, PageHeader } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { RelativeTime } from '../../parts/times.tsx';
import { type Domain, domainStates, failing } from './domain.ts';
import { words } from './strings.ts';

export function DomainsPage() {
  const { open } = useSearch({ from: '/shell/domains' });
  const navigate = useNavigate({ from: '/domains' });
  const list = useKeyset(trpc.domains.list, { limit: 50 });
  const add = (
    <Button kind="primary" needs="domains:write" onClick={() => void navigate({ search: { open: 'new' } })}>
      <Plus size={15} />
      {words.add}
    </Button>
  );
  const bad = useProblemCount('domain');
  const own = (list.rows ?? []).filter(({ dns_records }) => dns_records.length > 0);
  return (
    <Page>
      <PageHeader title={words.title} answer={list.rows && bad !== undefined && answerOf(own, bad)} actions={add} />
      <KeysetList
        label={words.title}
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: '/domains/$name', params: { name } })}
        freshWord={words.fresh}
        empty={null}
      />
      {list.rows && own.length === 0 && (
        <Empty title={words.empty.title}>
          <p>{words.empty.about}</p>
          {add}
        </Empty>
      )}
      {open === 'new' && <AddDomain onClose={() => void navigate({ search: {}, replace: true })} />}
    </Page>
  );
}

function answerOf(own: readonly Domain[], bad: number): string {
  if (bad > 0) return words.answer.some(bad);
  if (own.length === 0) return words.answer.none;
  const pending = own.filter(({ status }) => status === 'pending').length;
  return pending > 0 ? words.answer.pending(pending) : words.answer.all(own.length);
}

const columns: readonly Column<Domain>[] = [
  {
    name: words.columns.name,
    width: '40%',
    show: ({ name, dns_records }) => (
      <Link className="row-link" to="/domains/$name" params={{ name }}>
        {name} {dns_records.length === 0 && <span className="chip">{words.sandbox}</span>}
      </Link>
    ),
  },
  {
    name: words.columns.state,
    width: 'fit',
    show: ({ status }) => {
      const { tone, icon, word, about: description } = domainStates[status];
      return (
        <Badge tone={tone} icon={icon} title={description}>
          {word}
        </Badge>
      );
    },
  },
  {
    name: words.columns.wrong,
    show: (domain) => {
      const count = failing(domain).length;
      return count === 0 ? <span className="faint">{words.nothing}</span> : words.wrong(count);
    },
  },
  {
    name: words.columns.checked,
    width: 'fit',
    less: true,
    show: ({ last_checked_at }) =>
      last_checked_at === null ? <span className="faint">{words.never}</span> : <RelativeTime at={last_checked_at} />,
  },
  {
    name: words.columns.next,
    width: 'fit',
    less: true,
    show: ({ next_check_at }) => next_check_at && <RelativeTime at={next_check_at} upcoming />,
  },
];

function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  return (
    <FormDialog
      title={words.dialog.title}
      submit={words.dialog.submit}
      call={calls.addDomain()}
      run={(form) => client.domains.create.mutate({ name: String(form.get('name') ?? '').trim() })}
      onDone={({ name }) => void navigate({ to: '/domains/$name', params: { name } })}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={words.dialog.name} name="name" about={words.dialog.about} problem={problems.get('name')}>
          {(control) => (
            <input
              {...control}
              className="input"
              autoComplete="off"
              spellCheck={false}
              placeholder="example.com"
              required
            />
          )}
        </Field>
      )}
    </FormDialog>
  );
}
