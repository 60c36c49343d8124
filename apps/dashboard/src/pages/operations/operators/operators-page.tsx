import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { ConfirmDialog } from '../../../parts/dialogs/confirm-dialog.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
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
  const list = useKeyset(trpc.operators.list, { limit: 100 });
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
        <ConfirmDialog
          title={words.removing.title(removing.email)}
          words={words.removing}
          run={() => client.operators.remove.mutate({ user_id: removing.id })}
          onDone={() => {
            toast(words.removed(removing.email));
            list.showFresh();
          }}
          onClose={() => setRemoving(undefined)}
        />
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
  if (add.made) return <ShowEntry entry={add.made} onClose={onClose} />;
  const submit = (form: FormData) =>
    add.run(async () => {
      const made = await client.operators.add.mutate({ email: String(form.get('email') ?? '').trim() });
      onAdded();
      return made;
    });
  return (
    <FormDialog
      title={words.adding.title}
      intro={<p>{words.adding.about}</p>}
      words={words.adding}
      error={add.error}
      busy={add.busy}
      onSubmit={submit}
      onClose={onClose}
    >
      {(problems) => (
        <Field label={words.adding.email} name="email" problem={problems.get('email')}>
          {(control) => <input {...control} className="input" type="email" autoComplete="off" required autoFocus />}
        </Field>
      )}
    </FormDialog>
  );
}
