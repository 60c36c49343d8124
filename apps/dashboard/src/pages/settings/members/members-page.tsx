import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Ellipsis, ShieldCheck, UserPlus } from 'lucide-react';
import { may, useMe } from '../../../api/me.ts';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { InviteMember } from './invite-member.tsx';
import { PendingInvitations } from './pending-invitations.tsx';
import { SignInPolicy } from './sign-in-policy.tsx';
import { words } from './strings.ts';

type Member = Outputs['members']['list']['data'][number];
type Role = Member['role'];

const roles = ['viewer', 'member', 'admin'] as const satisfies readonly Role[];
const roleWord = (role: Role) => words.roles[role][0] ?? role;

export function MembersPage() {
  const { open, member, invitation } = useSearch({ from: '/shell/settings/members' });
  const navigate = useNavigate({ from: '/settings/members' });
  const me = useMe();
  const list = useKeyset(trpc.members.list, { limit: 100 });
  const setRole = useMutation(
    trpc.members.setRole.mutationOptions({
      onSuccess: ({ email, role }) => toast(words.changed(email, roleWord(role).toLowerCase())),
    }),
  );
  const close = () => void navigate({ search: {}, replace: true });
  const removed = open === 'remove' && list.rows?.find(({ id }) => id === member);
  const admins = (list.rows ?? []).filter(({ role }) => role === 'admin').length;
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && (list.rows.length === 0 ? words.none : words.answer(list.rows.length, admins, list.more))}
        actions={
          <Button kind="primary" needs="admin" onClick={() => void navigate({ search: { open: 'new' } })}>
            <UserPlus size={15} />
            {words.invite}
          </Button>
        }
      />
      {setRole.error !== null && <ErrorPanel error={setRole.error} />}
      <KeysetList
        label={words.title}
        list={list}
        columns={columns(
          ({ id }, role) => setRole.mutate({ user_id: id, role }),
          ({ id }) => void navigate({ search: { open: 'remove', member: id } }),
        )}
        idOf={({ id }) => id}
        nameOf={({ email }) => email}
        freshWord={words.fresh}
        empty={
          <Empty title={words.empty.title}>
            <p>{words.empty.about}</p>
          </Empty>
        }
      />
      <PendingInvitations
        target="workspace"
        open={open}
        invitation={invitation}
        onOpen={(act, id) => void navigate({ search: { open: act, invitation: id } })}
        onClose={close}
      />
      {may(me, 'admin') && <SignInPolicy access="workspace" />}
      {open === 'new' && <InviteMember onClose={close} />}
      {removed && (
        <FormDialog
          title={words.removing.title(removed.email)}
          about={words.removing.about}
          keep={words.removing.keep}
          submit={words.removing.submit}
          danger
          run={() => client.members.remove.mutate({ user_id: removed.id })}
          onDone={() => toast(words.removing.done(removed.email))}
          onClose={close}
        />
      )}
    </Page>
  );
}

function columns(
  setRole: (member: Member, role: Role) => void,
  remove: (member: Member) => void,
): readonly Column<Member>[] {
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
      name: words.columns.role,
      width: 'fit',
      show: ({ role }) => <span title={words.roles[role][1]}>{roleWord(role)}</span>,
    },
    {
      name: words.columns.operator,
      width: 'fit',
      less: true,
      show: ({ operator }) =>
        operator && (
          <Badge tone="info" icon={ShieldCheck}>
            {words.operator}
          </Badge>
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
        <Menu label={words.actions(row.email)} className="button plain icon" button={<Ellipsis size={16} />}>
          {roles
            .filter((role) => role !== row.role)
            .map((role) => (
              <MenuItem key={role} onSelect={() => setRole(row, role)}>
                {words.makeRole(roleWord(role).toLowerCase())}
              </MenuItem>
            ))}
          <hr />
          <MenuItem onSelect={() => remove(row)}>{words.remove}</MenuItem>
        </Menu>
      ),
    },
  ];
}
