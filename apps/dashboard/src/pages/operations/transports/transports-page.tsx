import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, Ellipsis, FlaskConical, Pencil, Plus, Timer, Trash2, Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { client, type Outputs, trpc } from '../../../api/trpc.ts';
import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/dialogs/form-dialog.tsx';
import { type Column, focusRowOf, List } from '../../../parts/list.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { Page, PageHeader } from '../../../parts/page.tsx';
import { Empty, QueryView } from '../../../parts/states.tsx';
import { RelativeTime } from '../../../parts/times.tsx';
import { toast } from '../../../parts/toasts.tsx';
import { type Reach, useReach } from '../reach/use-reach.ts';
import { FeedbackDrawer } from './feedback/feedback-drawer.tsx';
import { needs, paths } from './paths.ts';
import { RulesPanel } from './rules-panel.tsx';
import { words } from './strings.ts';
import { TestTransport } from './test-transport.tsx';
import { type Choice, DEFAULT, ownLimit, type Transport } from './transport.ts';
import { TransportForm } from './transport-form.tsx';

type Health = Outputs['transports']['health']['data'][number];
type Usage = Outputs['usage']['get'];
type Row = Transport & { readonly health: Health | undefined };

const badges = { ok: ['good', CircleCheck], limited: ['wait', Timer], failing: ['bad', CircleAlert] } as const;

/** Lists the transports and their health, and edits them and the rules that choose among them. */
export function TransportsPage() {
  const reach = useReach();
  const { open, transport: id } = useSearch({ from: `/shell${paths[reach]}` });
  const navigate = useNavigate({ from: paths[reach] });
  const transports = useQuery(trpc.transports.list.queryOptions({ reach }));
  const health = useQuery(trpc.transports.health.queryOptions({ reach }));
  const usage = useQuery({ ...trpc.usage.get.queryOptions({}), enabled: reach === 'workspace' });
  // Null for the instance, and while loading.
  const limit = reach === 'workspace' && usage.data ? ownLimit(usage.data.plan_use) : null;
  const rows = transports.data?.data;
  const health_of = new Map(health.data?.data.map((one) => [one.transport_id, one]));
  const target = rows?.find((one) => one.id === id);
  const close = () => {
    void navigate({ search: {}, replace: true });
    focusRowOf(id);
  };
  const openDialog =
    (name: 'edit' | 'test' | 'feedback' | 'delete') =>
    ({ id: transport }: Row) =>
      void navigate({ search: { open: name, transport } });
  const create = (
    <Button
      kind="primary"
      needs={needs[reach]}
      blocked={limit !== null && rows && rows.length >= limit ? words.own.full(limit) : null}
      onClick={() => void navigate({ search: { open: 'new' } })}
    >
      <Plus size={15} />
      {words.create}
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title={words.title}
        answer={rows && health.data && answerOf(reach, rows, health_of, limit)}
        actions={(reach === 'instance' || (rows && rows.length > 0)) && create}
      />
      <QueryView query={transports}>
        {({ data }) =>
          data.length === 0 ? (
            <QueryView query={usage}>{(use) => <NoTransports usage={use} create={create} />}</QueryView>
          ) : (
            <>
              <List
                label={words.title}
                columns={columns(reach, {
                  edit: openDialog('edit'),
                  test: openDialog('test'),
                  feedback: openDialog('feedback'),
                  remove: openDialog('delete'),
                })}
                rows={data.map((one) => ({ ...one, health: health_of.get(one.id) }))}
                idOf={(row) => row.id}
                nameOf={({ name }) => name}
                onOpen={(row) => openDialog(row.id === DEFAULT ? 'test' : 'edit')(row)}
              />
              <RulesPanel reach={reach} choices={choicesOf(reach, data)} />
            </>
          )
        }
      </QueryView>
      {open === 'new' && (reach === 'instance' || (limit ?? 0) > 0) && (
        <TransportForm reach={reach} transport={null} onClose={close} />
      )}
      {open === 'edit' && target && target.id !== DEFAULT && (
        <TransportForm reach={reach} transport={target} onClose={close} />
      )}
      {open === 'test' && target && <TestTransport transport={target} onClose={close} />}
      {open === 'feedback' && target?.kind === 'smtp' && target.id !== DEFAULT && (
        <FeedbackDrawer reach={reach} transport={target} onClose={close} />
      )}
      {open === 'delete' && target && (
        <FormDialog
          title={words.removing.title(target.name)}
          about={words.removing.about}
          keep={words.removing.keep}
          submit={words.removing.submit}
          danger
          run={() => client.transports.delete.mutate({ transport_id: target.id })}
          onDone={() => toast(words.removing.done(target.name))}
          onClose={close}
        />
      )}
    </Page>
  );
}

/** Explains what a workspace's own transports are for, or why it can't have any. */
function NoTransports({ usage, create }: { readonly usage: Usage; readonly create: ReactNode }) {
  const { empty, excluded } = words.own;
  return ownLimit(usage.plan_use) === 0 ? (
    <Empty title={excluded.title}>
      <p>{excluded.about}</p>
    </Empty>
  ) : (
    <Empty title={empty.title}>
      <p>{empty.about}</p>
      {create}
    </Empty>
  );
}

/** Rules of a workspace use the default transport to follow those of the instance. */
function choicesOf(reach: Reach, transports: readonly Transport[]): readonly Choice[] {
  return reach === 'instance' ? transports : [...transports, { id: DEFAULT, name: words.own.instance }];
}

function answerOf(
  reach: Reach,
  transports: readonly Transport[],
  health_of: ReadonlyMap<string, Health>,
  limit: number | null,
): string {
  if (transports.length === 0) return words.own.none;
  const names = transports.filter(({ id }) => (health_of.get(id)?.status ?? 'ok') !== 'ok').map(({ name }) => name);
  const ok = reach === 'instance' ? words.answer.ok : words.own.ok;
  const answer = names.length === 0 ? ok : words.answer.some(names.join(', '));
  return limit === null ? answer : `${answer} ${words.own.use(transports.length, limit)}`;
}

interface Actions {
  readonly edit: (row: Row) => void;
  readonly test: (row: Row) => void;
  readonly feedback: (row: Row) => void;
  readonly remove: (row: Row) => void;
}

function columns(reach: Reach, { edit, test, feedback, remove }: Actions): readonly Column<Row>[] {
  const { name, way, status, waiting, delivered, limits, reply } = words.columns;
  return [
    {
      name,
      show: (row) => (
        <Link
          className="row-link"
          from={paths[reach]}
          search={{ open: row.id === DEFAULT ? 'test' : 'edit', transport: row.id }}
        >
          {row.name}
        </Link>
      ),
    },
    {
      name: way,
      less: true,
      show: ({ kind, host, port }) =>
        kind === 'smtp' ? <span className="mono small">{`${host}:${port}`}</span> : words.ways[kind],
    },
    { name: status, width: 'fit', show: ({ health }) => health && <Status health={health} /> },
    {
      name: waiting,
      width: 'fit',
      end: true,
      less: true,
      show: ({ health }) => <span className="num">{health?.waiting ?? ''}</span>,
    },
    {
      name: delivered,
      width: 'fit',
      end: true,
      less: true,
      show: ({ health }) => <span className="num">{health?.delivered_today.toLocaleString('en') ?? ''}</span>,
    },
    { name: limits, less: true, show: (row) => <span className="small">{limitsOf(row) || words.unlimited}</span> },
    {
      name: reply,
      less: 'unless-wide',
      show: ({ health }) => health?.last_reply && <span className="small">{health.last_reply}</span>,
    },
    {
      name: '',
      width: 'fit',
      end: true,
      show: (row) => (
        <Menu label={words.actions(row.name)} className="button plain icon" button={<Ellipsis size={16} />}>
          <MenuItem needs={needs[reach]} onSelect={() => test(row)}>
            <FlaskConical size={14} />
            {words.test}
          </MenuItem>
          {row.id !== DEFAULT && (
            <MenuItem needs={needs[reach]} onSelect={() => edit(row)}>
              <Pencil size={14} />
              {words.edit}
            </MenuItem>
          )}
          {row.id !== DEFAULT && row.kind === 'smtp' && (
            <MenuItem needs={needs[reach]} onSelect={() => feedback(row)}>
              <Undo2 size={14} />
              {words.feedback}
            </MenuItem>
          )}
          {row.id !== DEFAULT && (
            <MenuItem needs={needs[reach]} onSelect={() => remove(row)}>
              <Trash2 size={14} />
              {words.remove}
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ];
}

function Status({ health }: { readonly health: Health }) {
  const [tone, icon] = badges[health.status];
  return (
    <>
      <Badge tone={tone} icon={icon}>
        {words.statuses[health.status]}
      </Badge>
      {health.closed_until !== null && (
        <span className="small muted">
          {' '}
          {words.untilOpen} <RelativeTime at={health.closed_until} upcoming />
        </span>
      )}
    </>
  );
}

function limitsOf({ messages_per_day, messages_per_minute, max_connections, health }: Row): string {
  return [
    messages_per_day !== null && words.today(health?.used_today ?? 0, messages_per_day),
    messages_per_minute !== null && words.perMinute(messages_per_minute),
    max_connections !== null && words.connections(max_connections),
  ]
    .filter((part) => part !== false)
    .join(', ');
}
