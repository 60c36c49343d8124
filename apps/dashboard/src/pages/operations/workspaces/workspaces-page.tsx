import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Ellipsis, Plus } from 'lucide-react';
import { type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Id } from '../../../parts/copy.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { CreateWorkspace } from './create-workspace.tsx';
import { words } from './strings.ts';

type Workspace = Outputs['workspaces']['list']['data'][number];
type Plan = Outputs['plans']['list']['data'][number];

const count = (value: number | null) => (value === null ? words.unlimited : value.toLocaleString('en'));

export function WorkspacesPage() {
  const { open } = useSearch({ from: '/shell/instance/workspaces' });
  const navigate = useNavigate({ from: '/instance/workspaces' });
  const plans = useQuery(trpc.plans.list.queryOptions({}));
  const list = useKeyset(trpc.workspaces.list, { limit: 50 });
  const setPlan = useMutation(
    trpc.workspaces.setPlan.mutationOptions({ onSuccess: ({ name, plan }) => toast(words.planSet(name, plan.name)) }),
  );
  const known = plans.data?.data ?? [];
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={list.rows && words.answer(list.rows.length, list.more)}
        actions={
          <Button kind="primary" needs="operator" onClick={() => void navigate({ search: { open: 'new' } })}>
            <Plus size={15} />
            {words.create}
          </Button>
        }
      />
      {setPlan.error !== null && <ErrorPanel error={setPlan.error} />}
      <KeysetList
        label={words.title}
        list={list}
        columns={columns(known, ({ id }, plan) => setPlan.mutate({ id, plan }))}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        freshWord={words.fresh}
        empty={null}
      />
      {open === 'new' && plans.data && (
        <CreateWorkspace
          plans={known.map(({ name }) => name)}
          onClose={() => void navigate({ search: {}, replace: true })}
        />
      )}
    </Page>
  );
}

function columns(
  plans: readonly Plan[],
  setPlan: (workspace: Workspace, plan: string) => void,
): readonly Column<Workspace>[] {
  return [
    { name: words.columns.name, show: ({ name }) => <strong>{name}</strong> },
    { name: words.columns.plan, width: 'fit', show: ({ plan }) => <span className="chip">{plan.name}</span> },
    {
      name: words.columns.monthly,
      width: 'fit',
      end: true,
      less: true,
      show: ({ plan }) => <span className="num">{count(plan.monthly_emails)}</span>,
    },
    { name: words.columns.id, width: 'fit', less: true, show: ({ id }) => <Id id={id} /> },
    { name: words.columns.since, width: 'fit', less: true, show: (row) => <RelativeTime at={row.created_at} /> },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => (
        <Menu label={words.actions(row.name)} className="button plain icon" button={<Ellipsis size={16} />}>
          {plans.map(({ name }) => (
            <MenuItem key={name} checked={name === row.plan.name} onSelect={() => setPlan(row, name)}>
              {words.setPlan(name)}
            </MenuItem>
          ))}
        </Menu>
      ),
    },
  ];
}
