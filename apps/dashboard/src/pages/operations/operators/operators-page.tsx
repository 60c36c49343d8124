import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { problemOf } from '../../../api/problem.ts';
import { client, type Outputs } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field, Form } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { useSecret } from '../../../parts/use-secret.ts';
import { ShowEntry } from '../../settings/members/show-entry.tsx';
import { words } from './strings.ts';

type Operator = Outputs['operators']['list']['data'][number];

export function OperatorsPage() {
  const { open } = useSearch({ from: '/shell/operations/operators' });
  const navigate = useNavigate({ from: '/operations/operators' });
  const [removing, setRemoving] = useState<Operator>();
  const list = useKeyset<Operator>({
    key: ['operators', 'list'],
    load: (cursor) => client.operators.list.query({ limit: 100, cursor }),
    idOf: ({ id }) => id,
    every_ms: 15_000,
  });
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && words.answer(list.rows.length)}
        actions={
          <Button kind="primary" needs="operator" onClick={() => void navigate({ search: { open: 'new' } })}>
            <Plus size={15} />
            {words.add}
          </Button>
        }
      />
      <KeysetList
        label={words.title}
        list={list}
        columns={columns(setRemoving)}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        freshWord={words.fresh}
        empty={null}
      />
      {open === 'new' && (
        <AddOperator onClose={() => void navigate({ search: {}, replace: true })} onAdded={list.showFresh} />
      )}
      {removing && (
        <RemoveOperator operator={removing} onClose={() => setRemoving(undefined)} onRemoved={list.showFresh} />
      )}
    </Page>
  );
}

function columns(remove: (operator: Operator) => void): readonly Column<Operator>[] {
  return [
    { name: words.columns.email, show: ({ email }) => <strong>{email}</strong> },
    { name: words.columns.since, width: 'fit', less: true, show: (row) => <RelativeTime at={row.created_at} /> },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => (
        <Button kind="icon plain" needs="operator" label={words.remove(row.email)} onClick={() => remove(row)}>
          <Trash2 size={15} />
        </Button>
      ),
    },
  ];
}

function AddOperator({ onClose, onAdded }: { readonly onClose: () => void; readonly onAdded: () => void }) {
  const add = useSecret<Outputs['operators']['add']>();
  const problem = add.error ? problemOf(add.error) : null;
  if (add.made) return <ShowEntry entry={add.made} onClose={onClose} />;
  const submit = (form: FormData) =>
    add.run(async () => {
      const made = await client.operators.add.mutate({ email: String(form.get('email') ?? '').trim() });
      onAdded();
      return made;
    });
  return (
    <Dialog title={words.adding.title} onClose={onClose}>
      <p>{words.adding.about}</p>
      <Form label={words.adding.title} onSubmit={submit} fault={problem}>
        {problem && problem.fields.size === 0 && <ErrorPanel error={add.error} />}
        <Field label={words.adding.email} name="email" problem={problem?.fields.get('email')}>
          {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
        </Field>
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>
            {words.adding.cancel}
          </button>
          <button type="submit" className="button primary" aria-busy={add.busy}>
            {words.adding.submit}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

function RemoveOperator({
  operator: { id, email },
  onClose,
  onRemoved,
}: {
  readonly operator: Operator;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}) {
  const remove = useMutation({
    mutationFn: () => client.operators.remove.mutate({ user_id: id }),
    onSuccess() {
      toast(words.removed(email));
      onRemoved();
      onClose();
    },
  });
  return (
    <Dialog title={words.removing.title(email)} onClose={onClose}>
      <p>{words.removing.about}</p>
      {remove.error !== null && <ErrorPanel error={remove.error} />}
      <div className="actions">
        <Button onClick={onClose}>{words.removing.cancel}</Button>
        <Button kind="danger primary" busy={remove.isPending} onClick={() => remove.mutate()}>
          {words.removing.submit}
        </Button>
      </div>
    </Dialog>
  );
}
