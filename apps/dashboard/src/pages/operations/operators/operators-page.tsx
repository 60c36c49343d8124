import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { PendingInvitations } from '../../settings/members/pending-invitations.tsx';
import { DeliveryDialog } from '../../settings/members/show-delivery.tsx';
import { SignInPolicy } from '../../settings/members/sign-in-policy.tsx';
import { words } from './strings.ts';

type Operator = Outputs['operators']['list']['data'][number];

export function OperatorsPage() {
  const { open, operator, invitation } = useSearch({ from: '/shell/instance/operators' });
  const navigate = useNavigate({ from: '/instance/operators' });
  const list = useKeyset(trpc.operators.list, { limit: 100 });
  const close = () => void navigate({ search: {}, replace: true });
  const removed = open === 'remove' && list.rows?.find(({ id }) => id === operator);
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
        columns={columns(({ id }) => void navigate({ search: { open: 'remove', operator: id } }))}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        freshWord={words.fresh}
        empty={null}
      />
      <PendingInvitations
        target="instance"
        open={open}
        invitation={invitation}
        onOpen={(act, id) => void navigate({ search: { open: act, invitation: id } })}
        onClose={close}
      />
      <SignInPolicy access="instance" />
      {open === 'new' && <AddOperator onClose={close} />}
      {removed && (
        <FormDialog
          title={words.removing.title(removed.email)}
          about={words.removing.about}
          keep={words.removing.keep}
          submit={words.removing.submit}
          danger
          run={() => client.operators.remove.mutate({ user_id: removed.id })}
          onDone={() => toast(words.removed(removed.email))}
          onClose={close}
        />
      )}
    </Page>
  );
}

function columns(remove: (operator: Operator) => void): readonly Column<Operator>[] {
  return [
    {
      name: words.columns.email,
      show: ({ email, name }) => (
        <>
          <strong>{email}</strong>
          {name !== null && <span className="muted"> {name}</span>}
        </>
      ),
    },
    {
      name: words.columns.factor,
      width: 'fit',
      less: true,
      show: ({ second_factor }) => (second_factor ? words.factor.on : words.factor.off),
    },
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

function AddOperator({ onClose }: { readonly onClose: () => void }) {
  return (
    <FormDialog
      title={words.adding.title}
      about={words.adding.about}
      submit={words.adding.submit}
      run={(form) =>
        client.invitations.create.mutate({ email: String(form.get('email') ?? '').trim(), role: 'operator' })
      }
      next={({ delivery }) => <DeliveryDialog delivery={delivery} onClose={onClose} />}
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
