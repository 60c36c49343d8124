import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Ellipsis, Plus } from 'lucide-react';
import type { MouseEvent } from 'react';
import { loadInChunks } from '../../../api/load-in-chunks.ts';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Button } from '../../../parts/button.tsx';
import { Id } from '../../../parts/copy.tsx';
import { useKeyset } from '../../../parts/keyset.ts';
import { type Column, KeysetList } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { ErrorPanel } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { switchWorkspace } from '../../../shell/switch-workspace.ts';
import { CreateWorkspace } from './create-workspace.tsx';
import { words } from './strings.ts';

type Workspace = Outputs['workspaces']['list']['data'][number];
type Plan = Outputs['plans']['list']['data'][number];

const PAGE = 50;

const count = (value: number) => value.toLocaleString('en');

export function WorkspacesPage() {
  const { open } = useSearch({ from: '/shell/instance/workspaces' });
  const navigate = useNavigate({ from: '/instance/workspaces' });
  const plans = useQuery(trpc.plans.list.queryOptions({}));
  const list = useKeyset(trpc.workspaces.list, { limit: PAGE });
  const setPlan = useMutation(
    trpc.workspaces.setPlan.mutationOptions({ onSuccess: ({ name, plan }) => toast(words.planSet(name, plan.name)) }),
  );
  const known = plans.data?.data ?? [];
  const sizes = useSizes(list.rows?.map(({ id }) => id) ?? []);
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
        columns={columns(known, sizes, ({ id }, plan) => setPlan.mutate({ id, plan }))}
        onOpen={({ id }) => switchWorkspace(id)}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        freshWord={words.fresh}
        empty={null}
      />
      {open === 'new' && plans.data && (
        <CreateWorkspace plans={known} onClose={() => void navigate({ search: {}, replace: true })} />
      )}
    </Page>
  );
}

interface Size {
  readonly members: number | undefined;
  readonly used: number | undefined;
}

/** Loads the members and this month's emails of the listed workspaces, a page at a time. */
function useSizes(ids: readonly string[]): ReadonlyMap<string, Size> {
  const { data } = useQuery({
    queryKey: [...trpc.members.counts.queryKey(), ids],
    queryFn: () =>
      Promise.all([
        loadInChunks(ids, (chunk) => client.members.counts.query({ ids: chunk })),
        loadInChunks(ids, (chunk) => client.usage.months.query({ ids: chunk })),
      ]),
    enabled: ids.length > 0,
    placeholderData: (before) => before,
  });
  const [members, usages] = data ?? [[], []];
  return new Map(ids.map((id, index) => [id, { members: members[index], used: usages[index]?.used }]));
}

function columns(
  plans: readonly Plan[],
  sizes: ReadonlyMap<string, Size>,
  setPlan: (workspace: Workspace, plan: string) => void,
): readonly Column<Workspace>[] {
  return [
    {
      name: words.columns.name,
      width: '26%',
      show: ({ id, name, plan }) => (
        <>
          <a className="row-link" href={`/w/${id}`} onClick={(event) => openHere(event, id)}>
            {name}
          </a>
          <span className="below faint">{words.short(plan.name, sizes.get(id)?.used)}</span>
        </>
      ),
    },
    {
      name: words.columns.plan,
      width: '12%',
      less: 'not-phone',
      show: ({ plan }) => <span className="chip">{plan.name}</span>,
    },
    // Shares of the width, so that nothing moves when the numbers arrive.
    {
      name: words.columns.used,
      width: '24%',
      less: true,
      show: ({ id, plan }) => <Used used={sizes.get(id)?.used} limit={plan.monthly_emails} />,
    },
    {
      name: words.columns.members,
      width: '10%',
      end: true,
      less: true,
      show: ({ id }) => {
        const size = sizes.get(id)?.members;
        return <span className={size ? 'num' : 'num faint'}>{size === undefined ? '…' : count(size)}</span>;
      },
    },
    { name: words.columns.id, width: '14%', less: 'unless-wide', show: ({ id }) => <Id id={id} /> },
    { name: words.columns.since, width: '12%', less: true, show: (row) => <RelativeTime at={row.created_at} /> },
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

/** Makes the workspace the session's default, unless the link opens in another tab. */
function openHere(event: MouseEvent, id: string): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  switchWorkspace(id);
}

/** Shows the emails of this month, against the plan's limit if it has one. */
function Used({ used, limit }: { readonly used: number | undefined; readonly limit: number | null }) {
  if (used === undefined) return <span className="faint">…</span>;
  const text = limit === null ? words.usedOf(count(used), null) : words.usedOf(count(used), count(limit));
  return (
    <span className="usage" title={text}>
      {limit !== null && (
        <meter aria-label={text} min={0} max={1} value={limit === 0 ? 1 : Math.min(1, used / limit)} high={0.8} />
      )}
      <span className={used === 0 ? 'num faint cut' : 'num cut'}>{text}</span>
    </span>
  );
}
