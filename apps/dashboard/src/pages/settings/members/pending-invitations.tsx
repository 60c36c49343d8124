import { Ellipsis } from 'lucide-react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { DeliveryDialog } from './show-delivery.tsx';
import { words as page } from './strings.ts';

type Invitation = Outputs['invitations']['list']['data'][number];
type Target = 'workspace' | 'instance';
type Act = 'resend' | 'revoke';

const words = page.pending;

/** Lists pending invitations. Shows nothing if there are none. */
export function PendingInvitations({
  target,
  open,
  invitation,
  onOpen,
  onClose,
}: {
  readonly target: Target;
  /** The search parameters of the page. */
  readonly open: string | undefined;
  readonly invitation: string | undefined;
  readonly onOpen: (act: Act, id: string) => void;
  readonly onClose: () => void;
}) {
  const list = useKeyset(trpc.invitations.list, { limit: 100, target });
  const { id = '', email = '' } = list.rows?.find((row) => row.id === invitation) ?? {};
  if (list.rows?.length === 0) return null;
  return (
    <section className="stack-s">
      <h2>{words.title}</h2>
      <KeysetList
        label={words.title}
        list={list}
        columns={columns(target, onOpen)}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        freshWord={page.fresh}
        empty={null}
      />
      {open === 'resend' && id !== '' && (
        <FormDialog
          title={words.resending.title(email)}
          about={words.resending.about}
          submit={words.resending.submit}
          run={() => client.invitations.resend.mutate({ id, target })}
          next={(delivery) => <DeliveryDialog delivery={delivery} onClose={onClose} />}
          onClose={onClose}
        />
      )}
      {open === 'revoke' && id !== '' && (
        <FormDialog
          title={words.revoking.title(email)}
          about={words.revoking.about}
          keep={words.revoking.keep}
          submit={words.revoking.submit}
          danger
          run={() => client.invitations.revoke.mutate({ id, target })}
          onDone={() => toast(words.revoking.done(email))}
          onClose={onClose}
        />
      )}
    </section>
  );
}

function columns(target: Target, choose: (act: Act, id: string) => void): readonly Column<Invitation>[] {
  const role: Column<Invitation> = {
    name: page.columns.role,
    width: 'fit',
    show: (row) => (row.role === 'operator' ? page.operator : page.roles[row.role][0]),
  };
  return [
    { name: page.columns.email, show: ({ email }) => <strong>{email}</strong> },
    ...(target === 'workspace' ? [role] : []),
    { name: words.by, width: 'fit', less: true, show: ({ invited_by }) => invited_by },
    { name: words.expires, width: 'fit', show: (row) => <RelativeTime at={row.expires_at} upcoming /> },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (invitation) => (
        <Menu label={words.actions(invitation.email)} className="button plain icon" button={<Ellipsis size={16} />}>
          <MenuItem onSelect={() => choose('resend', invitation.id)}>{words.resend}</MenuItem>
          <hr />
          <MenuItem onSelect={() => choose('revoke', invitation.id)}>{words.revoke}</MenuItem>
        </Menu>
      ),
    },
  ];
}
